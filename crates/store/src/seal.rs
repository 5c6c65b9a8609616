//! Seals: what must be in the same transaction as a change.
//!
//! The gate hands out every [`Change`](crate::Change) with a seal, which checks the credential before the change and writes an
//! entry to the audit trail after it. So a domain cannot change anything without them, although it knows neither.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Result;

use crate::OrgTx;

/// What surrounds a change. Both functions may run again after a lost race.
pub trait Seal: Send + Sync {
    /// Runs at the start of every transaction, and refuses a caller that may no longer make the change.
    fn check(&self, tx: &mut OrgTx<'_, '_>) -> Result<()>;

    /// Runs at the end of the first transaction that changed something, before its commit, and records the change.
    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()>;
}

/// A seal that checks nothing and writes nothing: for internal housekeeping, tests and benchmarks.
pub struct Unrecorded;

impl Seal for Unrecorded {
    fn check(&self, _: &mut OrgTx<'_, '_>) -> Result<()> {
        Ok(())
    }

    fn apply(&self, _: &mut OrgTx<'_, '_>) -> Result<()> {
        Ok(())
    }
}

/// A seal and its state.
pub(crate) struct Sealing {
    seal: Arc<dyn Seal>,
    claimed: AtomicBool,
    kept: AtomicBool,
}

impl Sealing {
    pub(crate) fn new(seal: Arc<dyn Seal>) -> Self {
        Self { seal, claimed: AtomicBool::new(false), kept: AtomicBool::new(false) }
    }

    /// The right to apply the seal, for one write at a time.
    pub(crate) fn claim(self: &Arc<Self>) -> Option<Claim> {
        let first = !self.claimed.swap(true, Ordering::AcqRel);
        first.then(|| Claim(Arc::clone(self)))
    }

    pub(crate) fn seal(&self) -> &dyn Seal {
        &*self.seal
    }

    /// Whether a write with the seal was seen to commit. A caller that stopped waiting has not seen it.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept.load(Ordering::Acquire)
    }

    /// Whether a write has claimed or applied the seal.
    pub(crate) fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Acquire)
    }
}

/// One write's claim to the seal.
pub(crate) struct Claim(Arc<Sealing>);

impl Claim {
    /// A failed write leaves no seal, so the next one applies it.
    pub(crate) fn settle(self, kept: bool) {
        self.0.kept.store(kept, Ordering::Release);
        self.0.claimed.store(kept, Ordering::Release);
    }
}
