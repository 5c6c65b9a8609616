//! A remote endpoint as an embedder, and how it recovers from errors.
//!
//! An answer without vectors may be caused by a text (too long for the model) or by the endpoint (broken, misconfigured). A probe with
//! one simple word decides. If the probe works, the texts are sent one by one, shortened step by step, and a text that is refused even
//! then is skipped. If the probe fails, all texts wait until the endpoint works again.

use std::time::{Duration, Instant};

use base::limits::{
    EMBED_BATCH_TIMEOUT_MS, EMBED_CHARS_MAX, EMBED_DIMENSION_MAX, EMBED_QUERY_TIMEOUT_MS, EMBED_START_TIMEOUT_MS,
};
use base::{Error, Kind, Result};
use prometheus_client::metrics::counter::Counter;
use search::embed::{Embedder, Embedding};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::breaker::Breaker;
use super::prefixes::{Prefix, Prefixes};
use super::wire::{Failure, Wire};
use crate::config::EmbedEndpoint;
use crate::data_folder::DataFolder;

/// A word that every model can embed.
const PROBE: &str = "memory";
/// How much to send of a refused text, in decreasing order. The last size fits every model.
const CUTS: [usize; 3] = [EMBED_CHARS_MAX, EMBED_CHARS_MAX / 4, EMBED_CHARS_MAX / 16];

/// The error's `reason` if the endpoint is unavailable. The breaker has already logged it.
pub(super) const AWAY: &str = "embedder_away";

const QUERY_PATIENCE: Duration = Duration::from_millis(EMBED_QUERY_TIMEOUT_MS);
const BATCH_PATIENCE: Duration = Duration::from_millis(EMBED_BATCH_TIMEOUT_MS);
const START_PATIENCE: Duration = Duration::from_millis(EMBED_START_TIMEOUT_MS);

/// An embedder behind an OpenAI-compatible HTTP endpoint.
pub(super) struct Endpoint {
    wire: Wire,
    prefixes: Prefixes,
    /// The model, its location, its dimension and its prefix of texts. Vectors with the same name are comparable.
    model: String,
    dimension: usize,
    breaker: Breaker,
    /// The server's runtime, which runs the requests for any calling thread.
    runtime: Handle,
    /// Ends waiting when the server stops. Outside a server, nothing does.
    stopping: Option<watch::Receiver<bool>>,
}

impl Endpoint {
    /// Creates an endpoint. Its dimension comes from the operator, from the endpoint, or from the last start.
    pub(super) async fn connect(
        named: &EmbedEndpoint,
        folder: Option<&DataFolder>,
        failures: Counter,
        stopping: Option<watch::Receiver<bool>>,
    ) -> Result<Self> {
        let (wire, prefixes) = (Wire::new(named)?, Prefixes::new(named)?);
        let dimension = match named.dimension {
            Some(dimension) => dimension.get() as usize,
            None => learn(&wire, prefixes.text(), folder).await?,
        };
        let model = prefixes.stored_name(&wire.name(), dimension);
        Ok(Self { wire, prefixes, model, dimension, breaker: Breaker::new(failures), runtime: Handle::current(), stopping })
    }

    /// Blocks until the request is done, and reports the result to the breaker.
    fn drive<T>(&self, asking: impl Future<Output = Result<T, String>>) -> Result<T> {
        let stopping = self.stopping.clone();
        let stopped = async {
            match stopping {
                Some(mut stopping) => drop(stopping.wait_for(|stopping| *stopping).await),
                None => std::future::pending().await,
            }
        };
        let outcome = self.runtime.block_on(async {
            tokio::select! {
                outcome = asking => Some(outcome),
                () = stopped => None,
            }
        });
        match outcome {
            Some(Ok(made)) => {
                self.breaker.worked(&self.model);
                Ok(made)
            }
            Some(Err(why)) => {
                self.breaker.failed(&self.model, &why, Instant::now());
                Err(unusable(why))
            }
            None => Err(unusable("the server is stopping".to_owned())),
        }
    }

    /// The vectors of several texts, in one request if possible.
    async fn many(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>, String> {
        let prefix = self.prefixes.text();
        let short: Vec<_> = texts.iter().map(|text| prefix.before(cut(text, EMBED_CHARS_MAX))).collect();
        match self.wire.ask(&short, Some(self.dimension), BATCH_PATIENCE).await {
            Ok(vectors) => return Ok(vectors.into_iter().map(Some).collect()),
            Err(Failure::Down(why)) => return Err(why),
            // A slow machine may manage a single text where it cannot manage a batch.
            Err(failure @ (Failure::Answered(_) | Failure::Late(_))) => self.probe(prefix, failure, BATCH_PATIENCE).await?,
        }
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.push(self.one(prefix, text, BATCH_PATIENCE).await?);
        }
        Ok(vectors)
    }

