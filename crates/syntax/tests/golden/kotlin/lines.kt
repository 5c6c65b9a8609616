// Classes on one line: the grammar needs help with them, and nothing after them may be lost.
package shop.lines

interface Shape { fun area(): Double }

sealed interface Event { object Opened : Event }

class Circle(val radius: Double = 1.0, scale: (Double) -> Double = { it * 2 }) : Shape { override fun area() = scale(radius) }

class Text(val value: String) { val size get() = "${value.trim { it == ' ' }}".length }

annotation class Tags(val names: Array<String> = [])

fun List<Shape>.total(): Double = sumOf { it.area() }

fun shape(): Shape = object : Shape { override fun area(): Double { return 0.0 } }
