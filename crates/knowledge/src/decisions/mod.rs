//! Decisions that agents record with their reasons.
//!
//! A decision and an observation with its text are written in one transaction, so that recall finds every decision. The text
//! lives only as long as that observation: forgetting the observation deletes the text of its decisions. Recording does not
//! depend on the project's memory being on, because that switch governs the tools and not the rows.

mod model;
mod sql;

use base::limits::{DECISIONS_LOOK_MAX, FORGET_ROWS_MAX, PAGE_BYTES_MAX};
use base::{Author, Clock, Cursor, DecisionId, ObservationId, Page, PageRequest, ProjectId, Result, Timestamp};
use store::{Change, OrgStore, OrgTx, params};

pub use model::{Decision, Impact, NewDecision};

use crate::{Error, Memory, NewObservation, ObservationFilter, changes};

/// The type of the observation of a decision.
const OBSERVATION_TYPE: &str = "decision";
/// The number of decisions read at once.
const ROWS_AT_ONCE: u32 = 32;

/// The decisions of one project.
#[derive(Clone)]
pub struct Decisions<R = OrgStore> {
    rows: R,
    project: ProjectId,
    clock: Clock,
    memory: Memory<R>,
}

/// A filter for decisions.
#[derive(Clone, Debug, Default)]
pub struct DecisionFilter {
    /// Only from this time on.
    pub since: Option<Timestamp>,
    /// Only before this time.
    pub until: Option<Timestamp>,
    /// Only this agent's.
    pub agent: Option<String>,
    /// Only this session's.
    pub session: Option<String>,
    /// Only those with this word or phrase in the decision, its reasoning or its alternatives, in any case.
    pub text: Option<String>,
}

impl<R: AsRef<OrgStore> + Clone> Decisions<R> {
    /// The decisions of a project, for reading or, with a [`Change`], for recording.
    pub fn new(rows: R, project: ProjectId, clock: Clock) -> Self {
        let memory = Memory::new(rows.clone(), project, clock.clone());
        Self { rows, project, clock, memory }
    }

    /// The same decisions. If `on`, facts in the text of a new one are added to the knowledge graph.
    #[must_use]
    pub fn reading_facts(self, on: bool) -> Self {
        Self { memory: self.memory.reading_facts(on), ..self }
    }

    /// The decision with this id, forgotten or not.
    pub async fn get(&self, id: &DecisionId) -> Result<Decision, Error> {
        let found = self.rows.as_ref().first(sql::BY_ID, &params![self.project, id], Decision::from_row).await?;
        found.ok_or(Error::UnknownDecision(*id))
    }

    /// A page of decisions, newest first, without forgotten ones. It ends early if its texts are longer than [`PAGE_BYTES_MAX`]
    /// together, or if [`DECISIONS_LOOK_MAX`] decisions were searched for a text.
    pub async fn list(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<Decision>> {
        let cursor_of = |found: &Decision| Cursor { created_at: found.created_at, id: found.number.to_string() };
        let text = filter.text.as_ref().map(|text| text.trim().to_lowercase());
        let (since, until) = (filter.since.map_or(i64::MIN, Timestamp::ms), filter.until.map_or(i64::MAX, Timestamp::ms));
        // There is nothing older than a position that no decision has.
        let mut before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let most = page.rows.saturating_add(1) as usize;
        let (mut found, mut looked, mut bytes) = (Vec::new(), 0, 0);
        loop {
            let asked = params![self.project, before, filter.agent, filter.session, since, until, ROWS_AT_ONCE];
            let some = self.rows.as_ref().query(sql::LIST, &asked, Decision::from_row).await?;
            let (is_last, last) = (some.len() < ROWS_AT_ONCE as usize, some.last().map(cursor_of));
            looked += some.len();
            before = some.last().map_or(before, |found| found.number);
            bytes += some.iter().map(|found| found.decision.len() + found.reasoning.len()).sum::<usize>();
            found.extend(some.into_iter().filter(|decision| text.as_ref().is_none_or(|text| decision.mentions(text))));
            if is_last || found.len() >= most {
                return Ok(Page::from_rows(found, page.rows, cursor_of));
            }
            if looked >= DECISIONS_LOOK_MAX || bytes > PAGE_BYTES_MAX {
                return Ok(Page { items: found, next: last });
            }
        }
    }
}

impl Decisions<Change> {
    /// Records a decision of `author`, and stores an observation with its text unless one is there.
    pub async fn record(&self, author: &Author, new: NewDecision) -> Result<Decision, Error> {
        let new = new.checked()?;
        let context = new.context_text()?;
        let alternatives = serde_json::to_string(&new.alternatives).map_err(base::Error::internal)?;
        let kind = Some(OBSERVATION_TYPE.to_owned());
        let text = NewObservation { content: new.readable(), kind, confidence: new.confidence }.checked()?;
        let (decisions, author) = (self.clone(), author.clone());
        let recorded = self
            .rows
            .write(move |tx| {
                let observation = decisions.memory.keep_decision(tx, &author, &text)?;
                let (project, now) = (&decisions.project, decisions.clock.now());
                let (id, number) = (DecisionId::new(now), changes::next(tx, project)?);
                let whose = params![project, number, id, author.agent, author.session];
                let impact = new.impact.map(Impact::word);
                let what = params![new.decision, new.reasoning, context, new.confidence, alternatives, impact, observation, now];
                tx.execute(sql::INSERT, &[&whose[..], &what[..]].concat())?;
                let found = tx.first(sql::BY_ID, &params![project, id], Decision::from_row)?;
                found.ok_or_else(|| base::Error::internal("a decision was not stored"))
            })
            .await?;
        Ok(recorded)
    }
}

/// Deletes the texts of the decisions of a forgotten observation.
pub(crate) fn forget_of_observation(
    tx: &mut OrgTx<'_, '_>,
    project: &ProjectId,
    observation: &ObservationId,
    now: Timestamp,
    by: &str,
) -> Result<()> {
    tx.execute(sql::FORGET_OF_OBSERVATION, &params![project, observation, now, by]).map(drop)
}

/// Deletes the texts of some decisions of an agent or a session, also where the observation is another's, and returns how many.
pub(crate) fn forget_of_author(
    tx: &mut OrgTx<'_, '_>,
    project: &ProjectId,
    whose: &ObservationFilter,
    since: i64,
    now: Timestamp,
    by: &str,
) -> Result<u64> {
    tx.execute(sql::FORGET_OF_AUTHOR, &params![project, now, by, whose.agent, whose.session, since, FORGET_ROWS_MAX])
}
