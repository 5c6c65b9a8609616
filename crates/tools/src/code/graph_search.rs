//! `graph_search`

use std::borrow::Cow;

use base::limits::{CODE_DEPTH_MAX, CODE_NODES_DEFAULT, CODE_NODES_MAX, CODE_START_NODES_MAX};
use base::{Result, Scope};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Counters, Coverage, Edge, coverage, five, offset};
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct GraphSearch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Where to start: files (`src/a.rs`) and symbols (`src/a.rs#Parser.next`).
    #[schemars(length(min = 1, max = CODE_START_NODES_MAX))]
    start_nodes: Vec<String>,
    /// The relationships to follow. All by default.
    relationship_types: Option<Vec<Relationship>>,
    /// The maximum number of hops.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = CODE_DEPTH_MAX))]
    max_depth: u32,
    /// The traversal algorithm. All of them find the same depths.
    #[serde(default)]
    algorithm: Algorithm,
    /// Follow relationships forward (what a node uses), backward (what uses it), or both.
    #[serde(default)]
    direction: Direction,
    /// The maximum number of nodes in a page.
    #[schemars(range(min = 1, max = CODE_NODES_MAX))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Relationship {
    Imports,
    Exports,
    Calls,
    Extends,
    Implements,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Algorithm {
    #[default]
    Fre,
    Dijkstra,
    Bfs,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    Forward,
    Backward,
    #[default]
    Both,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Nearest first.
    nodes: Vec<Node>,
    /// The relationships between the nodes of this page and nodes before them.
    edges: Vec<Edge>,
    /// The engine that ran.
    engine: &'static str,
    counters: Counters,
    coverage: Coverage,
    /// The walk stopped at its limit: there are more nodes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Node {
    /// `path`, `path#symbol`, or the name of a package outside the project.
    id: String,
    /// `file`, `package`, or what the symbol is: `function`, `class`, …
    kind: &'static str,
    path: String,
    /// The number of hops from the nearest start node.
    depth: u32,
}

impl Tool for GraphSearch {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("graph_search"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Walk the code graph"),
        description: Cow::Borrowed(
            "Walks from files and symbols along imports, exports, calls, base classes and implementations, and lists what it reaches, \
             nearest first.",
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
        let relationship = |relationship: Relationship| match relationship {
            Relationship::Imports => code::Relationship::Imports,
            Relationship::Exports => code::Relationship::Exports,
            Relationship::Calls => code::Relationship::Calls,
            Relationship::Extends => code::Relationship::Extends,
            Relationship::Implements => code::Relationship::Implements,
        };
        let asked = code::GraphSearch {
            start_nodes: input.start_nodes,
            relationships: input.relationship_types.unwrap_or_default().into_iter().map(relationship).collect(),
            max_depth: input.max_depth,
            algorithm: match input.algorithm {
                Algorithm::Fre => code::Algorithm::Fre,
                Algorithm::Dijkstra => code::Algorithm::Dijkstra,
                Algorithm::Bfs => code::Algorithm::Bfs,
            },
            direction: match input.direction {
                Direction::Forward => code::Direction::Out,
                Direction::Backward => code::Direction::In,
                Direction::Both => code::Direction::Both,
            },
            limit: input.limit.unwrap_or(CODE_NODES_DEFAULT) as usize,
            cursor: Some(u32::try_from(offset(input.cursor.as_deref())?).unwrap_or(u32::MAX)),
        };
        let found = code.ask(None, move |snapshot| snapshot.graph_search(&asked)).await?;
        let node = |node: code::FoundNode| Node { id: node.id, kind: node.kind, path: node.path, depth: node.depth };
        Answer::json(Output {
            nodes: found.nodes.into_iter().map(node).collect(),
            edges: found.edges.into_iter().map(Edge::from).collect(),
            engine: found.engine,
            counters: found.counters.into(),
            coverage: coverage(&code),
            truncated: found.is_cut,
            next_cursor: found.next.map(|next| next.to_string()),
        })
    }
}
