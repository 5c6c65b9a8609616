//! Embeds texts on several threads that use idle processors and give way to questions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::{Error, Result};

use super::questions::{Piece, Questions};
use crate::embed::{Embedder, Embedding, giving_way};

/// The maximum number of threads that embed.
const THREADS_MAX: usize = 8;

/// The number of threads that a local model should use: one per processor, up to a limit.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX)
}

/// The vectors of texts, in order, made on up to `threads` threads. A text that the model refuses has none.
///
/// The threads have the lowest priority and pause while there are questions. Call it on a blocking thread.
pub fn spread(
    embedder: &dyn Embedder,
    texts: &[&str],
    threads: usize,
    questions: &Arc<Questions>,
) -> Result<Vec<Option<Embedding>>> {
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(texts.len())));
    let work = || -> Result<()> {
        yield_to_other_threads();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(place) else { return Ok(()) };
            let piece = Piece::new(questions, texts.len());
            piece.give_way();
            let vector = giving_way(move || piece.give_way(), || embedder.embed_texts(&[*text]))?.pop().flatten();
            made.lock().unwrap_or_else(PoisonError::into_inner).push((place, vector));
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.min(texts.len())).map(|_| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(|thread| thread.join().map_err(|_| Error::internal("embedding a text panicked"))?);
        ended.collect::<Result<()>>()
    })?;
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|(place, _)| *place);
    Ok(made.into_iter().map(|(_, vector)| vector).collect())
}

/// Gives this thread the lowest priority, so that it runs when no other thread wants to. A thread that cannot get it still gives way
/// to questions.
fn yield_to_other_threads() {
    // On Linux, niceness belongs to a thread. Elsewhere it belongs to the process, so it stays.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refuses texts that start with `no`.
    struct Choosy;

    impl Embedder for Choosy {
        fn model(&self) -> &str {
            "choosy"
        }

        fn dimension(&self) -> usize {
            2
        }

        fn embed_query(&self, _: &str) -> Result<Embedding> {
            Ok(Embedding::new(vec![1.0, 0.0]))
        }

        fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>> {
            let vector = |text: &&str| (!text.starts_with("no")).then(|| Embedding::new(vec![text.len() as f32, 1.0]));
            Ok(texts.iter().map(vector).collect())
        }
    }

    #[test]
    fn spread_texts_keep_their_order() {
        let (questions, texts) = (Arc::default(), ["a", "no", "ccc", "dd", "nope", "e"]);
        let alone = Choosy.embed_texts(&texts).unwrap();
        for threads in 1..=8 {
            assert_eq!(spread(&Choosy, &texts, threads, &questions).unwrap(), alone);
        }
        assert!(spread(&Choosy, &[], 2, &questions).unwrap().is_empty());
    }
}
