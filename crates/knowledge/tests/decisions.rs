//! Decisions and the history of what a project knows, on both engines.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "decisions/history.rs"]
mod history;
#[path = "decisions/place.rs"]
mod place;
#[path = "decisions/recording.rs"]
mod recording;
