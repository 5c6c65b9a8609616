//! A call in one project: the credential has the right, the project exists, and the key covers it.

use std::collections::BTreeMap;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use base::{EventKind, ProjectId, Timestamp};
use code::Codebase;
use guard::Event;
use http::request::Parts;
use knowledge::{Decisions, KnowledgeGraph, Memory};
use serde::Deserialize;
use store::Change;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Response};
use utoipa::{IntoParams, IntoResponses, ToSchema};

use super::error::{ApiError, Result};
use super::extract::Admitted;
use super::path::{Id, OrgPath, no_such};
use super::rights::Right;
use super::text::AuthorName;
use super::wire::Time;
use crate::state::Shared;

/// The extractor of routes below `/api/org/{orgId}/projects/{projectId}`.
pub(super) struct InProject<R> {
    access: Admitted<R>,
    project: ProjectId,
    /// The project's directory, if it has one.
    root: Option<String>,
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

    /// The project's decisions, for reading.
    pub(super) fn decisions(&self) -> Decisions {
        Decisions::new(self.rows().clone(), self.project, self.clock().clone())
    }

    /// The project's code, for reading.
    pub(super) async fn code(&self, state: &Shared) -> Result<Codebase> {
        Ok(state.services.code.of(self.rows().clone(), self.project, self.root.as_deref()).await?)
    }

    /// The project's code, for changes. The first change writes `event` to the audit trail.
    pub(super) async fn changing_code(&self, state: &Shared, event: Event) -> Result<Codebase<Change>> {
        Ok(state.services.code.of(self.change_as(event), self.project, self.root.as_deref()).await?)
    }

    /// The event for a rollback of an agent or a session.
    pub(super) fn rolled_back(&self, kind: EventKind, author: &Author) -> Event {
        Event::new(kind, "project", self.project)
            .with_some("agentId", author.agent.as_deref())
            .with_some("sessionId", author.session.as_deref())
    }
}

impl From<knowledge::Error> for ApiError {
    fn from(error: knowledge::Error) -> Self {
        match error {
            knowledge::Error::Store(error) => error.into(),
            refusal => Self::new(refusal.kind(), refusal.to_string()),
        }
    }
}

/// What to roll back.
#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "give `agentId`, `sessionId` or both to select what to roll back")]
pub(super) enum RollBack {
    Agent(OfAgent),
    Session(OfSession),
}

/// By an agent, optionally only in one session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct OfAgent {
    agent_id: AuthorName,
    session_id: Option<AuthorName>,
    /// Only from this time on.
    since: Option<Time>,
}

/// From a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct OfSession {
    session_id: AuthorName,
    /// Only from this time on.
    since: Option<Time>,
}

/// Whose rows to roll back, and since when.
pub(super) struct Author {
    pub(super) agent: Option<String>,
    pub(super) session: Option<String>,
    pub(super) since: Option<Timestamp>,
}

impl From<RollBack> for Author {
    fn from(asked: RollBack) -> Self {
        let (agent, session, since) = match asked {
            RollBack::Agent(of) => (Some(of.agent_id), of.session_id, of.since),
            RollBack::Session(of) => (None, Some(of.session_id), of.since),
        };
        Self { agent: agent.map(|name| name.0), session: session.map(|name| name.0), since: since.map(|time| time.0) }
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
        let found = access.projects().get(&project).await?.ok_or_else(no_such::<ProjectId>)?;
        Ok(Self { access, project, root: found.root })
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
