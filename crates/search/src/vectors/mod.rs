//! Vector search for one project, in memory.
//!
//! The rows in the database are authoritative. The index is built from them and kept current by [`VectorIndex::upsert`] and
//! [`VectorIndex::remove`], which the next query sees. It stores 16 bits per component in two planes of 8. A query scans the
//! upper plane, and only rows that could still be among the best are measured with both. An error bound decides which rows to
//! skip, so the flat scan is exact, with or without a filter. A large index compares only the signs of most rows. A very large
//! one uses a graph instead, once [`VectorIndex::link`] has built one. Filters that accept few ids still use the scan.
//!
//! Never compare vectors of two models: an index has one dimension, and its owner has one model.

mod graph;
#[cfg(test)]
mod graph_tests;
mod index;
mod quantised;
#[cfg(test)]
mod random;
mod rows;
mod scan;
mod signs;
#[cfg(test)]
mod tests;

pub use index::VectorIndex;
pub use quantised::Query;

/// Why a vector is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// It comes from another model or was cut to another size.
    #[error("the vector has {found} dimensions and the index {expected}; embed it with the model of the index")]
    Dimension {
        /// The dimension of the index.
        expected: usize,
        /// The dimension of the vector.
        found: usize,
    },
    /// A component is NaN or infinite.
    #[error("the vector has a component that is not a finite number")]
    NotFinite,
    /// All components are zero, so it has no direction.
    #[error("the vector is zero and has no direction")]
    Zero,
}
