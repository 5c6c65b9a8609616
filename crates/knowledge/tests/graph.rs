//! The knowledge graph on both engines: what is one, what takes another's place, what was known when, and what can be undone.

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
