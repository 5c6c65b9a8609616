//! Which projects a key covers, and which agents it may open sessions for: all of the org's, including future ones, or a list.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{AgentId, Error, Kind, ProjectId, Result};

/// `"all"` or a list of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cover<T> {
    /// All of the org.
    All,
    /// Only these.
    Only(Arc<BTreeSet<T>>),
}

/// The projects that a key covers.
pub type ProjectCover = Cover<ProjectId>;

/// The registered agents that a key may open sessions for.
pub type AgentCover = Cover<AgentId>;

/// An id that a cover can list.
pub trait Listed: Copy + Ord {
    /// The error for a caller that would grant more than it has.
    const MORE_THAN_YOURS: &'static str;

    /// The id as text.
    fn text(&self) -> &str;

    /// The id as a row holds it.
    fn read(text: &str) -> Self;
}

impl Listed for ProjectId {
    const MORE_THAN_YOURS: &'static str = "you cannot grant more than you have; your key does not cover these projects";

    fn text(&self) -> &str {
        self.as_str()
    }

    fn read(text: &str) -> Self {
        Self::from_row(text)
    }
}

impl Listed for AgentId {
    const MORE_THAN_YOURS: &'static str = "you cannot grant more than you have; your key's `agents` does not list these agents";

    fn text(&self) -> &str {
        self.as_str()
    }

    fn read(text: &str) -> Self {
        Self::from_row(text)
    }
}

impl<T: Listed> Cover<T> {
    /// A cover of a list.
    pub fn only(ids: impl IntoIterator<Item = T>) -> Self {
        Self::Only(Arc::new(ids.into_iter().collect()))
    }

    /// An empty cover.
    pub fn none() -> Self {
        Self::only([])
    }

    /// Whether it covers `id`.
    pub fn covers(&self, id: &T) -> bool {
        match self {
            Cover::All => true,
            Cover::Only(ids) => ids.contains(id),
        }
    }

    /// Whether it covers everything.
    pub fn is_all(&self) -> bool {
        matches!(self, Cover::All)
    }

    /// The listed ids; none for `"all"`.
    pub fn listed(&self) -> impl Iterator<Item = &T> {
        let ids = match self {
            Cover::All => None,
            Cover::Only(ids) => Some(ids.iter()),
        };
        ids.into_iter().flatten()
    }

    /// Whether this cover includes `other`.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (Cover::All, _) => true,
            (_, Cover::All) => false,
            (_, Cover::Only(ids)) => ids.iter().all(|id| self.covers(id)),
        }
    }

    /// Refuses `other` if it exceeds this cover.
    pub(crate) fn require_cover(&self, other: &Self) -> Result<()> {
        if self.holds(other) {
            return Ok(());
        }
        Err(Error::new(Kind::NotPermitted, T::MORE_THAN_YOURS))
    }

    /// The stored form: NULL for all, otherwise a JSON array. Statements search it for an id in quotes.
    pub(crate) fn to_row(&self) -> Option<String> {
        match self {
            Cover::All => None,
            Cover::Only(ids) => {
                let ids: Vec<&str> = ids.iter().map(T::text).collect();
                Some(serde_json::Value::from(ids).to_string())
            }
        }
    }

    pub(crate) fn from_row(text: Option<&str>) -> Result<Self> {
        let Some(text) = text else {
            return Ok(Self::All);
        };
        let ids: Vec<String> = serde_json::from_str(text).map_err(Error::internal)?;
        Ok(Self::only(ids.iter().map(|id| T::read(id))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Timestamp;

    #[test]
    fn covers_round_trip_and_narrow() {
        let project = |ms| ProjectId::new(Timestamp::from_ms(ms));
        let (one, two) = (project(1), project(2));
        let some = ProjectCover::only([one]);
        assert_eq!(ProjectCover::from_row(some.to_row().as_deref()).unwrap(), some);
        assert_eq!(ProjectCover::from_row(None).unwrap(), ProjectCover::All);
        assert!(some.covers(&one) && !some.covers(&two));
        assert!(ProjectCover::All.require_cover(&some).is_ok());
        assert!(some.require_cover(&ProjectCover::All).is_err());
        assert!(some.require_cover(&ProjectCover::only([one, two])).is_err());
    }

    #[test]
    fn empty_cover_is_not_a_full_cover() {
        let none = AgentCover::none();
        assert_eq!(none.to_row().as_deref(), Some("[]"));
        assert_eq!(AgentCover::from_row(Some("[]")).unwrap(), none);
        assert!(!none.is_all() && none.require_cover(&AgentCover::All).is_err());
        assert!(none.require_cover(&AgentCover::none()).is_ok());
    }
}
