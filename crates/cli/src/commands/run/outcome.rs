//! With which outcome a run's session ends: what the agent's end tells about its work, unless somebody says otherwise.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::agent::Ended;
use crate::opening::Outcome;

/// What the outcome is, by how the agent ends.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Session")]
pub(super) struct OutcomeArgs {
    /// Outcome of the session when the agent exits with 0 [default: accepted]
    #[arg(long, value_name = "OUTCOME")]
    outcome_on_success: Option<Said>,

    /// Outcome of the session when it exits with anything else [default: rework, or none when a signal stopped it]
    #[arg(long, value_name = "OUTCOME")]
    outcome_on_failure: Option<Said>,
}

/// An outcome, or that there shall be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said(Option<Outcome>);

impl ValueEnum for Said {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Some(Outcome::Accepted)), Self(Some(Outcome::Rework)), Self(Some(Outcome::Rejected)), Self(None)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self.0 {
            Some(outcome) => outcome.to_possible_value(),
            None => Some(PossibleValue::new("none").help("Nobody can tell: memory learns nothing")),
        }
    }
}

impl OutcomeArgs {
    /// The outcome of an agent that came to its end.
    pub(super) fn of(&self, ended: &Ended) -> Option<Outcome> {
        let (said, told) = match ended.code {
            0 => (self.outcome_on_success, Outcome::Accepted),
            _ => (self.outcome_on_failure, Outcome::Rework),
        };
        match said {
            Some(Said(outcome)) => outcome,
            // Work that was broken off is neither good nor bad.
            None if ended.is_stopped => None,
            None => Some(told),
        }
    }

    /// The outcome of an agent that never began, or whose end nobody saw.
    pub(super) fn of_none(&self) -> Option<Outcome> {
        self.outcome_on_failure.and_then(|said| said.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(success: Option<Said>, failure: Option<Said>, code: u8, is_stopped: bool) -> Option<Outcome> {
        OutcomeArgs { outcome_on_success: success, outcome_on_failure: failure }.of(&Ended { code, is_stopped })
    }

    #[test]
    fn an_end_tells_unless_it_was_forced() {
        assert_eq!(outcome(None, None, 0, false), Some(Outcome::Accepted));
        assert_eq!(outcome(None, None, 1, false), Some(Outcome::Rework));
        assert_eq!(outcome(None, None, 0, true), None);
        assert_eq!(outcome(None, None, 143, true), None);
        assert_eq!(OutcomeArgs::default().of_none(), None);
    }

    #[test]
    fn what_was_said_holds_however_it_ended() {
        let said = |outcome| Some(Said(outcome));
        let (success, failure) = (said(None), said(Some(Outcome::Rejected)));
        for is_stopped in [false, true] {
            assert_eq!(outcome(success, failure, 0, is_stopped), None);
            assert_eq!(outcome(success, failure, 1, is_stopped), Some(Outcome::Rejected));
            assert_eq!(outcome(said(Some(Outcome::Rework)), said(None), 0, is_stopped), Some(Outcome::Rework));
            assert_eq!(outcome(None, said(None), 1, is_stopped), None);
        }
    }
}
