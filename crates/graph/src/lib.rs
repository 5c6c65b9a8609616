//! A graph in memory, with neighbourhood and path searches.
//!
//! Nodes and edges are numbers. The payload of an edge belongs to the caller. Every walk gets a filter (`allow`) that selects
//! the edges it can use, so one graph answers for any point in time and any relationship. Nodes can be merged and separated
//! again.
//!
//! Nothing here knows whose graph it is, reads a clock, waits or panics. **Answers depend only on the edges and their order**,
//! never on the graph's history: a graph that grew edge by edge, was merged and restored gives the same answers as one built at
//! once. A walk uses memory for the part that it reaches, not for the whole graph. [`components()`] is no walk: it visits every node.

mod adjacency;
mod blocks;
mod components;
mod dijkstra;
mod distances;
mod fre;
mod heap;
mod labels;
mod lightest;
mod neighbours;
mod numbering;
mod pivots;
mod redirects;
mod shortest;
mod storage;

pub use components::{Components, components};
pub use dijkstra::dijkstra;
pub use distances::{Counters, Distances, Found, Within};
pub use fre::fre;
pub use lightest::lightest_path;
pub use neighbours::{Hop, Reached, neighbours};
pub use shortest::shortest_path;
pub use storage::{EdgeRef, Graph};

/// A node: dense, from zero.
pub type Node = u32;

/// An edge: dense, from zero, in insertion order. It never changes.
pub type EdgeIndex = u32;

/// The direction in which a walk crosses edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From source to target.
    Out,
    /// From target to source.
    In,
    /// Both ways.
    Both,
}

impl Direction {
    /// The opposite direction.
    pub fn reversed(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Both => Self::Both,
        }
    }
}
