//! `semantic_search`

use std::borrow::Cow;

use base::limits::{CODE_QUERY_CHARS_MAX, CODE_RESULTS_MAX};
use base::{Error, Result, Scope};
use code::{CodeHit, SemanticQuery};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use knowledge::rounded;

use super::{Coverage, offset, similarity, ten};
use crate::reply::Answer;
use crate::rows::one_line;
use crate::tool::{Call, Tool};

pub(crate) struct SemanticSearch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to look for, in plain words.
    #[schemars(length(min = 1, max = CODE_QUERY_CHARS_MAX))]
    query: String,
    /// The embedding model: `matryoshka` is the server's own, or one of the names in the error for an unknown model.
    #[serde(default = "matryoshka")]
    embedding_model: String,
    /// The number of dimensions to compare. Above the model's own, the model's own count, and the answer says so.
    #[serde(default = "dimension")]
    #[schemars(extend("enum" = [64, 128, 256, 512, 1024, 2048, 3072]))]
    embedding_dimension: u32,
    /// The maximum number of results in a page.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = CODE_RESULTS_MAX))]
    max_results: u32,
    /// The minimum similarity, from 0 to 1.
    #[serde(default = "similarity")]
    #[schemars(range(min = 0.0, max = 1.0))]
    similarity_threshold: f64,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

fn matryoshka() -> String {
    "matryoshka".to_owned()
}

fn dimension() -> u32 {
    1_024
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Most similar first.
    results: Vec<Hit>,
    /// The model that ran.
    embedding_model: String,
    /// The number of dimensions that were compared.
    embedding_dimension: u32,
    requested_dimension: u32,
    coverage: Coverage,
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
    /// From 0 to 1; from 0.7 on, a person would call them related.
    similarity: f64,
    /// The raw cosine of the model.
    cosine: f64,
    snippet: String,
}

impl Tool for SemanticSearch {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("semantic_search"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Search code by meaning"),
        description: Cow::Borrowed(
            "Finds the functions, classes and sections of the project whose meaning is nearest to a question, whatever words they use.",
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
        let model = code.model();
        if input.embedding_model != matryoshka() && input.embedding_model != model {
            let words =
                format!("there is no embedding model `{}`; use `matryoshka` or `{model}`", one_line(&input.embedding_model));
            return Err(Error::invalid("embedding_model", words).with("models", vec![matryoshka(), model]));
        }
        let asked = SemanticQuery {
            query: input.query,
            dimension: input.embedding_dimension as usize,
            threshold: input.similarity_threshold as f32,
            offset: offset(input.cursor.as_deref())?,
            limit: input.max_results as usize,
        };
        let found = code.semantic(asked).await?;
        let hit = |hit: CodeHit| Hit {
            path: hit.path.to_string(),
            start_line: hit.start_line,
            end_line: hit.end_line,
            symbol: hit.symbol.map(|symbol| symbol.to_string()),
            similarity: rounded(hit.similarity.unwrap_or_default()),
            cosine: rounded(hit.cosine.unwrap_or_default()),
            snippet: hit.snippet,
        };
        Answer::json(Output {
            results: found.hits.into_iter().map(hit).collect(),
            embedding_model: model,
            embedding_dimension: u32::try_from(found.dimension).unwrap_or(u32::MAX),
            requested_dimension: input.embedding_dimension,
            coverage: Coverage::from(found.coverage),
            next_cursor: found.next.map(|next| next.to_string()),
        })
    }
}
