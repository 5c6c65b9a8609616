//! Reports of tasks and costs.

use base::limits::COST_GROUPS_MAX;
use base::{Cursor, Error, Page, PageRequest, Result, Timestamp};
use store::{Row, params};

use super::figures::{advance, hour_of};
use super::sql;
use crate::access::Access;
use crate::change;
use crate::guard::Guard;

/// The most batches to process before an answer. The relay handles a longer backlog.
const LOOKS_MAX: usize = 16;

/// How costs are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostGroup {
    /// Tools.
    Verb,
    /// Registered agents.
    Agent,
    /// Projects.
    Project,
    /// Hours, newest first.
    Hour,
}

impl CostGroup {
    /// The word in queries and answers.
    pub const fn word(self) -> &'static str {
        match self {
            CostGroup::Verb => "verb",
            CostGroup::Agent => "agent",
            CostGroup::Project => "project",
            CostGroup::Hour => "hour",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        [CostGroup::Verb, CostGroup::Agent, CostGroup::Project, CostGroup::Hour].into_iter().find(|group| group.word() == word)
    }

    const fn statement(self) -> &'static str {
        match self {
            CostGroup::Verb => sql::COSTS_BY_VERB,
            CostGroup::Agent => sql::COSTS_BY_AGENT,
            CostGroup::Project => sql::COSTS_BY_PROJECT,
            CostGroup::Hour => sql::COSTS_BY_HOUR,
        }
    }
}

/// The hours to sum up.
#[derive(Clone, Copy, Debug, Default)]
pub struct CostFilter {
    /// Starts with the hour that contains this time.
    pub since: Option<Timestamp>,
    /// Only hours that start before this time.
    pub until: Option<Timestamp>,
}

/// Totals of a group of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The tool, agent, project or hour (milliseconds). Empty for calls without one.
    pub group: String,
    /// The number of calls, whatever their outcome.
    pub calls: i64,
    /// Calls that did not complete: failed, refused or cancelled.
    pub failed: i64,
    /// Total duration.
    pub duration_us: i64,
}

impl Cost {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            group: row.get("group_value")?,
            calls: row.get("calls")?,
            failed: row.get("failed")?,
            duration_us: row.get("duration_us")?,
        })
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// The gate refused it.
    Refused,
    /// The caller disconnected.
    Cancelled,
}

impl TaskState {
    /// The word in rows and answers.
    pub const fn word(self) -> &'static str {
        match self {
            TaskState::Completed => "completed",
            TaskState::Failed => "failed",
            TaskState::Refused => "refused",
            TaskState::Cancelled => "cancelled",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [TaskState::Completed, TaskState::Failed, TaskState::Refused, TaskState::Cancelled];
        all.into_iter().find(|state| state.word() == word)
    }
}

/// Which calls to list. `None` matches everything.
#[derive(Clone, Debug, Default)]
pub struct TaskFilter {
    /// The outcome.
    pub state: Option<TaskState>,
    /// The tool.
    pub verb: Option<String>,
}

/// A finished call.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its sequence number in the audit trail.
    pub sequence: i64,
    /// The `x-request-id` of the answer.
    pub request_id: Option<String>,
    /// The tool.
    pub verb: String,
    /// The session, on the session door.
    pub session_id: Option<String>,
    /// The registered agent, if any.
    pub agent_id: Option<String>,
    /// The project, if any.
    pub project_id: Option<String>,
    /// Its outcome.
    pub state: TaskState,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
}

impl Task {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            sequence: row.get("sequence")?,
            request_id: row.get("request_id")?,
            verb: row.get("verb")?,
            session_id: row.get("session_id")?,
            agent_id: row.get("agent_id")?,
            project_id: row.get("project_id")?,
            state: TaskState::parse(row.text("state")?).unwrap_or(TaskState::Failed),
            started_at: row.get("started_at")?,
            ended_at: row.get("ended_at")?,
        })
    }
}

/// An org's tasks and costs, for a management call.
pub struct Figures<'a>(&'a Access);

impl Guard {
    /// The figures of the caller's org. They cover every project, so a key limited to some projects may not read them.
    pub fn figures<'a>(&self, access: &'a Access) -> Result<Figures<'a>> {
        access.require_reach(None)?;
        Ok(Figures(access))
    }
}

impl Figures<'_> {
    /// Totals by `group`, and the overall total. They include every call answered before the request, unless the relay has a long
    /// backlog.
    pub async fn costs(&self, group: CostGroup, filter: &CostFilter) -> Result<(Vec<Cost>, Cost)> {
        self.catch_up().await?;
        let (since, until) = (filter.since.map_or(i64::MIN, hour_of), filter.until.map_or(i64::MAX, Timestamp::ms));
        let rows = &self.0.rows;
        let costs = rows.query(group.statement(), &params![since, until, COST_GROUPS_MAX], Cost::from_row).await?;
        let total = rows.first(sql::COSTS_TOTAL, &params![since, until], Cost::from_row).await?;
        Ok((costs, total.ok_or_else(|| Error::internal("the total has no row"))?))
    }

    /// A page of finished calls, newest first.
    pub async fn tasks(&self, filter: &TaskFilter, page: &PageRequest) -> Result<Page<Task>> {
        self.catch_up().await?;
        // There is nothing older than a position before the first call.
        let before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let state = filter.state.map(TaskState::word);
        let rows = page.rows.saturating_add(1);
        let params = params![before, state, filter.verb, rows];
        let tasks = self.0.rows.query(sql::TASKS, &params, Task::from_row).await?;
        Ok(Page::from_rows(tasks, page.rows, |task| Cursor { created_at: task.ended_at, id: task.sequence.to_string() }))
    }

    /// Does the relay's next work now, so that finished calls are counted.
    async fn catch_up(&self) -> Result<()> {
        for _ in 0..LOOKS_MAX {
            if advance(&change::upkeep(&self.0.rows), self.0.clock.now()).await? == 0 {
                break;
            }
        }
        Ok(())
    }
}
