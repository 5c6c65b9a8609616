//! A project's code: its files, an index of them that follows the disk, dependencies, search and history.
//!
//! The files and the rows are authoritative. Everything else is a cache that is rebuilt from them. An answer never claims that a stale
//! state is fresh: it says how much of the project it covers.
//!
//! This crate does not know the wire format, permissions or other orgs: it sees one org's rows and one project's root.

pub mod index;
mod resolve;

pub use resolve::Resolution;
