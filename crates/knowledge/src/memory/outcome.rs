//! How the outcome of a session moves the weights of the observations that it recalled.

use base::{ProjectId, Result, Timestamp};
use store::{OrgTx, params};

use super::sql;
use crate::changes;

/// The outcome of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkOutcome {
    /// Its work was accepted.
    Accepted,
    /// Its work had to be done again.
    Rework,
    /// Its work was rejected.
    Rejected,
}

impl WorkOutcome {
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rework => "rework",
            Self::Rejected => "rejected",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Accepted, Self::Rework, Self::Rejected].into_iter().find(|outcome| outcome.word() == word)
    }

    /// The weight after the outcome: `w' = w(1-α) + s·α`. A failure counts more than a success.
    pub fn moves(self, weight: f64) -> f64 {
        let (success, alpha) = match self {
            Self::Accepted => (1.0, 0.1),
            Self::Rework | Self::Rejected => (0.0, 0.15),
        };
        weight * (1.0 - alpha) + success * alpha
    }

    /// Moves the weights of what `session` recalled, in the transaction that ends the session.
    pub fn move_recalled(self, tx: &mut OrgTx<'_, '_>, session: &str, now: Timestamp) -> Result<()> {
        let row = |row: &store::Row<'_>| {
            Ok((ProjectId::from_row(row.text("project_id")?), row.get::<i64>("number")?, row.get::<f64>("weight")?))
        };
        let recalled = tx.query(sql::TO_MOVE, &params![session], row)?;
        for (project, number, before) in recalled {
            let (after, change) = (self.moves(before), changes::next(tx, &project)?);
            tx.execute(sql::MOVE, &params![project, number, after, change])?;
            tx.execute(sql::RECORD_MOVE, &params![project, number, session, self.word(), before, after, now])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weights_move_by_the_documented_formula() {
        assert_eq!(WorkOutcome::Accepted.moves(1.0), 1.0);
        assert!((WorkOutcome::Rework.moves(1.0) - 0.85).abs() < 1e-12);
        assert!((WorkOutcome::Rejected.moves(0.85) - 0.7225).abs() < 1e-12);
        assert!((WorkOutcome::Accepted.moves(0.7225) - 0.750_25).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_weight_stays_between_zero_and_one(votes in prop::collection::vec(0_usize..3, 0..200)) {
            let outcomes = [WorkOutcome::Accepted, WorkOutcome::Rework, WorkOutcome::Rejected];
            let weight = votes.iter().fold(1.0, |weight, vote| outcomes[*vote].moves(weight));
            prop_assert!((0.0..=1.0).contains(&weight));
        }
    }
}
