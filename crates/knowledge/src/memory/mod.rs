//! Memory: observations that agents store and find again by keywords, meaning and time.
//!
//! The server records author, time and session. The same text from the same agent is one observation. From another agent it is
//! a second one, and both count as corroborated. A text that a session got by recall and sends back is not stored. A weight
//! starts at one and moves when a session that recalled the observation ends with an outcome. It affects the order of answers
//! and hides nothing.

mod budget;
mod echo;
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

use std::sync::Arc;

use base::{Clock, ProjectId};
use store::OrgStore;

pub use budget::{Budget, WorkType, tokens_of};
pub use echo::{NUMBER, Shown};
pub(crate) use import::PREFIX as ORIGIN_PREFIX;
pub use import::{Import, Imported};
pub use manage::{Forgotten, ObservationFilter};
pub use observation::{NewObservation, Observation, WeightMove};
pub use outcome::WorkOutcome;
pub(crate) use rank::Ranked;
pub use rank::{Mode, Ranking, Why, rounded};
pub use recall::{Citation, Recall, Recalled};
pub use remember::Remembered;
pub use report::{Brief, MemoryReport, Tally};

pub(crate) use sql::{CHANGED_SINCE, indexed_text};

/// The memory of one project.
#[derive(Clone)]
pub struct Memory<R = OrgStore> {
    rows: R,
    project: ProjectId,
    clock: Clock,
    reads_facts: bool,
    shown: Option<Arc<Shown>>,
}

impl<R: AsRef<OrgStore>> Memory<R> {
    /// The memory of a project, for reading or, with a [`Change`](store::Change), for changing.
    pub fn new(rows: R, project: ProjectId, clock: Clock) -> Self {
        Self { rows, project, clock, reads_facts: false, shown: None }
    }

    fn rows(&self) -> &OrgStore {
        self.rows.as_ref()
    }

    /// The same memory. If `on`, facts in the text of a new observation are added to the knowledge graph.
    #[must_use]
    pub fn reading_facts(self, on: bool) -> Self {
        Self { reads_facts: on, ..self }
    }

    /// The same memory. It recognises answers of recall that come back in the form in which they were shown.
    #[must_use]
    pub fn shown_as(self, shown: Shown) -> Self {
        Self { shown: Some(Arc::new(shown)), ..self }
    }
}
