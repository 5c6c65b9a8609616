//! `get_performance_metrics`
//!
//! It tells about the caller's org only. `memory` is what the org's loaded indexes take, not the memory of the process, and
//! `health` leaves out what other orgs do.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::limits::TASKS_KEPT_MS;
use base::{Result, Scope, Timestamp};
use guard::{Capability, Effect, Performance, Spec, ToolPerformance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::window_ms;
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct GetPerformanceMetrics;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Types of metrics to retrieve.
    #[serde(default = "types_default")]
    metric_types: Vec<MetricType>,
    /// Time window for metrics aggregation, such as `15m`, `1h` or `1d`, at most `7d`.
    #[serde(default = "window_default")]
    time_window: String,
    /// Include latency percentiles.
    #[serde(default = "percentiles_default")]
    include_percentiles: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MetricType {
    Latency,
    Throughput,
    Memory,
    Errors,
    Health,
}

fn types_default() -> Vec<MetricType> {
    vec![MetricType::Latency, MetricType::Throughput, MetricType::Health]
}

fn window_default() -> String {
    "1h".to_owned()
}

const fn percentiles_default() -> bool {
    true
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Calls that ended at this time or later are counted.
    #[schemars(with = "String")]
    since: Timestamp,
    /// Calls that ended up to this time are counted. It can be a moment ago.
    #[schemars(with = "String")]
    as_of: Timestamp,
    /// The window has more calls than are counted, so `since` is later than asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
    /// The calls per tool, if `latency` was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<BTreeMap<String, ToolMetrics>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    throughput: Option<Throughput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryMetrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Errors>,
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<Health>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ToolMetrics {
    count: u64,
    /// Calls that failed, were refused or were cancelled.
    errors: u64,
    /// The duration that half of the calls did not exceed.
    #[serde(skip_serializing_if = "Option::is_none")]
    p50_ms: Option<f64>,
    /// The same for nine of ten calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    p90_ms: Option<f64>,
    /// The same for 99 of 100 calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_ms: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Throughput {
    calls: u64,
    calls_per_second: f64,
}

/// The memory of this org's loaded indexes. They are loaded on demand.
#[derive(Debug, Serialize, JsonSchema)]
struct MemoryMetrics {
    /// All of them together.
    index_bytes: usize,
    /// Keywords and vectors of observations.
    observation_index_bytes: usize,
    /// The knowledge graph with its keywords and vectors.
    graph_index_bytes: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Errors {
    count: u64,
    /// The share of all calls, from 0 to 1.
    rate: f64,
    /// The number per kind of error.
    by_kind: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    status: Status,
    /// The store can be read. It can also be written, or this answer would not have been sent.
    store: Status,
    /// The audit trail.
    audit: Audit,
    /// The search index of the caller's project.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<Index>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Unavailable,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Audit {
    status: Status,
    /// Entries that the figures do not count yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries_behind: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Index {
    status: Status,
    /// Texts that are found by their words already and wait to be found by meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    texts_waiting: Option<u64>,
}

impl Tool for GetPerformanceMetrics {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("get_performance_metrics"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Get performance metrics"),
        description: Cow::Borrowed(
            "Shows how fast this org's tools answered in a time window, how often they were called and failed, and whether the \
                      server is healthy. Percentiles are those of the calls themselves.",
        ),
        scope: Scope::MetricsRead,
        needs: Capability::Always,
        effect: Effect::ReadOnly,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let window = window_ms("time_window", &input.time_window, TASKS_KEPT_MS)?;
        let asked = |metric| input.metric_types.contains(&metric);
        let counts = [MetricType::Latency, MetricType::Throughput, MetricType::Errors].into_iter().any(asked);
        let measured = if counts { Some(call.permit.performance(&call.services.clock, window).await?) } else { None };
        let now = call.services.clock.now();
        let health = if asked(MetricType::Health) { Some(Health::of(&call).await) } else { None };
        let memory = asked(MetricType::Memory).then(|| MemoryMetrics::of(&call));
        let output = Output {
            since: measured.as_ref().map_or(now.plus_ms(-window), |measured| measured.since),
            as_of: measured.as_ref().map_or(now, |measured| measured.as_of),
            truncated: measured.as_ref().is_some_and(|measured| measured.truncated),
            throughput: measured.as_ref().filter(|_| asked(MetricType::Throughput)).map(Throughput::of),
            errors: measured.as_ref().filter(|_| asked(MetricType::Errors)).map(Errors::of),
            tools: measured.filter(|_| asked(MetricType::Latency)).map(|measured| {
                let tool = |(name, tool)| (name, ToolMetrics::of(&tool, input.include_percentiles));
                measured.tools.into_iter().map(tool).collect()
            }),
            memory,
            health,
        };
        Answer::json(output)
    }
}

impl ToolMetrics {
    fn of(tool: &ToolPerformance, with_percentiles: bool) -> Self {
        let shown = |ms: f64| with_percentiles.then_some(ms);
        let (p50_ms, p90_ms, p99_ms) = (shown(tool.p50_ms), shown(tool.p90_ms), shown(tool.p99_ms));
        Self { count: tool.calls, errors: tool.errors, p50_ms, p90_ms, p99_ms }
    }
}

impl Throughput {
    fn of(measured: &Performance) -> Self {
        Self { calls: measured.calls, calls_per_second: knowledge::rounded(measured.calls_per_second) }
    }
}

impl Errors {
    fn of(measured: &Performance) -> Self {
        let rate = measured.errors as f64 / measured.calls.max(1) as f64;
        Self { count: measured.errors, rate: knowledge::rounded(rate), by_kind: measured.error_kinds.clone() }
    }
}

impl MemoryMetrics {
    fn of(call: &Call<'_>) -> Self {
        let bytes = call.services.indexes.bytes_of(&call.permit.principal().org);
        let graph = bytes.graph + bytes.graph_texts;
        let observations = bytes.observations;
        Self { index_bytes: observations + graph, observation_index_bytes: observations, graph_index_bytes: graph }
    }
}

impl Health {
    /// A part that cannot be read is reported, and does not fail the call.
    async fn of(call: &Call<'_>) -> Self {
        let of = |is_ok: bool| if is_ok { Status::Ok } else { Status::Unavailable };
        let entries_behind = call.permit.entries_behind().await.ok();
        let index = match call.project() {
            Ok(project) => {
                let texts_waiting = call.services.indexes.waiting(call.permit.rows(), &project).await.ok();
                Some(Index { status: of(texts_waiting.is_some()), texts_waiting })
            }
            Err(_) => None,
        };
        let store = of(entries_behind.is_some());
        let audit = Audit { status: store, entries_behind };
        let is_ok = store == Status::Ok && index.as_ref().is_none_or(|index| index.status == Status::Ok);
        Self { status: of(is_ok), store, audit, index }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_left_out_if_nobody_asked() {
        let tool = ToolPerformance { calls: 3, errors: 1, p50_ms: 0.25, p90_ms: 1.5, p99_ms: 1.5 };
        let shown = |with_percentiles| serde_json::to_string(&ToolMetrics::of(&tool, with_percentiles)).unwrap();
        assert_eq!(shown(true), r#"{"count":3,"errors":1,"p50_ms":0.25,"p90_ms":1.5,"p99_ms":1.5}"#);
        assert_eq!(shown(false), r#"{"count":3,"errors":1}"#);
    }
}
