//! What a project's memory is full of.

use axum::Json;
use axum::extract::State;
use knowledge::{Brief, MemoryReport, Tally};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::memory_of;
use crate::api::error::Result;
use crate::api::extract::{Admitted, Nothing, Query};
use crate::api::path::{Id, OrgPath};
use crate::api::rights::MemoryRead;
use crate::api::wire::{ObservationId, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(report))
}

/// What a memory is full of. From `types` on it is about the newest 100000 observations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MemoryReport)]
struct ReportView {
    /// Observations in all, without those that were forgotten.
    total: u64,
    forgotten: u64,
    /// Observations that are known by meaning.
    embedded: u64,
    /// Observations that wait for that.
    waiting: u64,
    /// Observations that the rest is about.
    examined: u64,
    /// The ten types with the most.
    types: Vec<TypeCount>,
    /// The ten agents that said the most.
    agents: Vec<AgentCount>,
    /// What several agents said.
    duplicates: DuplicatesView,
    /// Texts that differ in a word or two, among the newest 2000.
    near_duplicates: Vec<TallyView>,
    /// What no session was ever given, with the ten oldest.
    never_recalled: SomeView,
    /// What served badly, a weight below 0.5, with the ten worst.
    misleading: SomeView,
    /// The ten largest.
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
    /// How many texts.
    count: u64,
    /// The ten that most agents said.
    texts: Vec<TallyView>,
}

/// A text that is there more than once.
#[derive(Serialize, ToSchema)]
#[schema(as = Repeated)]
struct TallyView {
    /// How often.
    count: u64,
    /// The first of them.
    observation: BriefView,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SomeObservations)]
struct SomeView {
    /// How many there are.
    count: u64,
    /// At most ten of them.
    observations: Vec<BriefView>,
}

/// An observation in short.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BriefObservation)]
struct BriefView {
    id: ObservationId,
    agent_id: String,
    r#type: String,
    /// How well it has served, from 0 to 1.
    weight: f64,
    created_at: Time,
    /// How long its text is.
    characters: u64,
    /// How its text begins.
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

/// Says what a project's memory is full of: who fills it, what is there twice, what nobody was ever given and what misled.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/memory/report", operation_id = "reportMemory", tag = "memory",
    params(OrgPath, Id<base::ProjectId>),
    responses((status = 200, description = "The report.", body = ReportView), Admitted<MemoryRead>)
)]
async fn report(
    State(state): State<Shared>,
    access: Admitted<MemoryRead>,
    Id(project): Id<base::ProjectId>,
    _: Query<Nothing>,
) -> Result<Json<ReportView>> {
    let memory = memory_of(&access, &project).await?;
    let _turn = state.guard.turn().await?;
    Ok(Json(memory.report().await?.into()))
}
