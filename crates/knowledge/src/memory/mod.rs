//! Memory: observations that agents noted, found again by words, meaning and time.
//!
//! The server stamps who said what, when and in which session. The same text from the same agent is one observation; from another
//! agent it is a second one, and both count as corroborated. What a session was given by recall and sends back is no news. A
//! weight, one at first, moves when a session that recalled the observation ends with an outcome; it bends the order and hides
//! nothing.

mod budget;
mod import;
mod manage;
mod observation;
mod outcome;
mod rank;
mod recall;
mod remember;
mod report;
mod sql;
mod text;

use base::{Clock, ProjectId};
use store::OrgStore;

pub use budget::{Budget, WorkType, tokens_of};
pub use import::{Import, Imported};
pub use manage::{Forgotten, ObservationFilter};
pub use observation::{NewObservation, Observation, WeightMove};
pub use outcome::Outcome;
pub(crate) use rank::Ranked;
pub use rank::{Mode, Ranking, Why, rounded};
pub use recall::{Citation, Recall, Recalled};
pub use remember::Remembered;
pub use report::{Brief, MemoryReport, Tally};

pub(crate) use sql::{CHANGED_SINCE, indexed_text};

/// The memory of one project.
#[derive(Clone)]
pub struct Memory {
    rows: OrgStore,
    project: ProjectId,
    clock: Clock,
    reads_facts: bool,
}

impl Memory {
    /// The memory among an org's rows.
    pub fn new(rows: OrgStore, project: ProjectId, clock: Clock) -> Self {
        Self { rows, project, clock, reads_facts: false }
    }

    /// The same memory; when `on`, facts that a new note states in plain words go into the knowledge graph with it.
    #[must_use]
    pub fn reading_facts(self, on: bool) -> Self {
        Self { reads_facts: on, ..self }
    }
}
