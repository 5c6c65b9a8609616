//! The outcome of a run's session: from the flags, or else from the agent's exit code.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::agent::Ended;
use crate::opening::OutcomeWord;

/// The outcome by exit code.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Session")]
pub(super) struct OutcomeArgs {
    /// Outcome if the agent exits with 0 [default: accepted]
    #[arg(long, value_name = "OUTCOME")]
    outcome_on_success: Option<Choice>,

    /// Outcome if the agent exits with another code [default: rework, or none if a signal stopped it]
    #[arg(long, value_name = "OUTCOME")]
    outcome_on_failure: Option<Choice>,
}

/// An outcome, or explicitly none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice(Option<OutcomeWord>);

impl ValueEnum for Choice {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Some(OutcomeWord::Accepted)), Self(Some(OutcomeWord::Rework)), Self(Some(OutcomeWord::Rejected)), Self(None)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self.0 {
            Some(outcome) => outcome.to_possible_value(),
            None => Some(PossibleValue::new("none").help("No outcome; memory weights do not change")),
        }
    }
}

impl OutcomeArgs {
    /// The outcome of an agent that exited.
    pub(super) fn of(&self, ended: &Ended) -> Option<OutcomeWord> {
        let (choice, default) = match ended.code {
            0 => (self.outcome_on_success, OutcomeWord::Accepted),
            _ => (self.outcome_on_failure, OutcomeWord::Rework),
        };
        match choice {
            Some(Choice(outcome)) => outcome,
            // Interrupted work is neither good nor bad.
            None if ended.is_stopped => None,
            None => Some(default),
        }
    }

    /// The outcome of an agent that did not start, or whose exit was not observed.
    pub(super) fn of_none(&self) -> Option<OutcomeWord> {
        self.outcome_on_failure.and_then(|choice| choice.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(success: Option<Choice>, failure: Option<Choice>, code: u8, is_stopped: bool) -> Option<OutcomeWord> {
        OutcomeArgs { outcome_on_success: success, outcome_on_failure: failure }.of(&Ended { code, is_stopped })
    }

    #[test]
    fn outcome_follows_exit_code_unless_stopped_by_a_signal() {
        assert_eq!(outcome(None, None, 0, false), Some(OutcomeWord::Accepted));
        assert_eq!(outcome(None, None, 1, false), Some(OutcomeWord::Rework));
        assert_eq!(outcome(None, None, 0, true), None);
        assert_eq!(outcome(None, None, 143, true), None);
        assert_eq!(OutcomeArgs::default().of_none(), None);
    }

    #[test]
    fn flags_override_the_exit_code() {
        let choice = |outcome| Some(Choice(outcome));
        let (success, failure) = (choice(None), choice(Some(OutcomeWord::Rejected)));
        for is_stopped in [false, true] {
            assert_eq!(outcome(success, failure, 0, is_stopped), None);
            assert_eq!(outcome(success, failure, 1, is_stopped), Some(OutcomeWord::Rejected));
            assert_eq!(outcome(choice(Some(OutcomeWord::Rework)), choice(None), 0, is_stopped), Some(OutcomeWord::Rework));
            assert_eq!(outcome(None, choice(None), 1, is_stopped), None);
        }
    }
}
