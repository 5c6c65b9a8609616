//! Search: embeddings, vector search, keyword search, and the combination of both.
//!
//! This crate does not know what is searched: memory, graphs and code bring their own ids and texts. The rows elsewhere are
//! authoritative, and everything here is a cache that can be deleted and rebuilt. Nothing starts long-lived work: the caller decides
//! when it runs.

pub mod background;
pub mod embed;
pub mod evaluate;
pub mod fusion;
pub mod keyword;
#[cfg(any(test, feature = "rebuild"))]
pub mod rebuild;
mod top;
pub mod vectors;

pub use top::Hit;
