//! Faults on demand: a test says which of the next steps fails, and sees what is left when it did. A step is a statement, the
//! beginning of a transaction or its commit. A server is started without; then this is one look at a `None`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use base::{Error, Kind, Result};

/// Which step fails, if any.
#[derive(Clone, Debug, Default)]
pub struct Faults(Option<Arc<AtomicI64>>);

impl Faults {
    /// Nothing ever fails.
    pub const NONE: Self = Self(None);

    /// Faults that can be asked for.
    pub fn on_demand() -> Self {
        Self(Some(Arc::default()))
    }

    /// The `nth` step from now on fails, and none after it.
    pub fn fail(&self, nth: u32) {
        if let Some(left) = &self.0 {
            left.store(i64::from(nth), Ordering::SeqCst);
        }
    }

    /// Lets everything succeed again. Says whether the fault has happened.
    pub fn calm(&self) -> bool {
        self.0.as_ref().is_some_and(|left| left.swap(0, Ordering::SeqCst) <= 0)
    }

    /// One step, which fails when it is its turn.
    pub(crate) fn step(&self) -> Result<()> {
        match &self.0 {
            Some(left) if left.fetch_sub(1, Ordering::SeqCst) == 1 => {
                let words = "the server cannot use its disk right now: nothing was changed";
                Err(Error::new(Kind::Unavailable, words).logged("a fault that was asked for"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_that_was_asked_for_fails_and_no_other() {
        let faults = Faults::on_demand();
        assert!(faults.step().is_ok());
        faults.fail(2);
        assert_eq!([(); 4].map(|()| faults.step().is_ok()), [true, false, true, true]);
        assert!(faults.calm() && faults.step().is_ok());
        faults.fail(3);
        assert!(faults.step().is_ok() && !faults.calm());
        Faults::NONE.fail(1);
        assert!(Faults::NONE.step().is_ok() && !Faults::NONE.calm());
    }
}
