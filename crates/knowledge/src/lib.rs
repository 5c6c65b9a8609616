//! What a project's agents know. **Memory** stores observations and recalls them when they help. The **graph** stores facts as
//! triplets that can be walked. **Decisions** are observations with a form of their own. The **history** tells what happened to
//! each of them.
//!
//! The rows are authoritative, and one counter per project numbers everything. The indexes of a project (keywords and vectors)
//! are caches in this process. Each asks the rows for changes since its last update, so the next query on every node finds a
//! write, and a lost cache is rebuilt. Vectors come later than keywords: texts wait in a queue for their vector, and an answer
//! never waits for that.
//!
//! This crate does not know the wire format, permissions or other orgs: it sees one org's rows. All SQL is in `sql.rs`.

mod changes;
mod decisions;
mod embedding;
mod error;
mod evaluation;
mod graph;
mod history;
mod index;
mod memory;
mod sql;

pub use base::Author;
pub use decisions::{Decision, DecisionFilter, Decisions, Impact, NewDecision};
pub use embedding::{Coverage, Pending};
pub use error::{Asked, DecisionFlaw, DecisionPart, EntityPart, Error, Flaw, Origin, Part, Result, Undo};
pub use evaluation::{Evaluation, EvaluationSet, Figures, Report, SetMemory, SetQuestion};
pub use graph::{
    Entity, EntityDetail, GraphHit, GraphHits, GraphQuery, GraphRanking, GraphStats, Improved, ImprovedEntity, ImprovedTriplet,
    Ingested, Judgement, KnowledgeGraph, ListedEntity, Mention, Merged, Neighbours, NeighboursQuery, NewEntity, NewTriplet, Path,
    PathQuery, Provenance, RetractFilter, Retracted, Suggestion, Towards, Triplet, TripletDetail, TripletFilter, TripletRef,
};
pub use history::{ChangeType, HistoryFilter, KnowledgeChange, KnowledgeHistory};
pub use index::{IndexBytes, Indexes, IndexesConfig};
pub use memory::{
    Brief, Budget, Citation, Forgotten, Import, Imported, Memory, MemoryReport, Mode, NUMBER, NewObservation, Observation,
    ObservationFilter, Ranking, Recall, Recalled, Remembered, Shown, Tally, WeightMove, Why, WorkOutcome, WorkType, rounded,
    tokens_of,
};
pub use search::background::{Question, Questions};
