//! Search in a project's code, and the dependencies of a file.

use axum::Json;
use axum::extract::State;
use base::limits::HITS_DEFAULT;
use code::{Algorithm, Analysis, CodeHit, Edge, FarFile, HybridQuery};
use knowledge::rounded;
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::CoverageView;
use super::files::{not_indexed, path_parameter};
use super::input::{AnalysisWord, CodeQuestion, Depth, FilePath, Share};
use crate::api::body::Body;
use crate::api::error::Result;
use crate::api::extract::{Nothing, Query};
use crate::api::in_project::InProject;
use crate::api::page::query;
use crate::api::rights::CodeRead;
use crate::api::wire::{CodeHitCount, HitOffset, Time};
use crate::state::Shared;

/// How far dependencies are followed by default.
const DEPTH_DEFAULT: u32 = 5;
/// The default of the minimum similarity of a hit that only its meaning finds.
const THRESHOLD_DEFAULT: f32 = 0.7;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(search)).routes(routes!(dependencies))
}

/// A search in the code.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CodeSearch {
    /// What to look for: plain words, identifiers or both.
    query: CodeQuestion,
    /// The number of hits. Default: 10.
    limit: Option<CodeHitCount>,
    /// The `nextOffset` of the previous page.
    offset: Option<HitOffset>,
    /// The minimum similarity of a hit that only its meaning finds. Default: 0.7.
    threshold: Option<Share>,
    /// Only files that changed since this time.
    changed_since: Option<Time>,
}

/// The parts of a hit's score. They add up to `score`.
#[derive(Serialize, ToSchema)]
#[schema(as = CodeSignals)]
struct SignalsView {
    keyword: f64,
    identifier: f64,
    semantic: f64,
    graph: f64,
    dependency: f64,
    temporal: f64,
}

/// Lines of a file that were found.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CodeHit)]
struct HitView {
    path: String,
    start_line: u32,
    /// The last line, included.
    end_line: u32,
    /// The symbol that the lines belong to.
    #[schema(required)]
    symbol: Option<String>,
    /// The first of these lines, as they are now.
    snippet: String,
    score: f64,
    signals: SignalsView,
    /// The calibrated similarity with the question, from 0 to 1.
    #[schema(required)]
    similarity: Option<f64>,
    /// The raw cosine of the model.
    #[schema(required)]
    cosine: Option<f64>,
}

impl From<CodeHit> for HitView {
    fn from(hit: CodeHit) -> Self {
        Self {
            path: hit.path.to_string(),
            start_line: hit.start_line,
            end_line: hit.end_line,
            symbol: hit.symbol.map(|symbol| symbol.to_string()),
            snippet: hit.snippet,
            score: rounded(hit.score),
            signals: SignalsView {
                keyword: rounded(hit.signals.keyword),
                identifier: rounded(hit.signals.identifier),
                semantic: rounded(hit.signals.semantic),
                graph: rounded(hit.signals.graph),
                dependency: rounded(hit.signals.dependency),
                temporal: rounded(hit.signals.temporal),
            },
            similarity: hit.similarity.map(rounded),
            cosine: hit.cosine.map(rounded),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CodeHitsAnswer {
    /// Best first.
    hits: Vec<HitView>,
    coverage: CoverageView,
    /// Whether the question got no vector, so that only the other signals count.
    words_only: bool,
    /// The `offset` of the next page.
    #[schema(required)]
    next_offset: Option<u64>,
}

/// Query parameters of the dependencies.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DependenciesQuery {
    path: FilePath,
    analysis: Option<AnalysisWord>,
    depth: Option<Depth>,
    external: Option<bool>,
}

impl IntoParams for DependenciesQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            path_parameter(),
            query("analysis", "What to find out. Default: `full`.", AnalysisWord::schema()),
            query("depth", "How many imports to follow. Default: 5.", Depth::schema()),
            query("external", "Include packages outside the project. Default: false.", bool::schema()),
        ]
    }
}

/// A file, or a package outside the project, at a distance.
#[derive(Serialize, ToSchema)]
#[schema(as = FarFile)]
struct FarView {
    path: String,
    /// The number of imports in between.
    distance: u32,
}

impl From<FarFile> for FarView {
    fn from(far: FarFile) -> Self {
        Self { path: far.path, distance: far.distance }
    }
}

