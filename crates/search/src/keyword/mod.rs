//! Items that hold the words of a question, best first by BM25.
//!
//! A [`KeywordIndex`] is a cache of rows that are elsewhere. What is written goes to a *tail* in memory and is found by the next
//! query; [`KeywordIndex::flush`], which the caller runs from a thread of its own, commits the tail to a tantivy index in a folder,
//! together with the position up to which it is complete. After a crash, or when the folder turns out to be missing, broken or of
//! another version, [`KeywordIndex::open`] says from which position to replay the rows.
//!
//! Tail and committed documents are scored by one set of statistics, so an item's score does not jump when it is
//! committed. An index that is not being flushed has no thread and no open writer: it may be dropped and opened again at will.
//!
//! It must never be asked for the truth: nothing is stored here but words and ids.

mod analysis;
mod cache;
mod directory;
mod fold;
mod index;
mod query;
mod stem;
mod stop;
mod tail;
#[cfg(test)]
mod tests;
mod words;

pub use cache::Recovery;
pub use index::KeywordIndex;

/// What can go wrong with the cache. Rows are never at stake.
#[derive(Debug, thiserror::Error)]
pub enum KeywordError {
    /// The folder cannot be made, read or emptied. [`KeywordIndex::in_memory`] does without one.
    #[error("the folder of the keyword index cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    /// The committed part cannot be read or written now. What was not committed is still in the tail.
    #[error("the keyword index cannot be used: {0}")]
    Tantivy(#[from] tantivy::TantivyError),
    /// The tail has reached its limit: flush, then write again.
    #[error("too many writes wait to be committed to the keyword index: flush it and try again")]
    TailFull,
}
