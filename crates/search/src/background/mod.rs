//! Makes vectors of many texts without slowing anyone down: on idle processors, at the lowest priority, behind open questions.
//!
//! Every domain that embeds texts shares this. It starts threads only for the time of one call, and it never decides when a call
//! is due: the caller owns the queue of texts and the place where vectors are stored.

mod questions;
mod spread;

pub use questions::{Question, Questions};
pub use spread::{spread, threads};
