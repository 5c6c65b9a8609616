//! Fault injection: a test makes one of the next steps fail and checks what is left. A step is a statement, the start of a
//! transaction or its commit. A server runs without faults, so the check there is only a look at a `None`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use base::{Error, Kind, Result};

/// The step that fails, if any.
#[derive(Clone, Debug, Default)]
pub struct Faults(Option<Arc<AtomicI64>>);

impl Faults {
    /// Nothing ever fails.
    pub const NONE: Self = Self(None);

    /// Faults that a test can trigger.
    pub fn on_demand() -> Self {
        Self(Some(Arc::default()))
    }

    /// The `nth` step from now fails, and no later one.
    pub fn fail(&self, nth: u32) {
        if let Some(left) = &self.0 {
            left.store(i64::from(nth), Ordering::SeqCst);
        }
    }

    /// Lets everything succeed again. Returns whether the fault has happened.
    pub fn calm(&self) -> bool {
        self.0.as_ref().is_some_and(|left| left.swap(0, Ordering::SeqCst) <= 0)
    }

    /// One step, which fails if it is the chosen one.
    pub(crate) fn step(&self) -> Result<()> {
        match &self.0 {
            Some(left) if left.fetch_sub(1, Ordering::SeqCst) == 1 => {
                let words = "the server cannot use its disk right now; nothing was changed";
                Err(Error::new(Kind::Unavailable, words).logged("injected fault"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_chosen_step_fails() {
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
