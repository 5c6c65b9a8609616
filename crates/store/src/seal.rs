//! Seals: what must stand in the same transaction as an effect, whoever writes it.
//!
//! The gate hands a tool rows with a seal on them (its audit event), and a domain that knows nothing of seals cannot change
//! anything without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Result;

use crate::OrgTx;

/// Written at the end of a transaction, before it commits. May be applied again after a lost race.
pub trait Seal: Send + Sync {
    /// Writes the seal.
    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()>;
}

/// A seal and how far it is.
pub(crate) struct Sealing {
    seal: Arc<dyn Seal>,
    claimed: AtomicBool,
    kept: AtomicBool,
}

impl Sealing {
    pub(crate) fn new(seal: Arc<dyn Seal>) -> Self {
        Self { seal, claimed: AtomicBool::new(false), kept: AtomicBool::new(false) }
    }

    /// The right to write the seal, given to one write at a time.
    pub(crate) fn claim(self: &Arc<Self>) -> Option<Claim> {
        let first = !self.claimed.swap(true, Ordering::AcqRel);
        first.then(|| Claim(Arc::clone(self)))
    }

    pub(crate) fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        self.seal.apply(tx)
    }

    /// Whether a write that carries the seal was seen to be kept. Whoever stopped waiting for one has not seen it.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept.load(Ordering::Acquire)
    }
}

impl Sealing {
    /// Whether a write has the right to it, or has carried it.
    pub(crate) fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Acquire)
    }
}

/// One write's right to the seal.
pub(crate) struct Claim(Arc<Sealing>);

impl Claim {
    pub(crate) fn sealing(&self) -> Arc<Sealing> {
        Arc::clone(&self.0)
    }

    /// A write that failed has left no seal: the next one carries it.
    pub(crate) fn settle(self, kept: bool) {
        self.0.kept.store(kept, Ordering::Release);
        self.0.claimed.store(kept, Ordering::Release);
    }
}