    /// The vector of one query or text, shortened if necessary. `None` if the endpoint refuses even the shortest form.
    async fn one(&self, prefix: &Prefix, text: &str, patience: Duration) -> Result<Option<Embedding>, String> {
        let mut refusal = None;
        for characters in CUTS {
            match self.wire.ask(&[prefix.before(cut(text, characters))], Some(self.dimension), patience).await {
                Ok(vectors) => return Ok(vectors.into_iter().next()),
                Err(refused @ Failure::Answered(_)) => refusal = Some(refused),
                Err(failure) => return Err(failure.why()),
            }
        }
        if let Some(refusal) = refusal {
            self.probe(prefix, refusal, patience).await?;
        }
        Ok(None)
    }

    /// Finds out whether the texts caused a failure: they did if the endpoint embeds a simple word. Otherwise this is an outage.
    async fn probe(&self, prefix: &Prefix, failure: Failure, patience: Duration) -> Result<(), String> {
        match self.wire.ask(&[prefix.before(PROBE)], Some(self.dimension), patience).await {
            Ok(_) => {
                tracing::debug!(model = self.model, why = failure.why(), "texts refused; sending them one by one, shortened");
                Ok(())
            }
            Err(Failure::Down(why)) => Err(why),
            Err(Failure::Answered(_) | Failure::Late(_)) => Err(failure.why()),
        }
    }
}

impl Embedder for Endpoint {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn embed_query(&self, query: &str) -> Result<Embedding> {
        if !self.breaker.admits(Instant::now()) {
            return Err(unusable("it failed recently".to_owned()));
        }
        let vector = self.drive(async {
            // One time limit for all attempts, including the shortened ones.
            let asking = tokio::time::timeout(QUERY_PATIENCE, self.one(self.prefixes.query(), query, QUERY_PATIENCE));
            asking.await.unwrap_or_else(|_| Err(format!("no answer within {} s", QUERY_PATIENCE.as_secs())))
        })?;
        vector.ok_or_else(|| Error::invalid("query", "the embedder refused this text"))
    }

    fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>> {
        self.drive(self.many(texts))
    }
}

/// The first characters of a text.
fn cut(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

fn unusable(why: String) -> Error {
    Error::new(Kind::Unavailable, "embedder unavailable; retry later").with("reason", AWAY).logged(why)
}

/// Finds the length of the vectors. It is asked at every start, because the model behind a name may change, and stored, because the
/// next start must not depend on the endpoint.
async fn learn(wire: &Wire, prefix: &Prefix, folder: Option<&DataFolder>) -> Result<usize> {
    let known = folder.and_then(|folder| folder.embed_dimension(&wire.name()));
    let patience = if known.is_some() { QUERY_PATIENCE } else { START_PATIENCE };
    match (asked(wire, prefix, patience).await, known) {
        (Ok(dimension), _) => {
            folder.map_or(Ok(()), |folder| folder.remember_embed_dimension(&wire.name(), dimension))?;
            Ok(dimension)
        }
        (Err(why), Some(known)) => {
            tracing::warn!(model = wire.name(), why, "embedder unavailable; using the vector length of the last start");
            Ok(known)
        }
        (Err(why), None) => Err(Error::new(
            Kind::Unavailable,
            format!(
                "cannot ask the embedder {} for the length of its vectors ({why}); start it, correct --embed-url, \
                 or set the length with --embed-dimension",
                wire.name()
            ),
        )),
    }
}

async fn asked(wire: &Wire, prefix: &Prefix, patience: Duration) -> Result<usize, String> {
    let vectors = wire.ask(&[prefix.before(PROBE)], None, patience).await.map_err(Failure::why)?;
    match vectors.first().map_or(0, |vector| vector.len()) {
        dimension if dimension > EMBED_DIMENSION_MAX => {
            Err(format!("its vectors have {dimension} numbers; at most {EMBED_DIMENSION_MAX} are supported"))
        }
        dimension => Ok(dimension),
    }
}

/// The embedder behind an endpoint, for work outside a server. Call its methods on a blocking thread of this runtime.
pub async fn remote_embedder(endpoint: &EmbedEndpoint) -> Result<impl Embedder + use<>> {
    Endpoint::connect(endpoint, None, Counter::default(), None).await
}

/// Asks an endpoint for a vector and returns the name that its vectors are stored under.
pub async fn ask_embedder(endpoint: &EmbedEndpoint) -> Result<String> {
    let (wire, prefixes) = (Wire::new(endpoint)?, Prefixes::new(endpoint)?);
    let dimension = asked(&wire, prefixes.text(), START_PATIENCE).await.map_err(|why| Error::new(Kind::Unavailable, why))?;
    match endpoint.dimension.map(|dimension| dimension.get() as usize) {
        Some(said) if said != dimension => Err(Error::new(
            Kind::Unavailable,
            format!("its vectors have {dimension} numbers instead of {said}; correct --embed-dimension"),
        )),
        _ => Ok(prefixes.stored_name(&wire.name(), dimension)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        for (text, characters, expected) in
            [("abc", 2, "ab"), ("abc", 3, "abc"), ("abc", 9, "abc"), ("äöü", 2, "äö"), ("", 1, "")]
        {
            assert_eq!(cut(text, characters), expected);
        }
    }
}
