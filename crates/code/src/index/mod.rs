//! The structural index of a project, and the graph over it.
//!
//! - `files`, `scan`: which files there are, with stamps. `watch`: what changes.
//! - `file`, `pack`, `kept`: outlines of contents, cached on disk.
//! - `names`, `lean`, `table`: what is kept of outlines in memory.
//! - `imports`, `link`: from names to files and symbols. `state` keeps them up to date.
//! - `project`, `build`: the index of one project and its work. `indexes`: the indexes of all projects.
//! - `snapshot`, `graph`, `walk`, `query`, `search`: questions about one published state.
//!
//! The index is a cache of the files. It never claims more than it has: [`Coverage`] says how much that is.

mod answers;
mod around;
mod build;
mod file;
mod files;
mod graph;
mod imports;
mod indexes;
mod kept;
mod lean;
mod link;
mod names;
mod pack;
mod parallel;
mod project;
mod query;
mod rank;
mod scan;
mod search;
mod snapshot;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod walk;
mod watch;

pub use ::graph::Direction;
pub use answers::{Analysis, Analyzed, Dependencies, Edge, FarFile, FoundNode, Overview, Searched, SymbolInfo, kind_word};
pub(crate) use file::BOUNDS as PARSE_BOUNDS;
pub(crate) use files::{Content, FileStamp, Folder, Listing, ProjectFiles};
pub use graph::Relationship;
pub(crate) use indexes::CodeIndexes;
pub use project::ProjectIndex;
pub(crate) use project::ProjectParts;
pub use search::GraphSearch;
pub use snapshot::{Coverage, Following, Snapshot};
pub use walk::{Algorithm, WalkCounters};
