//! `analyze_dependencies`

use std::borrow::Cow;

use base::limits::{CODE_DEPTH_MAX, CODE_EDGES_DEFAULT, CODE_EDGES_MAX};
use base::{Result, Scope};
use code::Analysis;
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Counters, Coverage, Edge, coverage, five, offset, path};
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct AnalyzeDependencies;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file to start from, relative to the project's root.
    path: String,
    /// What to find: files that it imports, names that it exports, import cycles through it, files that a change of it affects, or all.
    #[serde(default)]
    analysis_type: AnalysisType,
    /// The maximum number of imports to follow.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = CODE_DEPTH_MAX))]
    max_depth: u32,
    /// Include packages outside the project.
    #[serde(default)]
    include_external: bool,
    /// The traversal algorithm. All of them find the same distances.
    #[serde(default)]
    algorithm: Algorithm,
    /// The maximum number of edges in a page.
    #[schemars(range(min = 1, max = CODE_EDGES_MAX))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AnalysisType {
    Imports,
    Exports,
    Circular,
    Impact,
    #[default]
    Full,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Algorithm {
    #[default]
    Fre,
    Dijkstra,
    Dfs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    path: String,
    /// Files, and with `include_external` packages, that the file imports.
    #[serde(skip_serializing_if = "Option::is_none")]
    imports: Option<Vec<String>>,
    /// Names that other files can import.
    #[serde(skip_serializing_if = "Option::is_none")]
    exports: Option<Vec<String>>,
    /// Import cycles through the file: groups of files that all reach each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    circular: Option<Vec<Vec<String>>>,
    /// Files that a change of this file may affect, nearest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    impact: Option<Vec<Impact>>,
    edges: Vec<Edge>,
    /// The number of all edges, on all pages.
    edge_count: usize,
    /// The engine that ran.
    engine: &'static str,
    counters: Counters,
    coverage: Coverage,
    /// A limit left something out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Impact {
    path: String,
    /// How many imports lie between the two files.
    distance: u32,
}

impl Tool for AnalyzeDependencies {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("analyze_dependencies"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Analyze dependencies of a file"),
        description: Cow::Borrowed(
            "Shows what a file imports and exports, the import cycles that it is part of, and the files that a change of it may affect. Each \
             edge says how certain it is.",
        ),
        scope: Scope::CodeRead,
        needs: Capability::Code,
        effect: Effect::ReadOnly,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let code = call.code().await?;
        let analysis = match input.analysis_type {
            AnalysisType::Imports => Analysis::Imports,
            AnalysisType::Exports => Analysis::Exports,
            AnalysisType::Circular => Analysis::Circular,
            AnalysisType::Impact => Analysis::Impact,
            AnalysisType::Full => Analysis::Full,
        };
        let algorithm = match input.algorithm {
            Algorithm::Fre => code::Algorithm::Fre,
            Algorithm::Dijkstra => code::Algorithm::Dijkstra,
            Algorithm::Dfs => code::Algorithm::Dfs,
        };
        let file = code.real(&path("path", &input.path)?).await?;
        let (asked, depth, external) = (file.clone(), input.max_depth, input.include_external);
        let found =
            code.ask(Some(&file), move |snapshot| snapshot.analyze(asked.as_str(), analysis, depth, external, algorithm)).await?;
        let first = offset(input.cursor.as_deref())?;
        let limit = input.limit.unwrap_or(CODE_EDGES_DEFAULT) as usize;
        let edge_count = found.edges.len();
        let edges: Vec<Edge> = found.edges.into_iter().skip(first).take(limit).map(Edge::from).collect();
        let end = first.saturating_add(edges.len());
        let is = |one: Analysis| analysis == one || analysis == Analysis::Full;
        let impact = |far: code::FarFile| Impact { path: far.path, distance: far.distance };
        Answer::json(Output {
            path: file.as_str().to_owned(),
            imports: is(Analysis::Imports).then(|| found.imports.into_iter().map(|far| far.path).collect()),
            exports: is(Analysis::Exports).then_some(found.exports),
            circular: is(Analysis::Circular).then_some(found.circular),
            impact: is(Analysis::Impact).then(|| found.impact.into_iter().map(impact).collect()),
            edges,
            edge_count,
            engine: found.engine,
            counters: found.counters.into(),
            coverage: coverage(&code),
            truncated: found.is_cut,
            next_cursor: (end < edge_count).then(|| end.to_string()),
        })
    }
}