/// A relationship between two files or symbols.
#[derive(Serialize, ToSchema)]
#[schema(as = CodeEdge)]
struct EdgeView {
    from: String,
    to: String,
    /// `imports`, `exports`, `calls`, `extends` or `implements`.
    #[schema(value_type = String)]
    relationship: &'static str,
    /// How certain it is: `exact`, `heuristic`, `external` or `unresolved`.
    #[schema(value_type = String)]
    resolution: &'static str,
}

impl From<Edge> for EdgeView {
    fn from(edge: Edge) -> Self {
        Self { from: edge.from, to: edge.to, relationship: edge.relationship.word(), resolution: edge.resolution.word() }
    }
}

/// The dependencies of a file. A list that was not asked for is empty.
#[derive(Serialize, ToSchema)]
struct DependenciesAnswer {
    path: String,
    /// What the file imports, directly or through others, nearest first.
    imports: Vec<FarView>,
    /// Names that other files can import.
    exports: Vec<String>,
    /// Import cycles: groups of files that all reach each other.
    circular: Vec<Vec<String>>,
    /// Files that a change of this file may affect, nearest first.
    impact: Vec<FarView>,
    edges: Vec<EdgeView>,
    /// Whether a limit left something out.
    truncated: bool,
    coverage: CoverageView,
}

/// Searches a project's code by words, identifiers, meaning, the code graph, imports and recent changes.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/code/search", operation_id = "searchCode", tag = "code",
    params(InProject<CodeRead>), request_body = CodeSearch,
    responses((status = 200, description = "The hits.", body = CodeHitsAnswer), InProject<CodeRead>, Body<CodeSearch>)
)]
async fn search(
    State(state): State<Shared>,
    access: InProject<CodeRead>,
    _: Query<Nothing>,
    Body(asked): Body<CodeSearch>,
) -> Result<Json<CodeHitsAnswer>> {
    let asked = HybridQuery {
        query: asked.query.0,
        semantic: true,
        graph: true,
        dependency: true,
        temporal: true,
        threshold: asked.threshold.map_or(THRESHOLD_DEFAULT, |share| share.0 as f32),
        changed_since: asked.changed_since.map(|time| time.0),
        offset: asked.offset.map_or(0, |offset| offset.0) as usize,
        limit: asked.limit.map_or(HITS_DEFAULT, |count| count.0) as usize,
    };
    let found = access.code(&state).await?.hybrid(asked).await?;
    Ok(Json(CodeHitsAnswer {
        hits: found.hits.into_iter().map(Into::into).collect(),
        coverage: found.coverage.into(),
        words_only: found.words_only,
        next_offset: found.next.map(|next| next as u64),
    }))
}

/// Shows what a file imports and exports, the import cycles that it is part of, and the files that a change of it may affect.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/code/dependencies", operation_id = "showDependencies", tag = "code",
    params(InProject<CodeRead>, DependenciesQuery),
    responses((status = 200, description = "The dependencies.", body = DependenciesAnswer), InProject<CodeRead>)
)]
async fn dependencies(
    State(state): State<Shared>,
    access: InProject<CodeRead>,
    Query(asked): Query<DependenciesQuery>,
) -> Result<Json<DependenciesAnswer>> {
    let code = access.code(&state).await?;
    let (path, analysis) = (asked.path.0, asked.analysis.map_or(Analysis::Full, |analysis| analysis.0));
    let depth = asked.depth.and_then(|depth| u32::try_from(depth.0).ok()).unwrap_or(DEPTH_DEFAULT);
    let (file, external) = (path.clone(), asked.external.unwrap_or(false));
    let ask = move |snapshot: &code::Snapshot| match snapshot.file_number(file.as_str()) {
        Some(_) => snapshot.analyze(file.as_str(), analysis, depth, external, Algorithm::Bfs),
        None => Err(not_indexed(&file)),
    };
    let found = code.ask(Some(&path), ask).await?;
    Ok(Json(DependenciesAnswer {
        path: path.as_str().to_owned(),
        imports: found.imports.into_iter().map(Into::into).collect(),
        exports: found.exports,
        circular: found.circular,
        impact: found.impact.into_iter().map(Into::into).collect(),
        edges: found.edges.into_iter().map(Into::into).collect(),
        truncated: found.is_cut,
        coverage: code.coverage().into(),
    }))
}
