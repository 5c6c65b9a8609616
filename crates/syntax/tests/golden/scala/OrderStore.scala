package shop
package orders

import java.util.UUID
import scala.collection.mutable.{Map => Store, ListBuffer, Set as Bag}
import scala.concurrent._
import shop.audit.*
import shop.storage.{Cache, given, *}
import shop.math.Money as Price, shop.text.Format
import Registry.given

/** Anything that keeps orders. */
trait OrderStore extends AutoCloseable with Iterable[Order]:
  def count: Int

  /** Finds one order. */
  def find(id: UUID): Option[Order]

type Orders = List[Order]

opaque type Digits = Int

/** The number of digits of a price. */
val digits = 2
private val secret = "none"
lazy val large: Int = compute(3)
var counter = 0

enum OrderState(val label: String) extends HasLabel:
  case Open extends OrderState("open")
  case Paid, Lost

  def next: OrderState = OrderState.fromOrdinal(ordinal + 1)

case class Order(id: UUID, total: Int) extends Entity(id), Ordered[Order] {
  override def compare(other: Order): Int = total.compare(other.total)
}

abstract class Entity(val id: UUID)

/**
 * Keeps orders in memory.
 *
 * It is not safe for threads.
 */
@Service
class MemoryStore[T <: Order](name: String)(using log: Log) extends shop.storage.Base[T](name) with OrderStore with shop.audit.Trail {
  private val orders = Store.empty[UUID, Order]
  type Key = UUID

  def this() = this("main")

  // Finds one order.
  override def find(id: UUID): Option[Order] = {
    log.info(s"find $id")
    orders.get(id).orElse(load(id)).map(order => format(order))
  }

  def +=(order: Order): Unit = orders.put(order.id, order)

  private def load(id: UUID) = new Cache[Order](id).read[Order](id)

  def close(): Unit = super.close()

  private class Entry extends Entity(null)
}

object MemoryStore {
  val Limit = 100

  def open(path: String): MemoryStore[Order] = {
    import scala.io.Source
    new MemoryStore(path)
  }

  implicit class Rich(order: Order) {
    def isLarge: Boolean = order.total > Limit
  }
}

case object Missing extends Entity(null)

private class Hidden

/** Compares orders. */
given ordering: Ordering[Order] with
  def compare(left: Order, right: Order): Int = left.total - right.total

given Show[Order] = Show.derived

extension (store: OrderStore)
  def report(limit: Int): Unit =
    def line(order: Order) = println(order.id)
    store.foreach(line)
    store append Missing

@main def run(): Unit = report(MemoryStore.open("orders.json"))
