//! What happened to the things that a project knows: one observation, triplet, entity or decision, or everything that one
//! session wrote. Newest first.
//!
//! The rows themselves are the history, so nothing is recorded twice and a forgotten text is not found here either. Each stream
//! of changes is read up to the size of a page, and the streams are merged.

mod sql;
mod steps;
mod things;
mod written;

use base::limits::AUTHOR_CHARS_MAX;
use base::{Clock, DecisionId, EntityId, ObservationId, Page, PageRequest, ProjectId, Result, Timestamp, TripletId};
use store::OrgStore;

/// The type of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeType {
    /// It was stored.
    Create,
    /// It changed.
    Update,
    /// It was forgotten or retracted.
    Delete,
}

impl ChangeType {
    /// The word in answers.
    pub const fn word(self) -> &'static str {
        match self {
            ChangeType::Create => "create",
            ChangeType::Update => "update",
            ChangeType::Delete => "delete",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        [ChangeType::Create, ChangeType::Update, ChangeType::Delete].into_iter().find(|kind| kind.word() == word)
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnowledgeChange {
    /// Its id, unique in the project: the id of what changed and a word for the change.
    pub id: String,
    /// The id of what changed.
    pub entity_id: String,
    /// The type of the change.
    pub change_type: ChangeType,
    /// When.
    pub time: Timestamp,
    /// Who made it: an agent, or a person. `None` for a weight, which moves with the outcome of a session.
    pub agent_id: Option<String>,
    /// The session, unless a person made the change.
    pub session_id: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What is different: the start of a text, or the value before and after. Agents wrote the texts.
    pub detail: Option<String>,
}

/// Which changes to list.
#[derive(Clone, Debug, Default)]
pub struct HistoryFilter {
    /// Only from this time on.
    pub since: Option<Timestamp>,
    /// Only before this time.
    pub until: Option<Timestamp>,
    /// Only these types. Empty means all.
    pub types: Vec<ChangeType>,
}

/// The history of what one project knows.
#[derive(Clone)]
pub struct KnowledgeHistory<R = OrgStore> {
    rows: R,
    project: ProjectId,
    clock: Clock,
}

impl<R: AsRef<OrgStore>> KnowledgeHistory<R> {
    /// The history of a project.
    pub fn new(rows: R, project: ProjectId, clock: Clock) -> Self {
        Self { rows, project, clock }
    }

    fn rows(&self) -> &OrgStore {
        self.rows.as_ref()
    }

    /// A page of the changes of the thing with this id, newest first. `None` if this project knows nothing under it: the id is
    /// malformed, unknown or another project's, or the session wrote nothing here.
    pub async fn history_of(
        &self,
        id: &str,
        filter: &HistoryFilter,
        page: &PageRequest,
    ) -> Result<Option<Page<KnowledgeChange>>> {
        if let Some(id) = ObservationId::parse(id) {
            return self.of_observation(&id, filter, page).await;
        }
        if let Some(id) = TripletId::parse(id) {
            return self.of_triplet(&id, filter, page).await;
        }
        if let Some(id) = EntityId::parse(id) {
            return self.of_entity(&id, filter, page).await;
        }
        if let Some(id) = DecisionId::parse(id) {
            return self.of_decision(&id, filter, page).await;
        }
        // No session has such an id, and one engine could not compare it.
        if id.len() > AUTHOR_CHARS_MAX || id.contains('\0') {
            return Ok(None);
        }
        self.of_session(id, filter, page).await
    }
}
