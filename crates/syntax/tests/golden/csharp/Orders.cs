// Orders of a shop: the sample covers what a C# file can define, use and import.
global using System.Linq;
using System;
using System.Collections.Generic;
using static System.Math;
using Json = System.Text.Json.JsonSerializer;
using Shop.Storage;

namespace Shop.Orders;

/// <summary>Computes a price.</summary>
public delegate decimal Pricing(Order order, int count);

/// <summary>Anything that keeps orders.</summary>
public interface IOrderStore : IDisposable, IEnumerable<Order>
{
    /// <summary>The number of orders.</summary>
    int Count { get; }

    Order? Find(Guid id);
}

/// <summary>The state of an order.</summary>
[Flags]
public enum OrderState : byte
{
    Open,
    Paid = 2,
}

public readonly struct Money : IEquatable<Money>
{
    public const int Digits = 2;
    private readonly decimal amount;

    public Money(decimal amount)
    {
        this.amount = Round(amount, Digits);
    }

    public bool Equals(Money other) => amount == other.amount;

    public static Money operator +(Money left, Money right) => new Money(left.amount + right.amount);
}

public record Order(Guid Id, Money Total) : Entity(Id), ICloneable
{
    public OrderState State { get; init; } = OrderState.Open;

    public object Clone() => this with { State = OrderState.Open };
}

public record struct Line(string Item, int Count);

internal abstract class Entity
{
    protected Entity(Guid id) { }
}

/// <summary>
/// Keeps orders in memory.
/// </summary>
/// <remarks>It is not safe for threads.</remarks>
public sealed partial class MemoryStore<T> : Shop.Storage.Base<T>, IOrderStore, Audit.ITrail
    where T : Order, new()
{
    private readonly Dictionary<Guid, Order> orders = new();

    public event EventHandler<Order>? Added;

    /* The number of orders. */
    public int Count => orders.Count;

    public Order this[Guid id] => orders[id];

    public MemoryStore(string name) : base(name)
    {
    }

    ~MemoryStore() => Dispose();

    // Finds one order.
    public Order? Find(Guid id)
    {
        if (orders.TryGetValue(id, out var found))
        {
            return found;
        }
        Added?.Invoke(this, null!);
        return Load<Order>(id) ?? Json.Deserialize<Order>("{}");
    }

    private async Task<Order> AddAsync(Order order)
    {
        void Check(Order candidate) => Console.WriteLine(candidate.Id);

        Check(order);
        await base.SaveAsync(order);
        return new Storage.Cache<Order>().Put(order);
    }

    private class Entry : Entity
    {
        public Entry() : base(Guid.NewGuid()) { }
    }
}

file class Hidden
{
}

public static class OrderExtensions
{
    public static bool IsLarge(this Order order) => order.Total.Equals(default) is false;
}
