//! The embedder of an evaluation: the bundled model, or the user's endpoint.

use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use search::embed::{Cached, Embedder, Embedding, MiniLm};
use server::EmbedEndpoint;

/// Size of the cache for question vectors: each question is asked once per search mode.
const QUESTIONS_REMEMBERED: usize = 100_000;

/// An embedder that remembers its first failure with a question. Such a question is answered by keywords only, which would falsify
/// the figures without anyone noticing.
pub(super) struct Watched {
    embedder: Box<dyn Embedder>,
    failure: Mutex<Option<String>>,
}

impl Watched {
    /// The endpoint's embedder, or the bundled one without an endpoint.
    pub(super) async fn new(endpoint: Option<&EmbedEndpoint>) -> Result<Self> {
        let embedder: Box<dyn Embedder> = match endpoint {
            Some(endpoint) => Box::new(Cached::new(server::remote_embedder(endpoint).await?, QUESTIONS_REMEMBERED)),
            None => Box::new(Cached::new(MiniLm::bundled()?, QUESTIONS_REMEMBERED)),
        };
        Ok(Self { embedder, failure: Mutex::default() })
    }

    /// Fails if a question got no vector.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(why) => bail!("the embedder failed for a question ({why}); correct the cause and measure again"),
            None => Ok(()),
        }
    }
}

impl Embedder for Watched {
    fn model(&self) -> &str {
        self.embedder.model()
    }

    fn dimension(&self) -> usize {
        self.embedder.dimension()
    }

    fn is_remote(&self) -> bool {
        self.embedder.is_remote()
    }

    fn embed_query(&self, query: &str) -> base::Result<Embedding> {
        self.embedder.embed_query(query).inspect_err(|error| {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert_with(|| error.log().unwrap_or_else(|| error.message()).to_owned());
        })
    }

    fn embed_texts(&self, texts: &[&str]) -> base::Result<Vec<Option<Embedding>>> {
        self.embedder.embed_texts(texts).map_err(|error| {
            // The user of a command sees the cause, which a server only logs.
            let why = error.log().unwrap_or_else(|| error.message()).to_owned();
            base::Error::new(error.kind(), format!("the embedder failed: {why}"))
        })
    }
}
