//! Code: reading, writing, dependencies, search, history and context of a project's files. The input schemas are those of the published
//! tools with the same names (a test compares them), so that clients of those work here.

mod analyze_dependencies;
mod get_context;
mod get_performance_metrics;
mod graph_search;
mod hybrid_search;
mod query_history;
mod read_code;
mod record_decision;
mod semantic_search;
mod two_histories;
mod window;
mod write_code;

#[cfg(test)]
mod tests;

use base::{Cursor, Error, Result, Timestamp};
use code::{CodeCoverage, CodePath, Codebase};
use schemars::JsonSchema;
use serde::Serialize;

use crate::tool::Call;

pub(crate) use analyze_dependencies::AnalyzeDependencies;
pub(crate) use get_context::GetContext;
pub(crate) use get_performance_metrics::GetPerformanceMetrics;
pub(crate) use graph_search::GraphSearch;
pub(crate) use hybrid_search::HybridSearch;
pub(crate) use query_history::QueryHistory;
pub(crate) use read_code::ReadCode;
pub(crate) use record_decision::RecordDecision;
pub(crate) use semantic_search::SemanticSearch;
pub(crate) use write_code::WriteCode;

impl Call<'_> {
    /// The code of the caller's project. A change through it is part of the call's audit entry.
    pub(crate) async fn code(&self) -> Result<Codebase<guard::Change>> {
        let root = self.permit.principal().project.as_ref().and_then(|project| project.root.clone());
        let code = self.services.code.of(self.permit.change().clone(), self.project()?, root.as_deref()).await?;
        code.settle().await?;
        Ok(code)
    }
}

/// A path from the arguments.
fn path(parameter: &str, text: &str) -> Result<CodePath> {
    CodePath::parse(text).map_err(|error| Error::invalid(parameter, error.message().to_owned()))
}

/// A time in RFC 3339.
fn time(parameter: &str, text: Option<&str>) -> Result<Option<Timestamp>> {
    crate::graph::time(parameter, text)
}

/// The place of a page in a list that is counted.
fn offset(cursor: Option<&str>) -> Result<usize> {
    cursor.map_or(Ok(0), |cursor| cursor.parse().map_err(|_| bad_cursor()))
}

/// The place of a page in a list that is ordered by time.
fn after(cursor: Option<&str>) -> Result<Option<Cursor>> {
    cursor.map(|cursor| Cursor::decode(cursor).ok_or_else(bad_cursor)).transpose()
}

fn bad_cursor() -> Error {
    Error::invalid("cursor", "invalid cursor; restart without one")
}

fn coverage(code: &Codebase<guard::Change>) -> Coverage {
    code.coverage().into()
}

/// How much of the project the answer covers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Coverage {
    /// Files of the project.
    files: u64,
    /// Files that are indexed.
    indexed: u64,
    /// Indexed files that could not be read or parsed. Their text is still searched where possible.
    failed: u64,
    /// Passages of these files.
    passages: u64,
    /// Passages that search by meaning covers.
    embedded: u64,
    /// Whether every file is indexed.
    complete: bool,
    /// Whether every known change is in the index.
    fresh: bool,
}

impl From<CodeCoverage> for Coverage {
    fn from(coverage: CodeCoverage) -> Self {
        let CodeCoverage { index, passages, embedded } = coverage;
        let (complete, fresh) = (index.is_complete, index.is_fresh);
        Self { files: index.files, indexed: index.indexed, failed: index.failed, passages, embedded, complete, fresh }
    }
}

/// A relationship between two files or symbols.
#[derive(Debug, Serialize, JsonSchema)]
struct Edge {
    from: String,
    to: String,
    /// `imports`, `exports`, `calls`, `extends` or `implements`.
    relationship: &'static str,
    /// `exact`, `heuristic`, `external` or `unresolved`.
    resolution: &'static str,
}

impl From<code::Edge> for Edge {
    fn from(edge: code::Edge) -> Self {
        let (relationship, resolution) = (edge.relationship.word(), edge.resolution.word());
        Self { from: edge.from, to: edge.to, relationship, resolution }
    }
}

/// How much work a walk was.
#[derive(Debug, Serialize, JsonSchema)]
struct Counters {
    nodes_visited: u64,
    edges_visited: u64,
    /// Operations on an ordered queue. A breadth-first walk needs none.
    queue_operations: u64,
}

impl From<code::WalkCounters> for Counters {
    fn from(counters: code::WalkCounters) -> Self {
        let code::WalkCounters { nodes, edges, queue_operations, .. } = counters;
        Self { nodes_visited: nodes, edges_visited: edges, queue_operations }
    }
}

fn yes() -> bool {
    true
}

fn five() -> u32 {
    5
}

fn ten() -> u32 {
    10
}

fn similarity() -> f64 {
    0.7
}
