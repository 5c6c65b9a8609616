//! Memory: observations that agents store under their names and find again by keywords and meaning.

mod recall;
mod remember;
mod shown;

pub(crate) use recall::Recall;
pub(crate) use remember::Remember;

use base::{Error, ProjectId, Result};
use knowledge::{Author, Memory};

use crate::tool::Call;

impl Call<'_> {
    /// The memory of the caller's project, and the author to record for changes.
    pub(crate) fn memory(&self) -> Result<(Memory<guard::Change>, Author)> {
        let project = self.project()?;
        let memory = Memory::new(self.permit.change().clone(), project, self.services.clock.clone());
        let memory = memory.reading_facts(self.has_graph());
        Ok((memory, Author::of(self.permit.principal())))
    }

    /// The caller's project. The gate refuses a principal without a project before a tool that needs one runs.
    pub(crate) fn project(&self) -> Result<ProjectId> {
        let project = self.permit.principal().project.as_ref().map(|project| project.id);
        project.ok_or_else(|| Error::internal("a project tool was called without a project"))
    }
}
