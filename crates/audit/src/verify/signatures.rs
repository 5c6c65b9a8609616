//! Checks many signatures at a time on all cores, because signatures take nearly all of a verification's time.

use super::chain::Link;

/// The maximum number of pending signatures: a few hundred kilobytes, and enough work for several threads.
pub(super) const PENDING_MAX: usize = 4_096;
/// Starting a thread costs as much as a few checks.
const PER_THREAD_MIN: usize = 32;

/// A signature that is not checked yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) link: Link,
    /// The entry to report if the signature is wrong.
    pub(super) line: Option<u64>,
    pub(super) id: String,
}

impl Pending {
    fn is_good(&self) -> bool {
        self.link.key.key.verifies(self.link.hash.as_bytes(), &self.link.signature)
    }
}

/// The position of the first wrong one.
pub(super) fn first_wrong(pending: &[Pending], threads: usize) -> Option<usize> {
    let per_thread = pending.len().div_ceil(threads.max(1)).max(PER_THREAD_MIN);
    let wrong_in = |part: &[Pending]| part.iter().position(|one| !one.is_good());
    if pending.len() <= per_thread {
        return wrong_in(pending);
    }
    std::thread::scope(|scope| {
        let parts = pending.chunks(per_thread).map(|part| scope.spawn(move || wrong_in(part))).collect::<Vec<_>>();
        // A check that panicked counts as failed.
        let found = parts.into_iter().map(|part| part.join().unwrap_or(Some(0)));
        found.enumerate().find_map(|(index, wrong)| Some(index * per_thread + wrong?))
    })
}
