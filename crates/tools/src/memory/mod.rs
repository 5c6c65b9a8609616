//! Memory: what agents noted, kept under their names and found again by words and meaning.

mod recall;
mod remember;

pub(crate) use recall::Recall;
pub(crate) use remember::Remember;

use base::{Error, ProjectId, Result};
use knowledge::{Author, Memory};

use crate::tool::Call;

impl Call<'_> {
    /// The memory of the caller's project, and who writes there.
    pub(crate) fn memory(&self) -> Result<(Memory, Author)> {
        let project = self.project()?;
        let memory = Memory::new(self.permit.rows().clone(), project, self.services.clock.clone());
        let memory = memory.reading_facts(self.has_graph());
        Ok((memory, Author::of(self.permit.principal())))
    }

    /// The caller's project. The gate lets nobody without one through to a tool that needs it.
    pub(crate) fn project(&self) -> Result<ProjectId> {
        let project = self.permit.principal().project.as_ref().map(|project| project.id);
        project.ok_or_else(|| Error::internal("a tool of a project was called without one"))
    }
}
