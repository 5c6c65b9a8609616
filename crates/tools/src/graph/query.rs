//! `graph_query`

use base::limits::{GRAPH_HITS_MAX, QUERY_CHARS_MAX};
use base::{Result, Scope};
use guard::{Capability, Effect, Spec};
use knowledge::{GraphQuery, GraphRanking};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Triplet, read_aloud, time};
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct Query;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Input {
    /// What you want to know, in your own words.
    #[schemars(length(min = 1, max = QUERY_CHARS_MAX))]
    query: String,
    /// How many triplets at most.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = GRAPH_HITS_MAX))]
    top_k: u32,
    /// How many hops are walked from what the words and the meaning find.
    #[serde(default = "two")]
    #[schemars(range(min = 0, max = 4))]
    neighborhood_depth: u32,
    /// The graph as it was known at this time, in RFC 3339.
    as_of: Option<String>,
}

fn ten() -> u32 {
    10
}

fn two() -> u32 {
    2
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Best first.
    triplets: Vec<Triplet>,
    /// Whether a hub was not walked in all directions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
}

impl Tool for Query {
    const SPEC: Spec = Spec {
        name: "graph_query",
        title: "Ask the knowledge graph",
        description: "Finds facts about this project that answer a question: by words and by meaning, and then by what lies \
                      around what was found. Each fact is a triplet of source, relationship and target, with who stated it.",
        scope: Scope::GraphRead,
        needs: Capability::Graph,
        effect: Effect::ReadOnly,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let (graph, _) = call.graph()?;
        let asked = GraphQuery {
            query: input.query,
            top_k: input.top_k as usize,
            depth: input.neighborhood_depth,
            as_of: time("asOf", input.as_of.as_deref())?,
            ranking: GraphRanking::default(),
        };
        let found = graph.query(&call.services.indexes, asked).await?;
        let triplets: Vec<Triplet> = found.hits.into_iter().map(Triplet::scored).collect();
        let text = match (triplets.len(), found.coverage.waiting) {
            (0, 0) => "Nothing in the graph matches.".to_owned(),
            (0, waiting) => format!("Nothing in the graph matches yet; {waiting} text(s) of it are not known by meaning so far."),
            (some, _) => format!("{some} fact(s), quoted: agents stated them.\n{}", read_aloud(&triplets)),
        };
        Ok(Answer::new(text, Output { triplets, truncated: found.truncated }))
    }
}
