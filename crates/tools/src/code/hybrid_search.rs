//! `hybrid_search`

use std::borrow::Cow;

use base::limits::{CODE_QUERY_CHARS_MAX, CODE_RESULTS_MAX, CODE_WINDOW_MS_MAX};
use base::{Result, Scope};
use code::{CodeHit, HybridQuery};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use knowledge::rounded;

use super::window::window_ms;
use super::{Coverage, offset, similarity, ten};
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct HybridSearch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to look for: plain words, identifiers or both.
    #[schemars(length(min = 1, max = CODE_QUERY_CHARS_MAX))]
    query: String,
    /// The maximum number of results in a page.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = CODE_RESULTS_MAX))]
    max_results: u32,
    /// The signals to add to keywords: meaning, neighbours in the graph, imports, and recent changes.
    #[serde(default = "semantic_and_graph")]
    search_types: Vec<SearchType>,
    /// The minimum similarity of a result that only its meaning finds, from 0 to 1.
    #[serde(default = "similarity")]
    #[schemars(range(min = 0.0, max = 1.0))]
    semantic_threshold: f64,
    /// Only files that changed within this time, such as `15m`, `1h`, `1d` or `1w`.
    time_range: Option<String>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchType {
    Semantic,
    Graph,
    Dependency,
    Temporal,
}

fn semantic_and_graph() -> Vec<SearchType> {
    vec![SearchType::Semantic, SearchType::Graph]
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Best first.
    results: Vec<Hit>,
    coverage: Coverage,
    /// The query got no vector, so only the other signals count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    words_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hit {
    path: String,
    start_line: u32,
    end_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
    snippet: String,
    score: f64,
    signals: Signals,
}

/// The parts of the score.
#[derive(Debug, Serialize, JsonSchema)]
struct Signals {
    keyword: f64,
    identifier: f64,
    semantic: f64,
    graph: f64,
    dependency: f64,
    temporal: f64,
    /// The calibrated similarity, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    /// The raw cosine of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    cosine: Option<f64>,
}

impl Tool for HybridSearch {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("hybrid_search"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Search code"),
        description: Cow::Borrowed(
            "Finds the functions, classes and sections of the project that answer a question. It joins keywords, exact identifiers and \
             meaning, and on request the code graph, imports and recent changes.",
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
        let has = |one: SearchType| input.search_types.contains(&one);
        let changed_since =
            input.time_range.as_deref().map(|range| window_ms("time_range", range, CODE_WINDOW_MS_MAX)).transpose()?;
        let asked = HybridQuery {
            semantic: has(SearchType::Semantic),
            graph: has(SearchType::Graph),
            dependency: has(SearchType::Dependency),
            temporal: has(SearchType::Temporal),
            threshold: input.semantic_threshold as f32,
            changed_since: changed_since.map(|ms| call.services.clock.now().plus_ms(-ms)),
            offset: offset(input.cursor.as_deref())?,
            limit: input.max_results as usize,
            query: input.query,
        };
        let found = code.hybrid(asked).await?;
        Answer::json(Output {
            results: found.hits.into_iter().map(Hit::from).collect(),
            coverage: Coverage::from(found.coverage),
            words_only: found.words_only,
            next_cursor: found.next.map(|next| next.to_string()),
        })
    }
}

impl From<CodeHit> for Hit {
    fn from(hit: CodeHit) -> Self {
        let signals = Signals {
            keyword: rounded(hit.signals.keyword),
            identifier: rounded(hit.signals.identifier),
            semantic: rounded(hit.signals.semantic),
            graph: rounded(hit.signals.graph),
            dependency: rounded(hit.signals.dependency),
            temporal: rounded(hit.signals.temporal),
            similarity: hit.similarity.map(rounded),
            cosine: hit.cosine.map(rounded),
        };
        Self {
            path: hit.path.to_string(),
            start_line: hit.start_line,
            end_line: hit.end_line,
            symbol: hit.symbol.map(|symbol| symbol.to_string()),
            snippet: hit.snippet,
            score: rounded(hit.score),
            signals,
        }
    }
}
