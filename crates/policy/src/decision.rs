//! The result of a decision.

use std::sync::Arc;

/// Whether a principal may do something now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it is allowed. Only a permit without any forbid or error allows it.
    pub allowed: bool,
    /// The reason.
    pub reason: Reason,
    /// The statements that decided: the satisfied permits, or the satisfied forbids, in document order.
    pub policies: Vec<Arc<str>>,
    /// Evaluation errors. Any of them denies. The messages quote no arguments.
    pub errors: Vec<Failure>,
    /// What the `log_only` documents would have changed. Set only if they would have, or if they failed.
    pub log_only: Option<WouldBe>,
}

/// The reason of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A statement permits it and none forbids it.
    Permitted,
    /// A statement forbids it.
    Forbidden,
    /// No statement permits it.
    NoPermit,
    /// A statement could not be evaluated, or Cedar cannot represent the arguments.
    Error,
    /// A document is unusable.
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

/// An evaluation error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The statement or document; none if the request itself failed.
    pub policy: Option<Arc<str>>,
    /// What went wrong.
    pub message: String,
}

/// The decision if the `log_only` documents were enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WouldBe {
    /// Whether it would have been allowed.
    pub allowed: bool,
    /// The reason.
    pub reason: Reason,
    /// The statements of all documents that would have decided.
    pub policies: Vec<Arc<str>>,
    /// Evaluation errors in the `log_only` documents.
    pub errors: Vec<Failure>,
}

/// The result of the statements that apply.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluation {
    pub(crate) permits: Vec<Arc<str>>,
    pub(crate) forbids: Vec<Arc<str>>,
    pub(crate) errors: Vec<Failure>,
    /// A document is unusable.
    pub(crate) broken: bool,
}

impl Evaluation {
    /// The request itself cannot be evaluated.
    pub(crate) fn failed(message: String) -> Self {
        Self { errors: vec![Failure { policy: None, message }], ..Self::default() }
    }

    /// The decision for this result. Only this function combines statements: it takes a permit, no forbid and no error.
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

    /// Both results combined, as if all statements were in one set.
    pub(crate) fn and(&self, other: &Evaluation) -> Evaluation {
        let mut both = self.clone();
        both.permits.extend(other.permits.iter().cloned());
        both.forbids.extend(other.forbids.iter().cloned());
        both.errors.extend(other.errors.iter().cloned());
        both.broken |= other.broken;
        both
    }
}

impl Decision {
    pub(crate) fn of(outcome: &Evaluation) -> Self {
        let (reason, policies) = outcome.verdict();
        Self {
            allowed: reason == Reason::Permitted,
            reason,
            policies: policies.to_vec(),
            errors: outcome.errors.clone(),
            log_only: None,
        }
    }

    /// The decision about an action that does not exist.
    pub(crate) fn unknown_action() -> Self {
        Self { allowed: false, reason: Reason::UnknownAction, policies: Vec::new(), errors: Vec::new(), log_only: None }
    }
}

impl WouldBe {
    /// What `tried` would change in a decision by `enforced`; `None` if nothing would change and nothing failed.
    pub(crate) fn of(enforced: &Evaluation, tried: &Evaluation) -> Option<Self> {
        let both = enforced.and(tried);
        let (reason, policies) = both.verdict();
        let allowed = reason == Reason::Permitted;
        let differs = allowed != (enforced.verdict().0 == Reason::Permitted);
        let erred = !tried.errors.is_empty() || tried.broken;
        (differs || erred).then(|| Self { allowed, reason, policies: policies.to_vec(), errors: tried.errors.clone() })
    }
}
