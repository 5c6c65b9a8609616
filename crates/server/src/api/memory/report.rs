//! A report about the contents of a project's memory.

use axum::Json;
use axum::extract::State;
use knowledge::{Brief, MemoryReport, Tally};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::error::Result;
use crate::api::extract::{Nothing, Query};
use crate::api::in_project::InProject;
use crate::api::rights::MemoryRead;
use crate::api::wire::{ObservationId, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(report))
}

/// A report about a memory. All members from `types` on cover the newest 100000 observations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MemoryReport)]
struct ReportView {
    /// All observations, without forgotten ones.
    total: u64,
    forgotten: u64,
    /// Observations that have an embedding.
    embedded: u64,
    /// Observations that still need an embedding.
    waiting: u64,
    /// Observations covered by the rest of the report.
    examined: u64,
    /// The ten most common types.
    types: Vec<TypeCount>,
    /// The ten agents with the most observations.
    agents: Vec<AgentCount>,
    /// Texts noted by several agents.
    duplicates: DuplicatesView,
    /// Texts that differ in a word or two, among the newest 2000.
    near_duplicates: Vec<TallyView>,
    /// Observations never recalled by a session, with the ten oldest.
    never_recalled: SomeView,
    /// Observations with a weight below 0.5, with the ten lowest.
    misleading: SomeView,
    /// The ten largest observations.
    largest: Vec<BriefView>,
}

#[derive(Serialize, ToSchema)]
struct TypeCount {
    r#type: String,
    count: u64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AgentCount {
    agent_id: String,
    count: u64,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Duplicates)]
struct DuplicatesView {
    /// The number of texts.
    count: u64,
    /// The ten noted by the most agents.
    texts: Vec<TallyView>,
}

/// A text that exists more than once.
#[derive(Serialize, ToSchema)]
#[schema(as = Repeated)]
struct TallyView {
    /// The number of occurrences.
    count: u64,
    /// The first occurrence.
    observation: BriefView,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SomeObservations)]
struct SomeView {
    /// The total number.
    count: u64,
    /// At most ten examples.
    observations: Vec<BriefView>,
}

/// A summary of an observation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BriefObservation)]
struct BriefView {
    id: ObservationId,
    agent_id: String,
    r#type: String,
    /// How useful it has been, from 0 to 1.
    weight: f64,
    created_at: Time,
    /// The length of its text.
    characters: u64,
    /// The beginning of its text.
    excerpt: String,
}

impl From<Brief> for BriefView {
    fn from(brief: Brief) -> Self {
        Self {
            id: brief.id.into(),
            agent_id: brief.agent,
            r#type: brief.kind,
            weight: brief.weight,
            created_at: brief.created_at.into(),
            characters: brief.characters,
            excerpt: brief.excerpt,
        }
    }
}

impl From<Tally> for TallyView {
    fn from(tally: Tally) -> Self {
        Self { count: tally.count, observation: tally.first.into() }
    }
}

fn all<T, V: From<T>>(items: Vec<T>) -> Vec<V> {
    items.into_iter().map(V::from).collect()
}

impl From<MemoryReport> for ReportView {
    fn from(report: MemoryReport) -> Self {
        Self {
            total: report.total,
            forgotten: report.forgotten,
            embedded: report.total.saturating_sub(report.waiting),
            waiting: report.waiting,
            examined: report.examined,
            types: report.types.into_iter().map(|(name, count)| TypeCount { r#type: name, count }).collect(),
            agents: report.agents.into_iter().map(|(agent_id, count)| AgentCount { agent_id, count }).collect(),
            duplicates: DuplicatesView { count: report.duplicates, texts: all(report.said_often) },
            near_duplicates: all(report.said_alike),
            never_recalled: SomeView { count: report.never_recalled, observations: all(report.oldest_never_recalled) },
            misleading: SomeView { count: report.misleading, observations: all(report.worst) },
            largest: all(report.largest),
        }
    }
}

/// Reports what a project's memory contains: main authors, duplicates, notes that were never recalled and notes that were unhelpful.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/memory/report", operation_id = "reportMemory", tag = "memory",
    params(InProject<MemoryRead>),
    responses((status = 200, description = "The report.", body = ReportView), InProject<MemoryRead>)
)]
async fn report(State(state): State<Shared>, access: InProject<MemoryRead>, _: Query<Nothing>) -> Result<Json<ReportView>> {
    let memory = access.memory();
    let turn = state.guard.turn().await?;
    Ok(Json(memory.report(turn).await?.into()))
}
