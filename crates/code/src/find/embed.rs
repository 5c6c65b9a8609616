//! Makes the vectors of waiting passages in the background.

use std::sync::Arc;

use base::{Error, Result};
use search::background::{spread, threads};
use search::embed::Embedding;

use super::finder::Finder;
use super::queue::Waiting;

/// The number of texts of one request to another machine.
const BATCH_REMOTE: usize = 16;
/// The number of texts per thread of the bundled model. It bounds the work lost in a crash.
const BATCH_PER_THREAD: usize = 16;

impl Finder {
    /// Makes vectors for some of the waiting passages and returns how many left the queue. Call it on a blocking thread until it returns
    /// zero. After an error the passages are in the queue again.
    pub(crate) fn embed_some(&self) -> Result<usize> {
        let threads = threads();
        let most = if self.embedder.is_remote() { BATCH_REMOTE } else { BATCH_PER_THREAD * threads };
        let waiting = self.take_waiting(most);
        let texts: Vec<&str> = waiting.iter().map(|waiting| &*waiting.text).collect();
        if texts.is_empty() {
            return Ok(0);
        }
        let made = match self.embedder.is_remote() {
            true => self.embedder.embed_texts(&texts),
            false => spread(self.embedder.as_ref(), &texts, threads, &Arc::clone(&self.questions)),
        };
        let made = made.and_then(|made| match made.len() == texts.len() {
            true => Ok(made),
            false => Err(Error::internal(format!("the embedder returned {} vectors for {} texts", made.len(), texts.len()))),
        });
        match made {
            Ok(made) => {
                self.keep_vectors(&waiting, &made);
                Ok(waiting.len())
            }
            Err(error) => {
                self.put_back(waiting);
                Err(error)
            }
        }
    }

    fn keep_vectors(&self, waiting: &[Waiting], made: &[Option<Embedding>]) {
        if let Some(pack) = &self.pack {
            let records: Vec<_> = waiting
                .iter()
                .zip(made)
                .filter_map(|(waiting, made)| Some((pack.key(&waiting.text), made.as_deref()?)))
                .collect();
            if let Err(error) = pack.put(&records) {
                tracing::warn!(%error, "vectors of code cannot be kept on disk; they are made again after a restart");
            }
        }
        let refused = made.iter().filter(|made| made.is_none()).count();
        if refused > 0 {
            tracing::debug!(refused, "the embedder refuses passages; only words find them");
        }
        self.with_state(|state| {
            state.in_work = state.in_work.saturating_sub(waiting.len());
            for (waiting, made) in waiting.iter().zip(made) {
                // It may be gone or embedded by now.
                if let Some(vector) = made.as_deref().filter(|_| state.catalogue.entry(waiting.id).is_some()) {
                    state.vectors.upsert(waiting.id, vector);
                }
            }
        });
    }

    fn take_waiting(&self, most: usize) -> Vec<Waiting> {
        self.with_state(|state| {
            let taken = state.queue.take(most);
            state.in_work += taken.len();
            taken
        })
    }

    fn put_back(&self, waiting: Vec<Waiting>) {
        self.with_state(|state| {
            state.in_work = state.in_work.saturating_sub(waiting.len());
            for one in waiting {
                if state.catalogue.entry(one.id).is_some() {
                    state.queue.push(one);
                }
            }
        });
    }
}
