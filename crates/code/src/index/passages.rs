//! The pieces of files that search finds. The index hands them out as files change.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};
use syntax::{Language, Outline, chunks};

/// Passages of one file.
const PASSAGES_MAX: usize = 5_000;

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its number. It depends on the path and the text alone: it stays while these stay, also when the index is made again, and no other
    /// passage of the project gets it. It has 63 bits.
    pub number: u64,
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line, included.
    pub end_line: u32,
    /// What it belongs to: the path and the symbols around it.
    pub title: String,
    /// What is searched: the title, then the lines.
    pub text: String,
    /// The SHA-256 of the text.
    pub hash: [u8; 32],
}

/// Whoever searches in passages. Calls come from several threads, those for one file one after the other.
pub trait PassageSink: Send + Sync {
    /// The passages of a file. They replace those that it had.
    fn put_file(&self, file: u32, path: &str, passages: Vec<Passage>);

    /// A file is gone.
    fn remove_file(&self, file: u32);
}

/// The passages of a text.
pub(crate) fn passages(language: Option<Language>, path: &str, text: &str, outline: Option<&Outline>) -> Vec<Passage> {
    let mut repeated: HashMap<[u8; 32], u32> = HashMap::new();
    let mut made = Vec::new();
    for chunk in chunks(language, path, text, outline).into_iter().take(PASSAGES_MAX) {
        let Some(body) = text.get(chunk.start as usize..chunk.end as usize) else { continue };
        let text = format!("{}\n{body}", chunk.title);
        let hash: [u8; 32] = Sha256::digest(&text).into();
        let before = repeated.entry(hash).or_default();
        let number = number(path, &hash, *before);
        *before += 1;
        let (start_line, end_line) = (chunk.start_line, chunk.end_line);
        made.push(Passage { number, start_line, end_line, title: chunk.title, text, hash });
    }
    made
}

/// The number of a passage. The chance that two passages of a large project share one is below one in a million.
fn number(path: &str, hash: &[u8; 32], before: u32) -> u64 {
    let mut digest = Sha256::new();
    digest.update(hash);
    digest.update(before.to_le_bytes());
    digest.update(path.as_bytes());
    let digest: [u8; 32] = digest.finalize().into();
    let first = digest.first_chunk::<8>().copied().unwrap_or_default();
    u64::from_le_bytes(first) >> 1
}
