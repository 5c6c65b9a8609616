//! What a decision says.

use std::sync::Arc;

/// The answer to whether a principal may do something now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may. Everything but a permit that nothing speaks against is a no.
    pub allowed: bool,
    /// Why.
    pub reason: Reason,
    /// The statements that made it so: the satisfied permits, or the satisfied forbids; in the order of the documents.
    pub policies: Vec<Arc<str>>,
    /// What could not be evaluated. Any of it denies. The messages quote no arguments.
    pub errors: Vec<Failure>,
    /// What the documents in `log_only` mode would have changed: only where they would have, or where they failed.
    pub log_only: Option<WouldBe>,
}

/// Why a decision is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A statement permits it and none forbids it.
    Permitted,
    /// A statement forbids it.
    Forbidden,
    /// No statement permits it.
    NoPermit,
    /// A statement could not be evaluated, or the arguments cannot be held by Cedar.
    Error,
    /// A document cannot be used at all.
    Broken,
    /// The model has no such action.
    UnknownAction,
}

impl Reason {
    /// The word in audit events, metrics and answers.
    pub const fn word(self) -> &'static str {
        match self {
            Reason::Permitted => "permitted",
            Reason::Forbidden => "forbidden",
            Reason::NoPermit => "no_permit",
            Reason::Error => "error",
            Reason::Broken => "broken",
            Reason::UnknownAction => "unknown_action",
        }
    }
}

/// Something that could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The statement or document, unless it is the request itself.
    pub policy: Option<Arc<str>>,
    /// What went wrong.
    pub message: String,
}

/// What a decision would have been with the `log_only` documents enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WouldBe {
    /// Whether it would have been allowed.
    pub allowed: bool,
    /// Why.
    pub reason: Reason,
    /// The statements that would have made it so, of all documents.
    pub policies: Vec<Arc<str>>,
    /// What could not be evaluated in the `log_only` documents.
    pub errors: Vec<Failure>,
}

/// What came of the statements that apply.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) permits: Vec<Arc<str>>,
    pub(crate) forbids: Vec<Arc<str>>,
    pub(crate) errors: Vec<Failure>,
    /// A document cannot be used.
    pub(crate) broken: bool,
}

impl Outcome {
    /// The request itself cannot be evaluated.
    pub(crate) fn failed(message: String) -> Self {
        Self { errors: vec![Failure { policy: None, message }], ..Self::default() }
    }

    /// The decision of this outcome. This is the whole of what combines statements: a permit, no forbid and no failure.
    pub(crate) fn verdict(&self) -> (Reason, &[Arc<str>]) {
        if self.broken {
            (Reason::Broken, &[])
        } else if !self.forbids.is_empty() {
            (Reason::Forbidden, &self.forbids)
        } else if !self.errors.is_empty() {
            (Reason::Error, &[])
        } else if !self.permits.is_empty() {
            (Reason::Permitted, &self.permits)
        } else {
            (Reason::NoPermit, &[])
        }
    }

    /// Both outcomes together, as if their statements had stood in one set.
    pub(crate) fn and(&self, other: &Outcome) -> Outcome {
        let mut both = self.clone();
        both.permits.extend(other.permits.iter().cloned());
        both.forbids.extend(other.forbids.iter().cloned());
        both.errors.extend(other.errors.iter().cloned());
        both.broken |= other.broken;
        both
    }
}

impl Decision {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        let (reason, policies) = outcome.verdict();
        Self {
            allowed: reason == Reason::Permitted,
            reason,
            policies: policies.to_vec(),
            errors: outcome.errors.clone(),
            log_only: None,
        }
    }

    /// A decision about something that does not exist.
    pub(crate) fn unknown_action() -> Self {
        Self { allowed: false, reason: Reason::UnknownAction, policies: Vec::new(), errors: Vec::new(), log_only: None }
    }
}

impl WouldBe {
    /// What `tried` would change in a decision of `enforced`, if it would change anything or failed.
    pub(crate) fn of(enforced: &Outcome, tried: &Outcome) -> Option<Self> {
        let both = enforced.and(tried);
        let (reason, policies) = both.verdict();
        let allowed = reason == Reason::Permitted;
        let differs = allowed != (enforced.verdict().0 == Reason::Permitted);
        let erred = !tried.errors.is_empty() || tried.broken;
        (differs || erred).then(|| Self { allowed, reason, policies: policies.to_vec(), errors: tried.errors.clone() })
    }
}
