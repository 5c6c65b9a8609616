//! Work that no call waits for: building indexes, making vectors and writing caches. The server runs it.

use std::sync::Arc;
use std::time::Duration;

use base::limits::{EMBED_PAUSE_FIRST_MS, EMBED_PAUSE_MAX_MS, INDEX_FLUSH_SECONDS};

use super::place::Place;
use super::{Codebases, Key};

/// Files whose passages are put again at once.
const FED_AT_ONCE: usize = 256;

/// The size of what is loaded on this node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeFigures {
    /// Loaded projects.
    pub projects: u64,
    /// Files of these projects.
    pub files: u64,
    /// Files that are indexed.
    pub indexed: u64,
    /// Passages that words find.
    pub passages: u64,
    /// Passages that wait for a vector.
    pub waiting: u64,
}

impl Codebases {
    /// Builds indexes, makes vectors and writes caches, until it is dropped.
    pub async fn run(&self) {
        tokio::join!(self.indexes.run(), self.embed(), self.keep_at_intervals());
    }

    /// Ends the work that is under way, and writes the caches. Call it on a blocking thread when the server stops.
    pub fn stop(&self) {
        self.indexes.stop();
        self.keep();
    }

    /// What is loaded.
    pub fn figures(&self) -> CodeFigures {
        let mut figures = CodeFigures::default();
        for (key, place) in self.loaded() {
            let Some(index) = self.indexes.loaded(key.0, key.1) else { continue };
            let (coverage, found) = (index.coverage(), place.finder.coverage());
            figures.projects += 1;
            figures.files += coverage.files;
            figures.indexed += coverage.indexed;
            figures.passages += found.passages as u64;
            figures.waiting += found.waiting as u64;
        }
        figures
    }

    /// Makes vectors of waiting passages, one batch of each project in turn.
    async fn embed(&self) {
        let mut pause = EMBED_PAUSE_FIRST_MS;
        loop {
            let mut made = 0;
            for (_, place) in self.loaded() {
                let finder = Arc::clone(&place.finder);
                match tokio::task::spawn_blocking(move || finder.embed_some()).await {
                    Ok(Ok(some)) => {
                        made += some;
                        pause = EMBED_PAUSE_FIRST_MS;
                    }
                    Ok(Err(error)) => {
                        tracing::debug!(%error, "passages of code wait for vectors");
                        tokio::time::sleep(Duration::from_millis(pause)).await;
                        pause = (pause * 2).min(EMBED_PAUSE_MAX_MS);
                    }
                    Err(error) => tracing::error!(%error, "making vectors of code failed"),
                }
            }
            if made == 0 {
                self.waiting.notified().await;
            }
        }
    }

    async fn keep_at_intervals(&self) {
        loop {
            tokio::time::sleep(Duration::from_secs(INDEX_FLUSH_SECONDS)).await;
            self.drop_unused();
            for (key, place) in self.loaded() {
                let Some(index) = self.indexes.loaded(key.0, key.1) else { continue };
                index.ask_to_feed(place.finder.files_to_put_again(FED_AT_ONCE));
                let is_complete = index.coverage().is_complete;
                let _late = tokio::task::spawn_blocking(move || tidy(&place, is_complete)).await;
            }
        }
    }

    /// Drops projects whose index was dropped because memory was short.
    fn drop_unused(&self) {
        self.places().retain(|key, place| self.indexes.loaded(key.0, key.1).is_some() || Arc::strong_count(place) > 1);
    }

    fn keep(&self) {
        self.indexes.keep();
        for (_, place) in self.loaded() {
            tidy(&place, false);
        }
    }

    fn loaded(&self) -> Vec<(Key, Arc<Place>)> {
        self.places().iter().map(|(key, place)| (*key, Arc::clone(place))).collect()
    }
}

/// Writes the words to disk. When every file was put once, words of files that are gone are removed.
fn tidy(place: &Place, is_complete: bool) {
    let done = if is_complete { place.finder.settle_once() } else { place.finder.tidy() };
    if let Err(error) = done {
        tracing::warn!(%error, "the words of code cannot be written");
    }
}
