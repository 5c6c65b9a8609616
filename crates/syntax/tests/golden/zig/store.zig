//! Orders of a shop.
const std = @import("std");
const builtin = @import("builtin");
const storage = @import("storage/cache.zig");
pub const audit = @import("../audit.zig");
const Cache = @import("storage/cache.zig").Cache;
const Allocator = std.mem.Allocator;
usingnamespace @import("compat.zig");
const c = @cImport({
    @cInclude("stdio.h");
});

/// The number of digits of a price.
pub const digits: u8 = 2;
var counter: usize = 0;
threadlocal var scratch: [16]u8 = undefined;

/// The state of an order.
pub const State = enum(u8) {
    open,
    paid = 2,

    pub fn label(self: State) []const u8 {
        return @tagName(self);
    }
};

pub const Error = error{ Missing, Full };

const Value = union(enum) {
    none,
    number: i64,
};

pub const Handle = opaque {
    extern fn close(handle: *Handle) void;
};

pub const Order = extern struct {
    id: u64,
    total: i64 = 0,

    /// Computes the price.
    pub fn price(self: *const Order) i64 {
        return std.math.max(self.total, 0);
    }
};

/// Keeps orders in memory.
/// It is not safe for threads.
pub fn MemoryStore(comptime T: type) type {
    return struct {
        const Self = @This();
        pub const limit = 100;

        items: std.ArrayList(T),
        cache: ?*Cache,

        pub fn init(allocator: Allocator) Self {
            return .{ .items = std.ArrayList(T).init(allocator), .cache = null };
        }

        // Finds one order.
        pub fn find(self: *Self, id: u64) !?T {
            audit.record("find", id);
            for (self.items.items) |item| {
                if (matches(item, id)) return item;
            }
            return try self.load(id);
        }

        fn load(self: *Self, id: u64) !?T {
            const cache = self.cache orelse return Error.Missing;
            return cache.*.get(id);
        }
    };
}

inline fn matches(item: anytype, id: u64) bool {
    return item.id == id;
}

export fn shop_version() callconv(.C) u32 {
    return 1;
}

extern "c" fn puts(text: [*:0]const u8) c_int;

/// Prints a report.
pub fn report(store: anytype) !void {
    const Local = struct { line: usize };
    const start = Local{ .line = 0 };
    std.debug.print("{d} {d}\n", .{ start.line, digits });
    _ = store;
    comptime {
        check();
    }
}

fn check() void {}

test "a store finds orders" {
    var store = MemoryStore(Order).init(std.testing.allocator);
    try std.testing.expect((try store.find(1)) == null);
}
