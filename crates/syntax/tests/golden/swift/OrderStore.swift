// Orders of a shop.
import Foundation
import struct Storage.Cache
@testable import ShopCore
@_exported import Audit
import UIKit.UIView

/// The number of digits of a price.
public let digits = 2
private var secret = "none"

public typealias Orders = [Order]

/// Anything that keeps orders.
public protocol OrderStore: AnyObject, Sendable {
    associatedtype Item: Identifiable
    var count: Int { get }

    /// Finds one order.
    func find(_ id: UUID) -> Order?
    init(name: String)
}

/// The state of an order.
enum OrderState: String, Codable {
    case open
    case paid = "done", lost
    indirect case nested(OrderState)

    var label: String { rawValue.capitalized }
}

struct Order: Identifiable, Equatable {
    let id: UUID
    var total: Int = 0

    static let limit = 100

    static func == (left: Order, right: Order) -> Bool {
        left.id == right.id
    }
}

/**
 Keeps orders in memory.
 */
@MainActor
public final class MemoryStore<Item>: Storage.Base<Item>, OrderStore, Audit.Trail where Item: Order {
    private var orders: [UUID: Order] = [:]
    lazy var cache = Cache()

    public var count: Int {
        orders.count
    }

    public init(name: String) {
        super.init(name: name)
        self.audit(name)
    }

    deinit {
        close()
    }

    // Finds one order.
    public func find(_ id: UUID) -> Order? {
        guard let found = orders[id] else {
            return try? Cache.shared.load(id)
        }
        orders.values.map { line($0) }.forEach(print)
        return found ?? Order(id: id)
    }

    subscript(id: UUID) -> Order? {
        return find(id)
    }

    class Entry: NSObject {
        func touch() {}
    }
}

actor Counter: Countable {
    private(set) var value = 0

    func add(_ amount: Int) async {
        value += amount
    }
}

extension Order: CustomStringConvertible {
    var description: String { format(id) }

    mutating func pay() {
        total = max(total, 0)
    }
}

private class Hidden {}

fileprivate func concealed() {}

/// Prints a report.
func report<S: OrderStore>(_ store: S) async throws {
    func line(_ order: Order) { print(order.id) }

    let counter = Counter()
    await counter.add(1)
    store.delegate?.changed(store)
    Array<Int>(repeating: 0, count: 3)
}
