//! A project's knowledge graph, for people who look through it and ask it.

use axum::Json;
use axum::extract::State;
use guard::Access;
use knowledge::{EntityDetail, GraphQuery, GraphRanking, KnowledgeGraph, TripletDetail, TripletFilter};
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::graph_views::{EntityView, GraphHitView, GraphMoveView, GraphStatsView, MentionView, SuggestionView, TripletView};
use super::page::{After, Page, Rows, next_cursor, query, request};
use super::path::{Id, OrgPath, no_such};
use super::rights::GraphRead;
use super::text::{AuthorName, Question};
use super::wire::{Hops, Time, TripletCount};
use crate::state::Shared;

/// Triplets that a search gives and hops that it walks when the caller does not say: what agents get.
const HITS_DEFAULT: u32 = 10;
const HOPS_DEFAULT: u32 = 2;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(stats))
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(list_entities))
        .routes(routes!(show_entity))
        .routes(routes!(suggestions))
        .routes(routes!(search))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TripletsAnswer {
    triplets: Vec<TripletView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct TripletAnswer {
    triplet: TripletView,
    /// Everyone who stated it.
    mentions: Vec<MentionView>,
    /// How its weight moved, oldest first.
    moves: Vec<GraphMoveView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct EntitiesAnswer {
    entities: Vec<EntityView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct EntityAnswer {
    entity: EntityView,
    /// Its name and aliases.
    names: Vec<String>,
    /// How its weight moved, oldest first.
    moves: Vec<GraphMoveView>,
}

#[derive(Serialize, ToSchema)]
struct GraphHitsAnswer {
    /// Best first.
    hits: Vec<GraphHitView>,
    /// Whether a hub was not walked in all directions.
    truncated: bool,
}

#[derive(Serialize, ToSchema)]
struct SuggestionsAnswer {
    /// The most alike first.
    suggestions: Vec<SuggestionView>,
}

/// Which triplets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct TripletsQuery {
    agent_id: Option<AuthorName>,
    session_id: Option<AuthorName>,
    as_of: Option<Time>,
    all: Option<bool>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl IntoParams for TripletsQuery {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = vec![
            query("agentId", "Only what this agent stated first.", AuthorName::schema()),
            query("sessionId", "Only what was first stated in this session.", AuthorName::schema()),
            query("asOf", "What was known and true at this time.", Time::schema()),
            query("all", "Also what was superseded or retracted, and what is not true at the time.", bool::schema()),
        ];
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// What is asked.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct GraphSearch {
    /// In plain words.
    query: Question,
    /// How many triplets; 10 when left out.
    limit: Option<TripletCount>,
    /// How many hops are walked from what words and meaning find; 2 when left out.
    depth: Option<Hops>,
    /// What was known and true at this time.
    as_of: Option<Time>,
}

/// The graph of a project that the caller may see.
pub(super) async fn graph_of(access: &Access, project: &base::ProjectId) -> Result<KnowledgeGraph> {
    check(access, project).await?;
    Ok(KnowledgeGraph::new(access.rows().clone(), *project, access.clock().clone()))
}

pub(super) async fn check(access: &Access, project: &base::ProjectId) -> Result<()> {
    let found = access.projects().get(project).await?;
    found.map(drop).ok_or_else(no_such::<base::ProjectId>)
}

/// Says how much a project's graph knows.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph", operation_id = "showGraph", tag = "graph",
    params(OrgPath, Id<base::ProjectId>),
    responses((status = 200, description = "How much there is.", body = GraphStatsView), Admitted<GraphRead>)
)]
async fn stats(
    State(state): State<Shared>,
    access: Admitted<GraphRead>,
    Id(project): Id<base::ProjectId>,
    _: Query<Nothing>,
) -> Result<Json<GraphStatsView>> {
    Ok(Json(graph_of(&access, &project).await?.stats(&state.services.indexes).await?.into()))
}

/// Lists facts, newest first: those that stand, or all.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/triplets", operation_id = "listTriplets", tag = "graph",
    params(OrgPath, Id<base::ProjectId>, TripletsQuery),
    responses((status = 200, description = "A page of triplets.", body = TripletsAnswer), Admitted<GraphRead>)
)]
async fn list(
    State(state): State<Shared>,
    access: Admitted<GraphRead>,
    Id(project): Id<base::ProjectId>,
    Query(asked): Query<TripletsQuery>,
) -> Result<Json<TripletsAnswer>> {
    let text = |name: Option<AuthorName>| name.map(|name| name.0);
    let filter = TripletFilter {
        agent: text(asked.agent_id),
        session: text(asked.session_id),
        as_of: asked.as_of.map(|time| time.0),
        all: asked.all.unwrap_or(false),
    };
    let (graph, page) = (graph_of(&access, &project).await?, request(asked.limit, asked.cursor));
    let page = graph.list(&state.services.indexes, &filter, &page).await?;
    let next_cursor = next_cursor(page.next.as_ref());
    Ok(Json(TripletsAnswer { triplets: page.items.into_iter().map(Into::into).collect(), next_cursor }))
}

