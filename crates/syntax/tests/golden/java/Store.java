/* License. */
package com.example.store;

import java.util.List;
import java.util.function.*;
import static java.util.Objects.requireNonNull;
import static com.example.Checks.*;

/**
 * Stores things.
 */
@Component("store")
public final class Store<T extends Item> extends BaseStore<T> implements Closeable, Repository<T, Long>, api.Visitor {
    /** The limit. */
    public static final int LIMIT = 10;
    private final List<T> items = new ArrayList<>();
    int first, second = compute();

    // Makes one.
    public Store(Factory factory) {
        super(factory);
        this.items.addAll(factory.create(LIMIT));
    }

    @Override
    public <R> R accept(
            Function<T, R> function,
            int depth) throws IOException {
        Runnable task = () -> run(depth);
        Outer.Inner inner = new Outer.Inner();
        items.forEach(Store::check);
        return function.apply(items.get(0));
    }

    private static void check(Object item) {
        requireNonNull(item);
        int local = 1;
        new Thread() {
            @Override
            public void run() {
                work(local);
            }
        }.start();
    }

    /** Inside. */
    enum Color implements Named {
        RED, GREEN;

        String label() {
            return name().toLowerCase();
        }
    }

    record Point(int x, int y) implements Shape {
        Point {
            check(x);
        }
    }
}

interface Repository<T, K> extends Readable<T>, Writable {
    String NAME = "repository";

    T find(K key);

    default void refresh() {
        find(null);
    }
}

@interface Marker {
    String value() default "";
}
