//! Text in, ranked ids out: texts made vectors, nearest vectors, matching words, and both put together.
//!
//! Nothing here knows what is searched: memory, graphs and code bring their own ids and texts. The truth is always rows
//! elsewhere; what is kept here is a cache that may be thrown away and built again. Nothing reads a clock or starts long-lived
//! work: the caller owns the threads and says when.

pub mod embed;
pub mod evaluate;
pub mod fusion;
pub mod keyword;
#[cfg(any(test, feature = "rebuild"))]
pub mod rebuild;
mod top;
pub mod vectors;

pub use top::Hit;