/// Shows one fact, standing or not, who stated it, and how its weight moved.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/triplets/{tripletId}", operation_id = "showTriplet", tag = "graph",
    params(OrgPath, Id<base::ProjectId>, Id<base::TripletId>),
    responses((status = 200, description = "The triplet.", body = TripletAnswer), Admitted<GraphRead>)
)]
async fn show(
    State(state): State<Shared>,
    access: Admitted<GraphRead>,
    Id(project): Id<base::ProjectId>,
    Id(id): Id<base::TripletId>,
    _: Query<Nothing>,
) -> Result<Json<TripletAnswer>> {
    let found = graph_of(&access, &project).await?.triplet(&state.services.indexes, &id).await?;
    let TripletDetail { triplet, mentions, moves } = found;
    let mentions = mentions.into_iter().map(Into::into).collect();
    Ok(Json(TripletAnswer { triplet: triplet.into(), mentions, moves: moves.into_iter().map(Into::into).collect() }))
}

/// Lists what facts are about, newest first, with what was merged into something else.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/entities", operation_id = "listEntities", tag = "graph",
    params(OrgPath, Id<base::ProjectId>, Page),
    responses((status = 200, description = "A page of entities.", body = EntitiesAnswer), Admitted<GraphRead>)
)]
async fn list_entities(
    access: Admitted<GraphRead>,
    Id(project): Id<base::ProjectId>,
    Query(page): Query<Page>,
) -> Result<Json<EntitiesAnswer>> {
    let page = graph_of(&access, &project).await?.list_entities(&page.request()).await?;
    let next_cursor = next_cursor(page.next.as_ref());
    Ok(Json(EntitiesAnswer { entities: page.items.into_iter().map(Into::into).collect(), next_cursor }))
}

/// Shows one entity, what it is called, and how its weight moved.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}", operation_id = "showEntity", tag = "graph",
    params(OrgPath, Id<base::ProjectId>, Id<base::EntityId>),
    responses((status = 200, description = "The entity.", body = EntityAnswer), Admitted<GraphRead>)
)]
async fn show_entity(
    access: Admitted<GraphRead>,
    Id(project): Id<base::ProjectId>,
    Id(id): Id<base::EntityId>,
    _: Query<Nothing>,
) -> Result<Json<EntityAnswer>> {
    let EntityDetail { entity, merged_into, names, moves } = graph_of(&access, &project).await?.entity(&id).await?;
    let entity = EntityView::new(entity, merged_into);
    Ok(Json(EntityAnswer { entity, names, moves: moves.into_iter().map(Into::into).collect() }))
}

/// Asks a project's graph as an agent would.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/graph/search", operation_id = "searchGraph", tag = "graph",
    params(OrgPath, Id<base::ProjectId>), request_body = GraphSearch,
    responses((status = 200, description = "What was found.", body = GraphHitsAnswer), Admitted<GraphRead>, Body<GraphSearch>)
)]
async fn search(
    State(state): State<Shared>,
    access: Admitted<GraphRead>,
    Id(project): Id<base::ProjectId>,
    _: Query<Nothing>,
    Body(asked): Body<GraphSearch>,
) -> Result<Json<GraphHitsAnswer>> {
    let asked = GraphQuery {
        query: asked.query.0,
        top_k: asked.limit.map_or(HITS_DEFAULT, |count| count.0) as usize,
        depth: asked.depth.map_or(HOPS_DEFAULT, |hops| hops.0),
        as_of: asked.as_of.map(|time| time.0),
        ranking: GraphRanking::default(),
    };
    let found = graph_of(&access, &project).await?.query(&state.services.indexes, asked).await?;
    Ok(Json(GraphHitsAnswer { hits: found.hits.into_iter().map(Into::into).collect(), truncated: found.truncated }))
}

/// Points out entities of one type whose names are nearly the same. Nothing is merged by it.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/suggestions", operation_id = "suggestMerges", tag = "graph",
    params(OrgPath, Id<base::ProjectId>),
    responses((status = 200, description = "What may be one.", body = SuggestionsAnswer), Admitted<GraphRead>)
)]
async fn suggestions(
    access: Admitted<GraphRead>,
    Id(project): Id<base::ProjectId>,
    _: Query<Nothing>,
) -> Result<Json<SuggestionsAnswer>> {
    let found = graph_of(&access, &project).await?.suggestions().await?;
    Ok(Json(SuggestionsAnswer { suggestions: found.into_iter().map(Into::into).collect() }))
}
