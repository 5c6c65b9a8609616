//! Keyword search: items with the words of a query, ranked by BM25.
//!
//! A [`KeywordIndex`] is a cache of rows that are stored elsewhere. Writes go to a *tail* in memory, and the next query finds
//! them. [`KeywordIndex::flush`], which the caller runs on a separate thread, commits the tail to a tantivy index in a folder,
//! with the position up to which it is complete. After a crash, or if the folder is missing, damaged or of another version,
//! [`KeywordIndex::open`] says from which position to replay the rows.
//!
//! The tail and the committed documents share one set of statistics, so an item's score does not change when it is committed.
//! An index that is not being flushed has no thread and no open writer, so it can be dropped and reopened at any time.
//!
//! The index is never authoritative: it stores only words and ids.

mod analysis;
mod cache;
mod committed;
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

/// An error of the cache. It never affects rows.
#[derive(Debug, thiserror::Error)]
pub enum KeywordError {
    /// The folder cannot be created, read or emptied. [`KeywordIndex::in_memory`] needs none.
    #[error("the folder of the keyword index cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    /// The committed part cannot be read or written right now. Uncommitted writes are still in the tail.
    #[error("the keyword index cannot be used: {0}")]
    Tantivy(#[from] tantivy::TantivyError),
    /// The tail is full: flush, then write again.
    #[error("too many uncommitted writes in the keyword index; flush it and try again")]
    TailFull,
}
