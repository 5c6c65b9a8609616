//! Which projects a key covers: all of its org's, those to come too, or a list.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{Error, Kind, ProjectId, Result};

/// `"all"` or a list of projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectCover {
    /// Every project of the org.
    All,
    /// Only these.
    Only(Arc<BTreeSet<ProjectId>>),
}

impl ProjectCover {
    /// The cover of a list.
    pub fn only(projects: impl IntoIterator<Item = ProjectId>) -> Self {
        Self::Only(Arc::new(projects.into_iter().collect()))
    }

    /// Whether it covers `project`.
    pub fn covers(&self, project: &ProjectId) -> bool {
        match self {
            ProjectCover::All => true,
            ProjectCover::Only(projects) => projects.contains(project),
        }
    }

    /// Whether it covers everything.
    pub fn is_all(&self) -> bool {
        matches!(self, ProjectCover::All)
    }

    /// The listed projects; none for `"all"`.
    pub fn listed(&self) -> impl Iterator<Item = &ProjectId> {
        let projects = match self {
            ProjectCover::All => None,
            ProjectCover::Only(projects) => Some(projects.iter()),
        };
        projects.into_iter().flatten()
    }

    /// Whether `other` is no more than this.
    pub(crate) fn holds(&self, other: &ProjectCover) -> bool {
        match (self, other) {
            (ProjectCover::All, _) => true,
            (_, ProjectCover::All) => false,
            (_, ProjectCover::Only(projects)) => projects.iter().all(|project| self.covers(project)),
        }
    }

    /// Refuses to hand out `other` where it is more than this.
    pub(crate) fn require_cover(&self, other: &ProjectCover) -> Result<()> {
        if self.holds(other) {
            return Ok(());
        }
        Err(Error::new(Kind::NotPermitted, "nobody hands out more than they have: your key does not cover these projects"))
    }

    /// The stored form: NULL for all, else a JSON array. Statements that list what lies in some projects look for an id in
    /// quotes in it.
    pub(crate) fn to_row(&self) -> Option<String> {
        match self {
            ProjectCover::All => None,
            ProjectCover::Only(projects) => {
                let ids: Vec<&str> = projects.iter().map(ProjectId::as_str).collect();
                Some(serde_json::Value::from(ids).to_string())
            }
        }
    }

    pub(crate) fn from_row(text: Option<&str>) -> Result<Self> {
        let Some(text) = text else {
            return Ok(Self::All);
        };
        let ids: Vec<String> = serde_json::from_str(text).map_err(Error::internal)?;
        Ok(Self::only(ids.iter().map(|id| ProjectId::from_row(id))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Timestamp;

    #[test]
    fn covers_read_back_and_narrow() {
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
}
