//! A graph in memory, and walks over it: who is near, which way leads from here to there, what matters around these nodes.
//!
//! Nodes and edges are numbers; what an edge means is its payload, which is the caller's. Every walk is told which edges are
//! there (`allow`), so one graph answers for any moment and any kind of relationship. Nodes can be merged and parted again.
//!
//! Nothing here knows whose graph it is, reads a clock, waits or panics. **Answers depend on the edges and their order alone**,
//! never on how the graph was put together: a graph that grew edge by edge, was merged and restored answers like one that was
//! built at once. A walk takes memory for what it reaches, not for the graph that it walks in.

mod adjacency;
mod lightest;
mod neighbours;
mod numbering;
mod rank;
mod redirects;
mod shortest;
mod storage;

pub use lightest::lightest_path;
pub use neighbours::{Hop, Reached, neighbours};
pub use rank::personalised_rank;
pub use shortest::shortest_path;
pub use storage::{EdgeRef, Graph};

/// A node: dense, from zero.
pub type Node = u32;

/// An edge: dense, from zero, in the order in which edges were added. It never changes.
pub type EdgeIndex = u32;

/// Which way edges are crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From source to target.
    Out,
    /// From target to source.
    In,
    /// Either way.
    Both,
}

impl Direction {
    /// The way back.
    pub fn reversed(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Both => Self::Both,
        }
    }
}
