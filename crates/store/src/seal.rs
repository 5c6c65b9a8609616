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
    done: AtomicBool,
}

impl Sealing {
    pub(crate) fn new(seal: Arc<dyn Seal>) -> Self {
        Self { seal, claimed: AtomicBool::new(false), done: AtomicBool::new(false) }
    }

    /// The right to write the seal, given to one write at a time.
    pub(crate) fn claim(self: &Arc<Self>) -> Option<Claim> {
        let first = !self.claimed.swap(true, Ordering::AcqRel);
        first.then(|| Claim(Arc::clone(self)))
    }

    pub(crate) fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        self.seal.apply(tx)?;
        // Said before the commit: whoever stops waiting meanwhile must not record the effect a second time.
        self.done.store(true, Ordering::Release);
        Ok(())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
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
        if !kept {
            self.0.done.store(false, Ordering::Release);
            self.0.claimed.store(false, Ordering::Release);
        }
    }
}
