//! Projects of an org.

use axum::Json;
use axum::extract::State;
use guard::Project;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::document::Conflict;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::page::{Page, next_cursor};
use super::path::{Id, OrgPath, no_such};
use super::rights::{OrgRead, ProjectsWrite};
use super::text::{Name, RootPath};
use super::wire::{OrgId, ProjectId, Time, given};
use crate::state::{RootRule, Shared};

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(show, change))
}

/// A project.
#[derive(Serialize, ToSchema)]
#[schema(as = Project)]
struct ProjectView {
    id: ProjectId,
    #[serde(rename = "orgId")]
    org_id: OrgId,
    /// Unique in the org.
    name: String,
    /// The directory of code on the server's machine.
    #[schema(required)]
    root: Option<String>,
    memory_enabled: bool,
    graph_enabled: bool,
    #[serde(rename = "createdAt")]
    created_at: Time,
    #[serde(rename = "updatedAt")]
    updated_at: Time,
}

impl ProjectView {
    fn new(org: &base::OrgId, project: Project) -> Self {
        Self {
            id: project.id.into(),
            org_id: (*org).into(),
            name: project.name,
            root: project.root,
            memory_enabled: project.memory_enabled,
            graph_enabled: project.graph_enabled,
            created_at: project.created_at.into(),
            updated_at: project.updated_at.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct ProjectAnswer {
    project: ProjectView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProjectsAnswer {
    projects: Vec<ProjectView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewProject {
    name: Name,
    /// A directory of code on the server's machine. It must exist, and the operator must allow it.
    root: Option<RootPath>,
    #[schema(default = true)]
    memory_enabled: Option<bool>,
    #[schema(default = false)]
    graph_enabled: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ProjectChange {
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    name: Option<Name>,
    /// A new directory, or `null` for none.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<RootPath>)]
    root: Option<Option<RootPath>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    memory_enabled: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    graph_enabled: Option<bool>,
}

/// Creates a project.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects", operation_id = "createProject", tag = "projects", params(OrgPath),
    request_body = NewProject,
    responses((status = 201, description = "Made.", body = ProjectAnswer), Admitted<ProjectsWrite>, Body<NewProject>, Conflict)
)]
async fn create(
    State(state): State<Shared>,
    access: Admitted<ProjectsWrite>,
    _: Query<Nothing>,
    Body(new): Body<NewProject>,
) -> Result<(StatusCode, Json<ProjectAnswer>)> {
    let project = guard::NewProject {
        name: new.name.0,
        root: served(&state.roots, new.root.as_ref()).await?,
        memory_enabled: new.memory_enabled.unwrap_or(true),
        graph_enabled: new.graph_enabled.unwrap_or(false),
    };
    let project = access.projects().create(project).await?;
    Ok((StatusCode::CREATED, Json(ProjectAnswer { project: ProjectView::new(access.org(), project) })))
}

/// Lists the projects that the caller covers.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects", operation_id = "listProjects", tag = "projects", params(OrgPath, Page),
    responses((status = 200, description = "A page of projects.", body = ProjectsAnswer), Admitted<OrgRead>)
)]
async fn list(access: Admitted<OrgRead>, Query(page): Query<Page>) -> Result<Json<ProjectsAnswer>> {
    let page = access.projects().list(&page.request()).await?;
    let projects = page.items.into_iter().map(|project| ProjectView::new(access.org(), project)).collect();
    Ok(Json(ProjectsAnswer { projects, next_cursor: next_cursor(page.next.as_ref()) }))
}

/// Shows one project.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}", operation_id = "getProject", tag = "projects",
    params(OrgPath, Id<base::ProjectId>),
    responses((status = 200, description = "The project.", body = ProjectAnswer), Admitted<OrgRead>)
)]
async fn show(access: Admitted<OrgRead>, Id(id): Id<base::ProjectId>, _: Query<Nothing>) -> Result<Json<ProjectAnswer>> {
    answer(access.org(), access.projects().get(&id).await?)
}

/// Changes a project. The change applies from the next request of its sessions and agents.
#[utoipa::path(
    patch, path = "/api/org/{orgId}/projects/{projectId}", operation_id = "changeProject", tag = "projects",
    params(OrgPath, Id<base::ProjectId>), request_body = ProjectChange,
    responses(
        (status = 200, description = "The changed project.", body = ProjectAnswer),
        Admitted<ProjectsWrite>, Body<ProjectChange>, Conflict
    )
)]
async fn change(
    State(state): State<Shared>,
    access: Admitted<ProjectsWrite>,
    Id(id): Id<base::ProjectId>,
    _: Query<Nothing>,
    Body(change): Body<ProjectChange>,
) -> Result<Json<ProjectAnswer>> {
    let root = match change.root {
        None => None,
        Some(root) => Some(served(&state.roots, root.as_ref()).await?),
    };
    let change = guard::ProjectChange {
        name: change.name.map(|name| name.0),
        root,
        memory_enabled: change.memory_enabled,
        graph_enabled: change.graph_enabled,
    };
    answer(access.org(), access.projects().change(&id, change).await?)
}

async fn served(rule: &RootRule, root: Option<&RootPath>) -> Result<Option<String>> {
    match root {
        Some(root) => rule.serve(root).await.map(Some),
        None => Ok(None),
    }
}

fn answer(org: &base::OrgId, project: Option<Project>) -> Result<Json<ProjectAnswer>> {
    let project = project.ok_or_else(no_such::<base::ProjectId>)?;
    Ok(Json(ProjectAnswer { project: ProjectView::new(org, project) }))
}
