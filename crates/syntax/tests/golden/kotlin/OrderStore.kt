@file:JvmName("Orders")

package shop.orders

import java.util.UUID
import kotlin.math.*
import shop.storage.Cache as Store
import shop.storage.Base
import shop.audit.record

/** The number of digits of a price. */
const val DIGITS = 2

private val secret = "none"

val Order.isLarge: Boolean
    get() = total > 100

typealias Orders = List<Order>

/** Anything that keeps orders. */
interface OrderStore : AutoCloseable, Iterable<Order> {
    val count: Int

    /** Finds one order. */
    fun find(id: UUID): Order?
}

fun interface Pricing {
    fun price(order: Order): Int
}

/** The state of an order. */
enum class OrderState(val label: String) : HasLabel {
    OPEN("open"),
    PAID("paid") {
        override fun next() = OPEN
    };

    open fun next(): OrderState = PAID
}

sealed class Result<out T> {
    data class Found<T>(val value: T) : Result<T>()
    object Missing : Result<Nothing>()
    data object Broken : Result<Nothing>()
}

data class Order(val id: UUID, var total: Int) : Entity(id), Comparable<Order> {
    constructor(total: Int) : this(UUID.randomUUID(), total)

    override fun compareTo(other: Order): Int = total.compareTo(other.total)
}

open class Entity(val id: UUID)

/**
 * Keeps orders in memory.
 *
 * It is not safe for threads.
 */
@Service
class MemoryStore<T : Order>(name: String, private val cache: Store) :
    Base<T>(name), OrderStore, Trail by cache, shop.audit.Listener {

    private val orders = mutableMapOf<UUID, Order>()
    override val count get() = orders.size

    init {
        record("made $name")
    }

    // Finds one order.
    override fun find(id: UUID): Order? {
        val found = orders[id] ?: cache?.load(id)
        found?.let { audit(it) }
        return found ?: throw IllegalStateException("missing ${format(id)}")
    }

    suspend fun <R> each(block: (Order) -> R) {
        orders.values.forEach { order -> block(order) }
        super.close()
        this.audit(null)
    }

    private fun audit(order: Order?) = shop.audit.Log.write(order)

    companion object {
        const val LIMIT = 100

        fun open(path: String) = MemoryStore<Order>(path, Store())
    }

    inner class Entry : Entity(UUID(0, 0))
}

object Registry : Base<Order>("registry")

internal class Hidden

annotation class Service

/** Prints a report. */
fun OrderStore.report(limit: Int = 10) {
    fun line(order: Order) = println(order.id)

    val listener = object : Listener, Base<Order>("x") {
        override fun close() {}
    }
    for (order in this) line(order)
    listOf(1, 2) zip listOf(3, 4)
}
