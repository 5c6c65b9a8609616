//! Embedding of texts by the bundled model, or by a remote endpoint if the operator configured one.
//!
//! An endpoint may be down, slow, or answer nonsense. Then searches use keywords only, texts wait in their rows, and the server stays
//! ready. No call may wait longer than [`EMBED_QUERY_TIMEOUT_MS`], and no text may be lost.
//!
//! | module | contents |
//! |---|---|
//! | `queue` | the background task that embeds waiting texts |
//! | `endpoint` | an endpoint as an embedder, and its error recovery |
//! | `prefixes` | what a model expects before queries and texts |
//! | `wire` | one HTTP request and its answer: address, key, limits |
//! | `answer` | parsing of answers |
//! | `breaker` | the pause after a failure |
//!
//! [`EMBED_QUERY_TIMEOUT_MS`]: base::limits::EMBED_QUERY_TIMEOUT_MS

mod answer;
mod breaker;
mod endpoint;
mod prefixes;
mod queue;
mod wire;

use std::sync::Arc;

use base::Result;
use base::limits::{CODE_INDEX_BYTES_MAX, QUERY_VECTOR_CACHE_MAX};
use code::{Codebases, CodebasesConfig};
use knowledge::{Indexes, IndexesConfig};
use prometheus_client::metrics::counter::Counter;
use search::embed::{Cached, Embedder, MiniLm};
use tokio::sync::watch;

use crate::config::Config;
use crate::data_folder::DataFolder;
use endpoint::Endpoint;

pub use endpoint::{ask_embedder, remote_embedder};
pub(crate) use queue::run;

/// The indexes of this server: of what agents know, and of code. One embedder serves all orgs, and caches are in the data folder.
pub(crate) async fn indexes(
    config: &Config,
    folder: &DataFolder,
    failures: Counter,
    stopping: watch::Receiver<bool>,
) -> Result<(Indexes, Codebases)> {
    let embedder: Arc<dyn Embedder> = match &config.embed_endpoint {
        Some(named) => {
            let endpoint = Endpoint::connect(named, Some(folder), failures, Some(stopping)).await?;
            tracing::info!(model = endpoint.model(), "using a remote embedder");
            Arc::new(Cached::new(endpoint, QUERY_VECTOR_CACHE_MAX))
        }
        None => Arc::new(Cached::new(MiniLm::bundled()?, QUERY_VECTOR_CACHE_MAX)),
    };
    let words = Some(folder.cache().join("words"));
    let indexes =
        Indexes::new(IndexesConfig { folder: words, ..IndexesConfig::new(Arc::clone(&embedder), config.clock.clone()) });
    let codebases = Codebases::new(CodebasesConfig {
        folder: Some(folder.cache().join("code")),
        clock: config.clock.clone(),
        embedder,
        questions: Arc::clone(&indexes.questions),
        bytes_max: CODE_INDEX_BYTES_MAX,
    });
    Ok((indexes, codebases))
}
