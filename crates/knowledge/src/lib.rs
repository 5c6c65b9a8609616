//! What a project's agents know: **memory** keeps what they noted and gives it back when it helps, and the **graph** keeps facts as
//! triplets that can be walked.
//!
//! Rows are the truth, and everything a project knows is numbered by one counter. The indexes of a project (words and meaning)
//! are caches in this process: each asks the rows for what changed since it last looked, so a write is found by the next query on
//! every node, and a cache that is lost is read again. Meaning comes later than words: texts wait in a queue until a vector was
//! made, and an answer never waits for that.
//!
//! This crate knows nothing of the wire, of who may do what, or of other orgs: it sees one org's rows. SQL stands in `sql.rs` only.

mod author;
mod changes;
mod embedding;
mod evaluation;
mod graph;
mod index;
mod memory;
mod sql;

pub use author::Author;
pub use embedding::{Coverage, Pending};
pub use evaluation::{Evaluation, EvaluationSet, Figures, Report, SetMemory, SetQuestion};
pub use graph::{
    Entity, EntityDetail, GraphHit, GraphHits, GraphQuery, GraphRanking, GraphStats, Improved, ImprovedEntity, ImprovedTriplet,
    Ingested, Judgement, KnowledgeGraph, ListedEntity, Mention, Merged, Neighbours, NeighboursQuery, NewEntity, NewTriplet, Path,
    PathQuery, Provenance, RetractFilter, Retracted, Suggestion, Towards, Triplet, TripletDetail, TripletFilter, TripletRef,
};
pub use index::{Indexes, IndexesConfig};
pub use memory::{
    Brief, Budget, Citation, Forgotten, Import, Imported, Memory, MemoryReport, Mode, NewObservation, Observation,
    ObservationFilter, Outcome, Ranking, Recall, Recalled, Remembered, Tally, WeightMove, Why, WorkType, rounded, tokens_of,
};
