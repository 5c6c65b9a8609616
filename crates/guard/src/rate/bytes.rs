//! Limits the memory of request bodies and answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A budget of bytes.
pub(super) struct Budget {
    most: u64,
    taken: AtomicU64,
}

impl Budget {
    pub(super) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicU64::new(0) })
    }

    /// Takes `bytes` if enough are left.
    fn take(&self, bytes: u64) -> bool {
        let more = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.most);
        self.taken.try_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Takes `bytes` even if not enough are left.
    fn force(&self, bytes: u64) {
        self.taken.fetch_add(bytes, Ordering::AcqRel);
    }

    fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::AcqRel);
    }
}

/// Which budget is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// The caller's or its org's.
    Theirs,
    /// The whole process's.
    Ours,
}

/// The bytes that one request holds in the budgets of its caller, its org and the process. Dropping it releases them.
pub(super) struct Held {
    /// The budgets of the caller, the org and the process, in this order.
    budgets: [Arc<Budget>; 3],
    bytes: AtomicU64,
}

impl Held {
    pub(super) fn new(budgets: [Arc<Budget>; 3]) -> Self {
        Self { budgets, bytes: AtomicU64::new(0) }
    }

    /// Holds `bytes` more in all budgets, or in none.
    pub(super) fn more(&self, bytes: u64) -> Result<(), Spent> {
        for (index, budget) in self.budgets.iter().enumerate() {
            if !budget.take(bytes) {
                self.budgets.iter().take(index).for_each(|taken| taken.give_back(bytes));
                return Err(if index + 1 == self.budgets.len() { Spent::Ours } else { Spent::Theirs });
            }
        }
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        Ok(())
    }

    /// Changes the held amount to exactly `bytes`.
    pub(super) fn exactly(&self, bytes: u64) {
        let before = self.bytes.swap(bytes, Ordering::AcqRel);
        for budget in &self.budgets {
            budget.force(bytes);
            budget.give_back(before);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        self.budgets.iter().for_each(|budget| budget.give_back(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets(most: [u64; 3]) -> [Arc<Budget>; 3] {
        most.map(Budget::new)
    }

    fn taken(budgets: &[Arc<Budget>; 3]) -> Vec<u64> {
        budgets.iter().map(|budget| budget.taken.load(Ordering::Acquire)).collect()
    }

    #[test]
    fn first_exhausted_budget_refuses_and_nothing_is_taken() {
        for (most, spent) in [([9, 99, 99], Spent::Theirs), ([99, 9, 99], Spent::Theirs), ([99, 99, 9], Spent::Ours)] {
            let budgets = budgets(most);
            let held = Held::new(budgets.clone());
            assert_eq!(held.more(9), Ok(()));
            assert_eq!(held.more(1), Err(spent));
            assert_eq!(taken(&budgets), [9, 9, 9], "{most:?}");
            drop(held);
            assert_eq!(taken(&budgets), [0, 0, 0]);
        }
    }

    #[test]
    fn answer_replaces_its_request() {
        let budgets = budgets([10, 10, 10]);
        let held = Held::new(budgets.clone());
        assert_eq!(held.more(8), Ok(()));
        held.exactly(12);
        assert_eq!(taken(&budgets), [12, 12, 12], "an existing answer is counted even over the budget");
        assert_eq!(Held::new(budgets.clone()).more(1), Err(Spent::Theirs));
        held.exactly(0);
        assert_eq!(taken(&budgets), [0, 0, 0]);
    }
}
