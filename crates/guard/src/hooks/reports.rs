//! What people read of tasks and costs.

use base::{Cursor, Error, Page, PageRequest, Result, Timestamp};
use store::{Row, params};

use super::figures::{advance, hour_of};
use super::sql;
use crate::access::Access;
use crate::guard::Guard;

/// Most groups in one answer.
const GROUPS_MAX: u32 = 1_000;
/// Most looks at the trail for one answer: a backlog is the relay's to work off.
const LOOKS_MAX: usize = 16;

/// What costs are summed up by.
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

    /// The group called `word`.
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

/// Which hours are summed up.
#[derive(Clone, Copy, Debug, Default)]
pub struct CostFilter {
    /// From the hour that holds this moment.
    pub since: Option<Timestamp>,
    /// Hours that begin before this moment.
    pub until: Option<Timestamp>,
}

/// What a group of calls came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The tool, agent, project or hour (milliseconds); empty where calls had none.
    pub group: String,
    /// Calls, however they ended.
    pub calls: i64,
    /// Those that did not complete: failed, refused or cancelled.
    pub failed: i64,
    /// How long they took together.
    pub duration_us: i64,
}

impl Cost {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self { group: row.get(0)?, calls: row.get(1)?, failed: row.get(2)?, duration_us: row.get(3)? })
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It answered.
    Completed,
    /// It failed.
    Failed,
    /// The gate said no.
    Refused,
    /// The caller went away.
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

    /// The state called `word`.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [TaskState::Completed, TaskState::Failed, TaskState::Refused, TaskState::Cancelled];
        all.into_iter().find(|state| state.word() == word)
    }
}

/// Which calls are listed; what is `None` does not matter.
#[derive(Clone, Debug, Default)]
pub struct TaskFilter {
    /// How it ended.
    pub state: Option<TaskState>,
    /// The tool.
    pub verb: Option<String>,
}

/// A call that is over.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its place in the audit trail.
    pub sequence: i64,
    /// The answer's `x-request-id`.
    pub request_id: Option<String>,
    /// The tool.
    pub verb: String,
    /// The session, on the session door.
    pub session_id: Option<String>,
    /// The registered agent, if one acted.
    pub agent_id: Option<String>,
    /// The project, if any.
    pub project_id: Option<String>,
    /// How it ended.
    pub state: TaskState,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was over.
    pub ended_at: Timestamp,
}

impl Task {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            sequence: row.get(0)?,
            request_id: row.get(1)?,
            verb: row.get(2)?,
            session_id: row.get(3)?,
            agent_id: row.get(4)?,
            project_id: row.get(5)?,
            state: TaskState::parse(row.text(6)?).unwrap_or(TaskState::Failed),
            started_at: row.get(7)?,
            ended_at: row.get(8)?,
        })
    }
}

/// An org's tasks and costs, for a management call.
pub struct Figures<'a>(&'a Access);

impl Guard {
    /// The figures of the org that `access` was let into. They tell of every project, so a key for some does not read them.
    pub fn figures<'a>(&self, access: &'a Access) -> Result<Figures<'a>> {
        access.require_reach(None)?;
        Ok(Figures(access))
    }
}

impl Figures<'_> {
    /// What calls came to, by `group`, and in all. Calls that were answered before this was asked are in it, unless the relay has
    /// a long backlog to work off.
    pub async fn costs(&self, group: CostGroup, filter: &CostFilter) -> Result<(Vec<Cost>, Cost)> {
        self.catch_up().await?;
        let (since, until) = (filter.since.map_or(i64::MIN, hour_of), filter.until.map_or(i64::MAX, Timestamp::ms));
        let rows = &self.0.rows;
        let costs = rows.query(group.statement(), &params![since, until, GROUPS_MAX], Cost::from_row).await?;
        let in_all =
            |row: &Row<'_>| Ok(Cost { group: String::new(), calls: row.get(0)?, failed: row.get(1)?, duration_us: row.get(2)? });
        let total = rows.first(sql::COSTS_TOTAL, &params![since, until], in_all).await?;
        Ok((costs, total.ok_or_else(|| Error::internal("a sum without a row"))?))
    }

    /// A page of calls that are over, newest first.
    pub async fn tasks(&self, filter: &TaskFilter, page: &PageRequest) -> Result<Page<Task>> {
        self.catch_up().await?;
        // A place that no call ever had has nothing older.
        let before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let state = filter.state.map(TaskState::word);
        let rows = page.rows.saturating_add(1);
        let params = params![before, state, filter.verb, rows];
        let tasks = self.0.rows.query(sql::TASKS, &params, Task::from_row).await?;
        Ok(Page::from_rows(tasks, page.rows, |task| Cursor { created_at: task.ended_at, id: task.sequence.to_string() }))
    }

    /// Does the relay's next work here and now, so that whoever was answered finds their call counted.
    async fn catch_up(&self) -> Result<()> {
        for _ in 0..LOOKS_MAX {
            if advance(&self.0.rows, self.0.clock.now()).await? == 0 {
                break;
            }
        }
        Ok(())
    }
}
