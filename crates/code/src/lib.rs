//! A project's code: its files, an index of them that follows the disk, dependencies, search and history.
//!
//! The files and the rows are authoritative. Everything else is a cache that is rebuilt from them. An answer never claims that a stale
//! state is fresh: it says how much of the project it covers.
//!
//! This crate does not know the wire format, permissions or other orgs: it sees one org's rows and one project's root.

mod codebase;
mod files;
mod find;
pub mod git;
mod history;
mod index;
mod path;
mod resolve;

/// The limits of one parse.
use index::PARSE_BOUNDS;

pub use codebase::{
    ChangedSymbols, CodeCoverage, CodeFigures, CodeHit, Codebase, Codebases, CodebasesConfig, Edit, Edited, FileContent,
    FileRead, HybridQuery, HybridResults, PastChange, PastFilter, PastPage, Pasts, SemanticQuery, SemanticResults, Signals,
    SimilarFile,
};
pub use codebase::{FileBlame, LineOrigin, Origin, TreeEntry, TreePage, language_of};
pub use files::{FILE_BYTES_MAX, Files, Read, Replaced, Root, Seen, Sha256, Stamp, Stat, StoredFile, stored_files};
pub use find::evaluation;
pub use history::{
    At, Before, Blame, BlameSpan, ChangeSource, ChangeType, Diff, History, HistoryFilter, NewContent, Noticed, Past,
    RollbackOutcome, RolledBack, Settled, Version, Within, Writer, Written,
};
pub use index::{
    Algorithm, Analysis, Analyzed, Coverage, Dependencies, Direction, Edge, FarFile, Following, FoundNode, GraphSearch, Overview,
    ProjectIndex, Relationship, Searched, Snapshot, SymbolInfo, WalkCounters, kind_word,
};
pub use path::{CodePath, is_temporary};
pub use resolve::Resolution;
