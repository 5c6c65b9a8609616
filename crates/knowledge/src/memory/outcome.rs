//! What observations learn from the end of a session that had recalled them.

use std::sync::Arc;

use base::{Clock, ProjectId, Result};
use store::{OrgTx, Seal, params};

use super::sql;
use crate::changes;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its work was taken.
    Accepted,
    /// Its work had to be done again.
    Rework,
    /// Its work was thrown away.
    Rejected,
}

impl Outcome {
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rework => "rework",
            Self::Rejected => "rejected",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Accepted, Self::Rework, Self::Rejected].into_iter().find(|outcome| outcome.word() == word)
    }

    /// The weight after it: `w' = w(1-α) + s·α`. A loss weighs more than a win.
    pub fn moves(self, weight: f64) -> f64 {
        let (success, alpha) = match self {
            Self::Accepted => (1.0, 0.1),
            Self::Rework | Self::Rejected => (0.0, 0.15),
        };
        weight * (1.0 - alpha) + success * alpha
    }

    /// Moves what `session` had recalled, in the transaction that ends the session.
    pub fn of_session(self, session: &str, clock: &Clock) -> Arc<dyn Seal> {
        Arc::new(Ended { outcome: self, session: session.to_owned(), clock: clock.clone() })
    }
}

struct Ended {
    outcome: Outcome,
    session: String,
    clock: Clock,
}

impl Seal for Ended {
    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        let row = |row: &store::Row<'_>| Ok((ProjectId::from_row(row.text(0)?), row.get::<i64>(1)?, row.get::<f64>(2)?));
        let recalled = tx.query(sql::TO_MOVE, &params![self.session], row)?;
        let now = self.clock.now();
        for (project, number, before) in recalled {
            let (after, change) = (self.outcome.moves(before), changes::next(tx, &project)?);
            tx.execute(sql::MOVE, &params![project, number, after, change])?;
            let outcome = self.outcome.word();
            tx.execute(sql::RECORD_MOVE, &params![project, number, self.session, outcome, before, after, now])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weights_move_as_promised() {
        assert_eq!(Outcome::Accepted.moves(1.0), 1.0);
        assert!((Outcome::Rework.moves(1.0) - 0.85).abs() < 1e-12);
        assert!((Outcome::Rejected.moves(0.85) - 0.7225).abs() < 1e-12);
        assert!((Outcome::Accepted.moves(0.7225) - 0.750_25).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_weight_stays_between_zero_and_one(votes in prop::collection::vec(0_usize..3, 0..200)) {
            let outcomes = [Outcome::Accepted, Outcome::Rework, Outcome::Rejected];
            let weight = votes.iter().fold(1.0, |weight, vote| outcomes[*vote].moves(weight));
            prop_assert!((0.0..=1.0).contains(&weight));
        }
    }
}
