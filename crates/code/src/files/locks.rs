//! One writer at a time for each file of this process. Writers in other processes are found by comparing contents.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Two projects can have the same root, or one inside the other, so all files of the process share this.
static LOCKS: LazyLock<Locks> = LazyLock::new(Locks::default);

#[derive(Default)]
struct Locks(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

/// The right to write one file. Dropping it lets the next writer in.
pub(crate) struct Locked {
    key: String,
    guard: Option<OwnedMutexGuard<()>>,
}

/// Waits for the right to write the file that `key` names in this process.
pub(crate) async fn lock(key: String) -> Locked {
    let lock = {
        let mut locks = LOCKS.0.lock().unwrap_or_else(PoisonError::into_inner);
        match locks.get(&key).and_then(Weak::upgrade) {
            Some(lock) => lock,
            None => {
                let lock = Arc::new(AsyncMutex::new(()));
                locks.insert(key.clone(), Arc::downgrade(&lock));
                lock
            }
        }
    };
    Locked { key, guard: Some(lock.lock_owned().await) }
}

impl Drop for Locked {
    fn drop(&mut self) {
        drop(self.guard.take());
        let mut locks = LOCKS.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A waiting writer holds the lock, so its entry stays.
        if locks.get(&self.key).is_some_and(|lock| lock.strong_count() == 0) {
            locks.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_writer_waits_and_nothing_is_left() {
        let first = lock("a".to_owned()).await;
        let other = lock("b".to_owned()).await;
        let mut second = Box::pin(lock("a".to_owned()));
        assert!(futures_poll(&mut second).is_none());
        drop(first);
        let second = second.await;
        drop((second, other));
        let locks = LOCKS.0.lock().unwrap();
        assert!(!locks.contains_key("a") && !locks.contains_key("b"));
    }

    fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        match std::pin::Pin::new(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }
}
