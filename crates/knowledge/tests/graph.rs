//! The knowledge graph on both engines: names, superseding, reads as of a time, and undo.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "graph/bad_days.rs"]
mod bad_days;
#[path = "graph/entities.rs"]
mod entities;
#[path = "graph/evaluation.rs"]
mod evaluation;
#[path = "graph/learning.rs"]
mod learning;
#[path = "graph/place.rs"]
mod place;
#[path = "graph/set.rs"]
mod set;
#[path = "graph/times.rs"]
mod times;
#[path = "graph/walks.rs"]
mod walks;
