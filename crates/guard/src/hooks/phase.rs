//! The closed set of names that webhooks can subscribe to: call phases, event types, and families of event types. The table of phases in
//! `docs/hooks.md` is generated from it.

use base::EventChoice;

/// A phase in the life of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookPhase {
    /// The gate has decided.
    PreVerb,
    /// The admitted call has run.
    PostVerb,
    /// The call was refused, failed or was cancelled.
    VerbError,
}

impl HookPhase {
    /// Every phase, in order.
    pub const ALL: [HookPhase; 3] = [HookPhase::PreVerb, HookPhase::PostVerb, HookPhase::VerbError];

    /// The word in subscriptions and messages.
    pub const fn word(self) -> &'static str {
        match self {
            HookPhase::PreVerb => "pre-verb",
            HookPhase::PostVerb => "post-verb",
            HookPhase::VerbError => "verb-error",
        }
    }

    /// When the phase is sent, for the documentation.
    pub const fn when(self) -> &'static str {
        match self {
            HookPhase::PreVerb => "the gate has decided",
            HookPhase::PostVerb => "an admitted call has run",
            HookPhase::VerbError => "the call was refused, failed, or its caller disconnected",
        }
    }

    /// What its message adds, for the documentation.
    pub const fn adds(self) -> &'static str {
        match self {
            HookPhase::PreVerb => "`denied: true` if the call was denied",
            HookPhase::PostVerb => "`outcome` (`completed` or `failed`), `durationMs`",
            HookPhase::VerbError => "`error`: `code` and `message`",
        }
    }
}

/// The possible subscriptions, for error messages.
pub const SUBSCRIBABLE: &str =
    "name a phase (`verb-error`), an event type (`key.minted`) or a family of event types (`policy.*`)";

/// All possible subscriptions.
pub fn subscribable() -> Vec<String> {
    let phases = HookPhase::ALL.iter().map(|phase| phase.word().to_owned());
    phases.chain(EventChoice::words()).collect()
}

/// Whether `wanted` is a possible subscription.
pub fn is_subscribable(wanted: &str) -> bool {
    HookPhase::ALL.iter().any(|phase| phase.word() == wanted) || EventChoice::parse(wanted).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_events_are_subscribable() {
        assert!(subscribable().iter().all(|word| is_subscribable(word)));
        for known in ["pre-verb", "key.minted", "policy.*", "call.*"] {
            assert!(subscribable().iter().any(|word| word == known), "{known}");
        }
        for unknown in ["key.mintd", "keys.*", "*", "policy.", "", "verb", ".*"] {
            assert!(!is_subscribable(unknown), "{unknown}");
        }
    }
}
