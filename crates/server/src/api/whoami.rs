//! `GET /api/whoami`: describes the caller's credential. It needs no scope, because it shows callers only their own data. The
//! command line uses it with keys that have few scopes.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use base::ScopeSet;
use guard::{Access, Manager, Org, Project};
use http::request::Parts;
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::error::{ApiError, Result};
use super::extract::{Accepts, Admitted, Query, asked_org, credential, let_in};
use super::page::{After, OrgQuery, Page, Rows, next_cursor, request};
use super::rights::AnyCredential;
use super::wire::{OrgId, ProjectId, Scopes};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(whoami))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WhoamiAnswer {
    credential: CredentialView,
    /// The org. `null` for the instance admin's key without `?org=`.
    #[schema(required)]
    org: Option<OwnOrgView>,
    scopes: Scopes,
    /// A page of the projects that the credential covers.
    projects: Vec<CoveredProjectView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// The credential.
#[derive(Serialize, ToSchema)]
#[schema(as = Credential)]
struct CredentialView {
    #[schema(schema_with = kinds)]
    r#type: &'static str,
    /// The id of the key or user. `null` for the instance admin's key.
    #[schema(required)]
    id: Option<String>,
}

/// The types of [`CredentialView`].
fn kinds() -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["key", "login", "instance_admin"])).build()
}

impl From<&Manager> for CredentialView {
    fn from(who: &Manager) -> Self {
        match who {
            Manager::InstanceAdmin => Self { r#type: "instance_admin", id: None },
            Manager::Key(id) => Self { r#type: "key", id: Some(id.to_string()) },
            Manager::User { id, .. } => Self { r#type: "login", id: Some(id.to_string()) },
        }
    }
}

/// The caller's org.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnOrg)]
struct OwnOrgView {
    id: OrgId,
    name: String,
    slug: String,
}

impl From<Org> for OwnOrgView {
    fn from(org: Org) -> Self {
        Self { id: org.id.into(), name: org.name, slug: org.slug }
    }
}

/// A project that the credential covers.
#[derive(Serialize, ToSchema)]
#[schema(as = CoveredProject)]
struct CoveredProjectView {
    id: ProjectId,
    name: String,
    /// The directory of code on the server's machine.
    #[schema(required)]
    root: Option<String>,
}

impl From<Project> for CoveredProjectView {
    fn from(project: Project) -> Self {
        Self { id: project.id.into(), name: project.name, root: project.root }
    }
}

/// Query parameters of the projects.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WhoamiPage {
    #[serde(rename = "org")]
    _org: Option<String>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl IntoParams for WhoamiPage {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = OrgQuery::into_params(&place);
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// An authenticated caller in its org. The instance admin without `?org=` has no org.
struct Known(Option<Access>);

impl FromRequestParts<Shared> for Known {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let org = asked_org(parts, state).await;
        if org.is_none() && state.guard.instance_access(&credential(parts)).await.is_ok() {
            return Ok(Self(None));
        }
        Ok(Self(Some(let_in(parts, state, Accepts::KeysAndLogins, org.as_deref()).await?.access)))
    }
}

/// Describes the caller's credential: its org, its scopes, and the projects it covers.
#[utoipa::path(
    get, path = "/api/whoami", operation_id = "describeCredential", tag = "orgs", params(WhoamiPage),
    responses((status = 200, description = "The credential.", body = WhoamiAnswer), Admitted<AnyCredential>)
)]
async fn whoami(State(state): State<Shared>, Known(access): Known, Query(page): Query<WhoamiPage>) -> Result<Json<WhoamiAnswer>> {
    let Some(access) = access else {
        return Ok(Json(WhoamiAnswer {
            credential: (&Manager::InstanceAdmin).into(),
            org: None,
            scopes: Scopes(ScopeSet::EVERYTHING),
            projects: Vec::new(),
            next_cursor: None,
        }));
    };
    let org = state.guard.orgs().get(access.org()).await?;
    let page = access.projects().list(&request(page.limit, page.cursor)).await?;
    Ok(Json(WhoamiAnswer {
        credential: access.who().into(),
        org: org.map(OwnOrgView::from),
        scopes: Scopes(access.scopes()),
        next_cursor: next_cursor(page.next.as_ref()),
        projects: page.items.into_iter().map(CoveredProjectView::from).collect(),
    }))
}
