//! What makes vectors of texts: the bundled model, or an endpoint elsewhere if the operator named one.
//!
//! An endpoint may be down, slow, or talk nonsense. Then questions are answered by their words, texts wait in their rows, and the
//! server is as ready as before: nothing here may hold up a call for longer than [`EMBED_QUERY_TIMEOUT_MS`], or lose a text.
//!
//! | room | holds |
//! |---|---|
//! | `queue` | the task that embeds what waits |
//! | `endpoint` | an endpoint as an embedder: which texts are sent, and whose fault it is if there are no vectors |
//! | `wire` | one request and its answer: address, key, limits |
//! | `answer` | what an answer must look like |
//! | `breaker` | how long an endpoint that failed is left alone |
//!
//! [`EMBED_QUERY_TIMEOUT_MS`]: base::limits::EMBED_QUERY_TIMEOUT_MS

mod answer;
mod breaker;
mod endpoint;
mod queue;
mod wire;

use std::sync::Arc;

use base::Result;
use base::limits::QUERY_VECTOR_CACHE_MAX;
use knowledge::{Indexes, IndexesConfig};
use prometheus_client::metrics::counter::Counter;
use search::embed::{Cached, Embedder, MiniLm};
use tokio::sync::watch;

use crate::config::Config;
use crate::data_folder::DataFolder;
use endpoint::Endpoint;

pub use endpoint::ask_embedder;
pub(crate) use queue::run;

/// The indexes of this server: one embedder for all, and word caches in the data folder.
pub(crate) async fn indexes(
    config: &Config,
    folder: &DataFolder,
    failures: Counter,
    stopping: watch::Receiver<bool>,
) -> Result<Indexes> {
    let embedder: Arc<dyn Embedder> = match &config.embed_endpoint {
        Some(named) => {
            let endpoint = Endpoint::connect(named, folder, failures, stopping).await?;
            tracing::info!(model = endpoint.model(), "texts are embedded by an endpoint");
            Arc::new(Cached::new(endpoint, QUERY_VECTOR_CACHE_MAX))
        }
        None => Arc::new(Cached::new(MiniLm::bundled()?, QUERY_VECTOR_CACHE_MAX)),
    };
    let config =
        IndexesConfig { folder: Some(folder.cache().join("words")), ..IndexesConfig::new(embedder, config.clock.clone()) };
    Ok(Indexes::new(config))
}
