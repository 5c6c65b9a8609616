//! Orgs. The instance admin creates and changes them; other callers can read their own.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use guard::Org;
use http::StatusCode;
use http::request::Parts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::{Body, Object};
use super::document::Conflict;
use super::error::{ApiError, Result};
use super::extract::{Accepts, Admitted, InRequest, InstanceAdmin, LetIn, Nothing, Query, credential, let_in};
use super::keys::NewKeyView;
use super::page::{Page, next_cursor};
use super::path::OrgPath;
use super::rights::{Operator, OrgRead, Right};
use super::text::OrgName;
use super::wire::{OrgId, Time, given};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(show, change))
}

/// An org.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Org)]
struct OrgView {
    id: OrgId,
    name: String,
    /// The name in lower case with dashes. It never changes.
    slug: String,
    plan: PlanView,
    created_at: Time,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Plan)]
struct PlanView {
    /// Whether every project with memory has the knowledge graph.
    kg_enabled: bool,
}

impl From<Org> for OrgView {
    fn from(org: Org) -> Self {
        let plan = PlanView { kg_enabled: org.plan_has_graph };
        Self { id: org.id.into(), name: org.name, slug: org.slug, plan, created_at: org.created_at.into() }
    }
}

#[derive(Serialize, ToSchema)]
struct OrgAnswer {
    org: OrgView,
}

#[derive(Serialize, ToSchema)]
struct NewOrgAnswer {
    org: OrgView,
    key: NewKeyView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OrgsAnswer {
    orgs: Vec<OrgView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewOrg {
    name: OrgName,
    #[schema(value_type = Option<PlanChange>)]
    plan: Option<Object<PlanChange>>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OrgChange {
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    name: Option<OrgName>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<PlanChange>, nullable = false)]
    plan: Option<Object<PlanChange>>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PlanChange {
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    kg_enabled: Option<bool>,
}

/// Creates an org and its first key, which has all rights in it. The key is shown only once.
#[utoipa::path(
    post, path = "/api/orgs", operation_id = "createOrg", tag = "orgs", security(("key" = [])),
    request_body = NewOrg,
    responses((status = 201, description = "Made.", body = NewOrgAnswer), InstanceAdmin, Body<NewOrg>, Conflict)
)]
async fn create(
    State(state): State<Shared>,
    _: InstanceAdmin,
    InRequest(id): InRequest,
    _: Query<Nothing>,
    Body(new): Body<NewOrg>,
) -> Result<(StatusCode, Json<NewOrgAnswer>)> {
    let graph = new.plan.and_then(|plan| plan.0.kg_enabled).unwrap_or(false);
    let (org, first) = state.guard.orgs().create_with_key(&new.name.0, graph, id).await?;
    Ok((StatusCode::CREATED, Json(NewOrgAnswer { org: org.into(), key: first.into() })))
}

/// Which orgs the caller may see.
enum Sight {
    All,
    Own(base::OrgId),
}

impl FromRequestParts<Shared> for Sight {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        if state.guard.instance_access(&credential(parts)).await.is_ok() {
            return Ok(Self::All);
        }
        let LetIn { access, .. } = let_in(parts, state, Accepts::KeysAndLogins, None).await?;
        OrgRead::check(&access)?;
        Ok(Self::Own(*access.org()))
    }
}

/// Lists orgs: all of them for the instance admin, only the caller's own for anyone else.
#[utoipa::path(
    get, path = "/api/orgs", operation_id = "listOrgs", tag = "orgs", params(Page),
    responses((status = 200, description = "A page of orgs.", body = OrgsAnswer), Admitted<OrgRead>)
)]
async fn list(State(state): State<Shared>, sight: Sight, Query(page): Query<Page>) -> Result<Json<OrgsAnswer>> {
    let orgs = state.guard.orgs();
    let (items, next) = match sight {
        Sight::All => {
            let page = orgs.list(&page.request()).await?;
            (page.items, page.next)
        }
        Sight::Own(org) => (orgs.get(&org).await?.into_iter().collect(), None),
    };
    Ok(Json(OrgsAnswer { orgs: items.into_iter().map(OrgView::from).collect(), next_cursor: next_cursor(next.as_ref()) }))
}

/// Shows one org.
#[utoipa::path(
    get, path = "/api/org/{orgId}", operation_id = "getOrg", tag = "orgs", params(OrgPath),
    responses((status = 200, description = "The org.", body = OrgAnswer), Admitted<OrgRead>)
)]
async fn show(State(state): State<Shared>, access: Admitted<OrgRead>, _: Query<Nothing>) -> Result<Json<OrgAnswer>> {
    let org = state.guard.orgs().get(access.org()).await?;
    answer(org)
}

/// Changes an org's name or plan. The slug stays the same.
#[utoipa::path(
    patch, path = "/api/org/{orgId}", operation_id = "changeOrg", tag = "orgs", security(("key" = [])), params(OrgPath),
    request_body = OrgChange,
    responses((status = 200, description = "The changed org.", body = OrgAnswer), Admitted<Operator>, Body<OrgChange>)
)]
async fn change(
    State(state): State<Shared>,
    access: Admitted<Operator>,
    InRequest(id): InRequest,
    _: Query<Nothing>,
    Body(change): Body<OrgChange>,
) -> Result<Json<OrgAnswer>> {
    let name = change.name.as_ref().map(|name| name.0.as_str());
    let graph = change.plan.and_then(|plan| plan.0.kg_enabled);
    answer(state.guard.orgs().change(access.org(), name, graph, Some(id)).await?)
}

fn answer(org: Option<Org>) -> Result<Json<OrgAnswer>> {
    let org = org.ok_or_else(|| ApiError::not_found("org"))?;
    Ok(Json(OrgAnswer { org: org.into() }))
}
