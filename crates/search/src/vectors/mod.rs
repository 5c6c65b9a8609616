//! Nearest vectors of one project, in memory.
//!
//! The truth is rows in a database; this is built from them, kept current by [`VectorIndex::upsert`] and
//! [`VectorIndex::remove`], and seen by the next query. It holds 16 bits a component, in two planes of 8: a query scans the
//! upper plane, and only what could still be among the best is measured with both. What may be skipped is decided by a bound
//! on the error, not by a count, so the flat scan loses nothing, with or without a filter. A very large index is walked through along
//! a graph instead, once [`VectorIndex::link`] has made one; filters that let little through are still answered by the scan.
//!
//! It must never compare vectors of two models: an index has one dimension and its owner one model.

mod graph;
#[cfg(test)]
mod graph_tests;
mod index;
mod quantised;
#[cfg(test)]
mod random;
mod rows;
mod scan;
#[cfg(test)]
mod tests;

pub use index::VectorIndex;
pub use quantised::Query;

/// Why a vector is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// It was made by another model, or cut to another size.
    #[error("the vector has {found} dimensions and the index {expected}: embed it with the model of the index")]
    Dimension {
        /// The index's.
        expected: usize,
        /// The vector's.
        found: usize,
    },
    /// A component is not a number or infinite.
    #[error("the vector has a component that is not a finite number")]
    NotFinite,
    /// All components are zero, so it points nowhere and is near to nothing.
    #[error("the vector is zero and has no direction")]
    Zero,
}
