//! Browsing and searching a project's knowledge graph.

use axum::Json;
use axum::extract::State;
use base::limits::{GRAPH_HOPS_DEFAULT, HITS_DEFAULT};
use knowledge::{EntityDetail, GraphQuery, GraphRanking, TripletDetail, TripletFilter};
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::error::Result;
use super::extract::{Nothing, Query};
use super::graph_views::{EntityView, GraphHitView, GraphMoveView, GraphStatsView, MentionView, SuggestionView, TripletView};
use super::in_project::InProject;
use super::page::{After, Page, Rows, query, request, shown};
use super::path::Id;
use super::rights::GraphRead;
use super::text::{AuthorName, Question};
use super::wire::{Hops, Time, TripletCount};
use crate::state::Shared;

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
    /// Weight changes, oldest first.
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
    /// Weight changes, oldest first.
    moves: Vec<GraphMoveView>,
}

#[derive(Serialize, ToSchema)]
struct GraphHitsAnswer {
    /// Best first.
    hits: Vec<GraphHitView>,
    /// Whether an entity had too many triplets to follow them all.
    truncated: bool,
}

#[derive(Serialize, ToSchema)]
struct SuggestionsAnswer {
    /// Most similar first.
    suggestions: Vec<SuggestionView>,
}

/// Query parameters of the triplets.
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
            query("agentId", "Only triplets that this agent stated first.", AuthorName::schema()),
            query("sessionId", "Only triplets first stated in this session.", AuthorName::schema()),
            query("asOf", "Only triplets known and true at this time.", Time::schema()),
            query("all", "Include triplets that are superseded, retracted or not true at this time.", bool::schema()),
        ];
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// A search of the graph.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct GraphSearch {
    /// The question, in plain words.
    query: Question,
    /// The number of triplets. Default: 10.
    limit: Option<TripletCount>,
    /// How many hops to follow from the first matches. Default: 2.
    depth: Option<Hops>,
    /// Search the graph as it was known and true at this time.
    as_of: Option<Time>,
}

/// Shows the size of a project's graph.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph", operation_id = "showGraph", tag = "graph",
    params(InProject<GraphRead>),
    responses((status = 200, description = "The counts.", body = GraphStatsView), InProject<GraphRead>)
)]
async fn stats(State(state): State<Shared>, access: InProject<GraphRead>, _: Query<Nothing>) -> Result<Json<GraphStatsView>> {
    Ok(Json(access.graph().stats(&state.services.indexes).await?.into()))
}

/// Lists facts, newest first: the current ones, or all of them.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/triplets", operation_id = "listTriplets", tag = "graph",
    params(InProject<GraphRead>, TripletsQuery),
    responses((status = 200, description = "A page of triplets.", body = TripletsAnswer), InProject<GraphRead>)
)]
async fn list(
    State(state): State<Shared>,
    access: InProject<GraphRead>,
    Query(asked): Query<TripletsQuery>,
) -> Result<Json<TripletsAnswer>> {
    let text = |name: Option<AuthorName>| name.map(|name| name.0);
    let filter = TripletFilter {
        agent: text(asked.agent_id),
        session: text(asked.session_id),
        as_of: asked.as_of.map(|time| time.0),
        all: asked.all.unwrap_or(false),
    };
    let (graph, page) = (access.graph(), request(asked.limit, asked.cursor));
    let page = graph.list(&state.services.indexes, &filter, &page).await?;
    let (triplets, next_cursor) = shown(page);
    Ok(Json(TripletsAnswer { triplets, next_cursor }))
}

/// Shows one fact, current or not, with its authors and its weight changes.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/triplets/{tripletId}", operation_id = "showTriplet", tag = "graph",
    params(InProject<GraphRead>, Id<base::TripletId>),
    responses((status = 200, description = "The triplet.", body = TripletAnswer), InProject<GraphRead>)
)]
async fn show(
    State(state): State<Shared>,
    access: InProject<GraphRead>,
    Id(id): Id<base::TripletId>,
    _: Query<Nothing>,
) -> Result<Json<TripletAnswer>> {
    let found = access.graph().triplet(&state.services.indexes, &id).await?;
    let TripletDetail { triplet, mentions, moves } = found;
    let mentions = mentions.into_iter().map(Into::into).collect();
    Ok(Json(TripletAnswer { triplet: triplet.into(), mentions, moves: moves.into_iter().map(Into::into).collect() }))
}

/// Lists entities, newest first, including merged ones.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/entities", operation_id = "listEntities", tag = "graph",
    params(InProject<GraphRead>, Page),
    responses((status = 200, description = "A page of entities.", body = EntitiesAnswer), InProject<GraphRead>)
)]
async fn list_entities(access: InProject<GraphRead>, Query(page): Query<Page>) -> Result<Json<EntitiesAnswer>> {
    let page = access.graph().list_entities(&page.request()).await?;
    let (entities, next_cursor) = shown(page);
    Ok(Json(EntitiesAnswer { entities, next_cursor }))
}

/// Shows one entity with its names and its weight changes.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}", operation_id = "showEntity", tag = "graph",
    params(InProject<GraphRead>, Id<base::EntityId>),
    responses((status = 200, description = "The entity.", body = EntityAnswer), InProject<GraphRead>)
)]
async fn show_entity(access: InProject<GraphRead>, Id(id): Id<base::EntityId>, _: Query<Nothing>) -> Result<Json<EntityAnswer>> {
    let EntityDetail { entity, merged_into, names, moves } = access.graph().entity(&id).await?;
    let entity = EntityView::new(entity, merged_into);
    Ok(Json(EntityAnswer { entity, names, moves: moves.into_iter().map(Into::into).collect() }))
}

/// Searches a project's graph as an agent would.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/graph/search", operation_id = "searchGraph", tag = "graph",
    params(InProject<GraphRead>), request_body = GraphSearch,
    responses((status = 200, description = "The matches.", body = GraphHitsAnswer), InProject<GraphRead>, Body<GraphSearch>)
)]
async fn search(
    State(state): State<Shared>,
    access: InProject<GraphRead>,
    _: Query<Nothing>,
    Body(asked): Body<GraphSearch>,
) -> Result<Json<GraphHitsAnswer>> {
    let asked = GraphQuery {
        query: asked.query.0,
        top_k: asked.limit.map_or(HITS_DEFAULT, |count| count.0) as usize,
        depth: asked.depth.map_or(GRAPH_HOPS_DEFAULT, |hops| hops.0),
        as_of: asked.as_of.map(|time| time.0),
        ranking: GraphRanking::default(),
    };
    let found = access.graph().query(&state.services.indexes, asked).await?;
    Ok(Json(GraphHitsAnswer { hits: found.hits.into_iter().map(Into::into).collect(), truncated: found.truncated }))
}

/// Suggests entities of one type to merge because their names are nearly the same. Merges nothing.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/graph/suggestions", operation_id = "suggestMerges", tag = "graph",
    params(InProject<GraphRead>),
    responses((status = 200, description = "Pairs that may be the same entity.", body = SuggestionsAnswer), InProject<GraphRead>)
)]
async fn suggestions(access: InProject<GraphRead>, _: Query<Nothing>) -> Result<Json<SuggestionsAnswer>> {
    let found = access.graph().suggestions().await?;
    Ok(Json(SuggestionsAnswer { suggestions: found.into_iter().map(Into::into).collect() }))
}
