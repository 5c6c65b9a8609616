//! A call in one project: the credential has the right, the project exists, and the key covers it.

use std::collections::BTreeMap;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use base::ProjectId;
use guard::Event;
use http::request::Parts;
use knowledge::{KnowledgeGraph, Memory};
use store::Change;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Response};
use utoipa::{IntoParams, IntoResponses};

use super::error::{ApiError, Result};
use super::extract::Admitted;
use super::path::{Id, OrgPath, no_such};
use super::rights::Right;
use crate::state::Shared;

/// The extractor of routes below `/api/org/{orgId}/projects/{projectId}`.
pub(super) struct InProject<R> {
    access: Admitted<R>,
    project: ProjectId,
}

impl<R> InProject<R> {
    /// The project.
    pub(super) fn project(&self) -> &ProjectId {
        &self.project
    }

    /// The project's memory, for reading.
    pub(super) fn memory(&self) -> Memory {
        Memory::new(self.rows().clone(), self.project, self.clock().clone())
    }

    /// The project's memory, for changes. The first change writes `event` to the audit trail.
    pub(super) fn changing_memory(&self, event: Event) -> Memory<Change> {
        Memory::new(self.change_as(event), self.project, self.clock().clone())
    }

    /// The project's knowledge graph, for reading.
    pub(super) fn graph(&self) -> KnowledgeGraph {
        KnowledgeGraph::new(self.rows().clone(), self.project, self.clock().clone())
    }

    /// The project's knowledge graph, for changes. The first change writes `event` to the audit trail.
    pub(super) fn changing_graph(&self, event: Event) -> KnowledgeGraph<Change> {
        KnowledgeGraph::new(self.change_as(event), self.project, self.clock().clone())
    }
}

impl<R> Deref for InProject<R> {
    type Target = Admitted<R>;

    fn deref(&self) -> &Admitted<R> {
        &self.access
    }
}

impl<R: Right> FromRequestParts<Shared> for InProject<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let access = Admitted::<R>::from_request_parts(parts, state).await?;
        let Id(project) = Id::from_request_parts(parts, state).await?;
        access.projects().get(&project).await?.ok_or_else(no_such::<ProjectId>)?;
        Ok(Self { access, project })
    }
}

impl<R> IntoParams for InProject<R> {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = OrgPath::into_params(&place);
        parameters.extend(Id::<ProjectId>::into_params(&place));
        parameters
    }
}

impl<R: Right> IntoResponses for InProject<R> {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        Admitted::<R>::responses()
    }
}
