//! Work on many items with all processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// More threads would only take memory from each other.
const THREADS_MAX: usize = 8;
/// Fewer items are not worth a thread.
const ITEMS_PER_THREAD_MIN: usize = 16;

/// The number of threads for some items.
pub(crate) fn threads(items: usize) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors.min(THREADS_MAX).min(items.div_ceil(ITEMS_PER_THREAD_MIN)).max(1)
}

/// Gives this thread the lowest priority, so that it runs when no other thread wants to.
pub(crate) fn yield_to_other_threads() {
    // On Linux, niceness belongs to a thread. Elsewhere it belongs to the process, so it stays.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "the priority of a thread cannot be lowered");
    }
}

/// Runs `work` on this thread and on helpers with the lowest priority, until all of them return.
pub(crate) fn run(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| {
                yield_to_other_threads();
                work();
            });
        }
        work();
    });
}

/// Maps items in the order that they have.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(items, || (), |(), item| work(item))
}

/// Maps items in the order that they have. Each thread makes what its work needs once.
pub(crate) fn map_with<T: Sync, S, R: Send>(
    items: &[T],
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let threads = threads(items.len());
    if threads == 1 {
        let mut state = make();
        return items.iter().map(|item| work(&mut state, item)).collect();
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    run(threads, || {
        let mut state = make();
        loop {
            let start = next.fetch_add(ITEMS_PER_THREAD_MIN, Ordering::Relaxed);
            let Some(chunk) = items.get(start..items.len().min(start.saturating_add(ITEMS_PER_THREAD_MIN))) else { return };
            if chunk.is_empty() {
                return;
            }
            let made: Vec<R> = chunk.iter().map(|item| work(&mut state, item)).collect();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((start, made));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(start, _)| *start);
    done.into_iter().flat_map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays() {
        for count in [0, 1, 15, 16, 17, 1_000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(map(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
