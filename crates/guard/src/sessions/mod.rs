//! Sessions: one agent's run in a project, with its own key.

mod open;
pub(crate) mod sql;

use std::sync::Arc;

use base::{
    AgentId, Allowlist, Cursor, Error, EventKind, KeyId, Kind, Page, PageRequest, ProjectId, Result, SessionId, Timestamp,
    ToolNames, UserId, limits,
};
use store::{OrgTx, Row, params};

use crate::access::Access;
use crate::audit::Event;
use crate::keys::{keep_for_session, mint_for_session};
use crate::tenants::start_of;

pub use open::OpenSession;

/// The outcome of a session, as judged by its opener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionOutcome {
    /// The work was accepted.
    Accepted,
    /// The work needs rework.
    Rework,
    /// The work was rejected.
    Rejected,
}

impl SessionOutcome {
    /// The word in requests and rows.
    pub const fn word(self) -> &'static str {
        match self {
            SessionOutcome::Accepted => "accepted",
            SessionOutcome::Rework => "rework",
            SessionOutcome::Rejected => "rejected",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Accepted, Self::Rework, Self::Rejected].into_iter().find(|outcome| outcome.word() == word)
    }
}

/// Whether a session can still be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// It can be used.
    Open,
    /// It was ended.
    Ended,
    /// It has expired.
    Expired,
}

impl SessionState {
    /// The word in requests and answers.
    pub const fn word(self) -> &'static str {
        match self {
            SessionState::Open => "open",
            SessionState::Ended => "ended",
            SessionState::Expired => "expired",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Open, Self::Ended, Self::Expired].into_iter().find(|state| state.word() == word)
    }
}

/// A session.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Its project.
    pub project: ProjectId,
    /// The registered agent it runs.
    pub agent: Option<AgentId>,
    /// The launcher's label for the agent.
    pub agent_label: Option<String>,
    /// The type of its work.
    pub work_type: Option<String>,
    /// The tools it is limited to.
    pub allowlist: Allowlist,
    /// How its tools are listed.
    pub tool_names: ToolNames,
    /// Its outcome.
    pub outcome: Option<SessionOutcome>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was ended.
    pub ended_at: Option<Timestamp>,
}

/// Data of a new session.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Its project.
    pub project: ProjectId,
    /// The registered agent it runs.
    pub agent: Option<AgentId>,
    /// The launcher's label for the agent.
    pub agent_label: Option<String>,
    /// The type of its work.
    pub work_type: Option<String>,
    /// The tools it is limited to, by canonical name.
    pub tools: Option<Vec<String>>,
    /// How its tools are listed.
    pub tool_names: ToolNames,
    /// Its lifetime.
    pub ttl_seconds: Option<u64>,
}

/// A new session with its key.
#[derive(Debug)]
pub struct OpenedSession {
    /// The session.
    pub session: Session,
    /// A key that works only for this session.
    pub full_key: String,
}

impl Session {
    /// Whether it can still be used at `now`.
    pub fn state(&self, now: Timestamp) -> SessionState {
        match self.ended_at {
            Some(_) => SessionState::Ended,
            None if self.expires_at <= now => SessionState::Expired,
            None => SessionState::Open,
        }
    }

    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: SessionId::from_row(row.text("id")?),
            project: ProjectId::from_row(row.text("project_id")?),
            agent: row.get::<Option<String>>("agent_id")?.map(|id| AgentId::from_row(&id)),
            agent_label: row.get("agent_label")?,
            work_type: row.get("work_type")?,
            allowlist: allowlist_from_row(row.get::<Option<String>>("tools")?.as_deref())?,
            tool_names: ToolNames::parse(row.text("tool_names")?).unwrap_or_default(),
            outcome: row.get::<Option<String>>("outcome")?.and_then(|word| SessionOutcome::parse(&word)),
            created_at: row.get("created_at")?,
            expires_at: row.get("expires_at")?,
            ended_at: row.get("ended_at")?,
        })
    }
}

/// The org's sessions, for a management call.
pub struct Sessions<'a>(&'a Access);

impl Access {
    /// The org's sessions.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(self)
    }
}

impl Sessions<'_> {
    /// Opens a session and creates its key. To run a registered agent, the caller must be allowed to open sessions for it. Such a session
    /// has at most the agent's scopes and tools at the time of each request.
    pub async fn open(&self, new: NewSession) -> Result<OpenedSession> {
        let access = self.0;
        let now = access.clock.now();
        let ttl_seconds = new.ttl_seconds.unwrap_or(access.session_ttl_seconds);
        if !(1..=limits::SESSION_TTL_SECONDS_MAX).contains(&ttl_seconds) {
            let message = format!("a session's lifetime must be 1 to {} seconds", limits::SESSION_TTL_SECONDS_MAX);
            return Err(Error::new(Kind::InvalidParams, message));
        }
        let asked = now.plus_ms(i64::try_from(ttl_seconds).unwrap_or(i64::MAX).saturating_mul(1_000));
        // The session's key is revoked with the opener's key.
        let expires_at = access.expires_at.map_or(asked, |own| own.min(asked));
        let session = Session {
            id: SessionId::random(),
            project: new.project,
            agent: new.agent,
            agent_label: new.agent_label,
            work_type: new.work_type,
            allowlist: new.tools.map_or(Allowlist::All, |tools| Allowlist::Only(Arc::new(tools.into_iter().collect()))),
            tool_names: new.tool_names,
            outcome: None,
            created_at: now,
            expires_at,
            ended_at: None,
        };
        let minted = mint_for_session(access, &session.id, now, expires_at);
        let (row, key) = (session.clone(), minted.clone());
        let opener = access.clone();
        access
            .write(move |tx| {
                opener.require_project_in(tx, &row.project)?;
                if let Some(agent) = &row.agent {
                    let agents_project =
                        tx.first(sql::AGENT_PROJECT, &params![agent], |row| row.get::<Option<String>>("project_id"))?;
                    check_agent(agents_project, &row.project)?;
                    opener.require_agent(agent)?;
                }
                let tools = allowlist_to_row(&row.allowlist);
                let (id, names) = (&row.id, row.tool_names.word());
                let params = params![
                    id,
                    row.project,
                    row.agent,
                    row.agent_label,
                    row.work_type,
                    tools,
                    names,
                    row.created_at,
                    row.expires_at
                ];
                tx.execute(sql::INSERT, &params)?;
                keep_for_session(tx, &opener, id, &key)?;
                let event = Event::new(EventKind::SessionOpened, "session", id)
                    .with("projectId", row.project.as_str())
                    .with("keyId", key.key.id.as_str())
                    .with("expiresAt", row.expires_at.rfc3339())
                    .with_some("agentId", row.agent.map(|agent| agent.to_string()))
                    .with_some("workType", row.work_type.as_deref())
                    .with_some("tools", tools);
                opener.record(tx, event)
            })
            .await?;
        Ok(OpenedSession { session, full_key: minted.full_key })
    }

    /// One session.
    pub async fn get(&self, id: &SessionId) -> Result<Option<Session>> {
        let session = self.0.rows.first(sql::GET, &params![id], Session::from_row).await?;
        if let Some(session) = &session {
            self.0.require_project(&session.project)?;
        }
        Ok(session)
    }

    /// Lists sessions in projects that the caller covers, newest first. With `state`, only sessions currently in it.
    pub async fn list(&self, page: &PageRequest, state: Option<SessionState>) -> Result<Page<Session>> {
        let start = start_of(page);
        let cover = self.0.cover.to_row();
        let now = self.0.clock.now();
        // An open session cannot be older than the maximum lifetime, so a long history need not be searched.
        let ttl_ms = i64::try_from(limits::SESSION_TTL_SECONDS_MAX).unwrap_or(i64::MAX).saturating_mul(1_000);
        let floor = match state {
            Some(SessionState::Open) => now.plus_ms(ttl_ms.saturating_neg()),
            _ => Timestamp::from_ms(i64::MIN),
        };
        let state = state.map(SessionState::word);
        let params = params![start.created_at, start.id, start.rows, cover, state, now, floor];
        let rows = self.0.rows.query(sql::LIST, &params, Session::from_row).await?;
        Ok(Page::from_rows(rows, page.rows, |session| Cursor { created_at: session.created_at, id: session.id.to_string() }))
    }

    /// Ends a session. Its key is revoked and its door answers 410 immediately. Ending it twice is a conflict. `also` writes further
    /// changes in the same transaction.
    pub async fn end(
        &self,
        id: &SessionId,
        outcome: Option<SessionOutcome>,
        also: impl Fn(&mut OrgTx<'_, '_>, Timestamp) -> Result<()> + Send + 'static,
    ) -> Result<Option<Session>> {
        if self.get(id).await?.is_none() {
            return Ok(None);
        }
        let (id, now, access) = (*id, self.0.clock.now(), self.0.clone());
        self.0
            .write(move |tx| {
                if !end_in(tx, &access, &id, outcome, now)? {
                    return Err(Error::new(Kind::Conflict, "the session has already ended"));
                }
                also(tx, now)?;
                tx.first(sql::GET, &params![id], Session::from_row)
            })
            .await
    }
}

/// Ends the sessions of an agent that is disabled or removed.
pub(crate) fn end_sessions_of(tx: &mut OrgTx<'_, '_>, access: &Access, agent: &AgentId, now: Timestamp) -> Result<()> {
    end_found(tx, access, sql::OPEN_OF_AGENT, agent.as_str(), now)
}

/// Ends the sessions that a revoked key opened.
pub(crate) fn end_sessions_opened_by_key(tx: &mut OrgTx<'_, '_>, access: &Access, key: &KeyId, now: Timestamp) -> Result<()> {
    end_found(tx, access, sql::OPENED_BY_KEY, key.as_str(), now)
}

/// Ends the sessions that a user opened.
pub(crate) fn end_sessions_opened_by_user(tx: &mut OrgTx<'_, '_>, access: &Access, user: &UserId, now: Timestamp) -> Result<()> {
    end_found(tx, access, sql::OPENED_BY_USER, user.as_str(), now)
}

/// Ends the open sessions that `statement` finds for `whose`.
fn end_found(tx: &mut OrgTx<'_, '_>, access: &Access, statement: &'static str, whose: &str, now: Timestamp) -> Result<()> {
    for id in tx.query(statement, &params![whose, now], |row| Ok(SessionId::from_row(row.text("id")?)))? {
        end_in(tx, access, &id, None, now)?;
    }
    Ok(())
}

/// Ends a session and revokes its key, with an audit entry, unless it has already ended.
fn end_in(
    tx: &mut OrgTx<'_, '_>,
    access: &Access,
    id: &SessionId,
    outcome: Option<SessionOutcome>,
    now: Timestamp,
) -> Result<bool> {
    let outcome = outcome.map(SessionOutcome::word);
    if tx.execute(sql::END, &params![id, now, outcome])? == 0 {
        return Ok(false);
    }
    tx.execute(sql::REVOKE_KEYS, &params![id, now])?;
    tx.bump()?;
    access.record(tx, Event::new(EventKind::SessionEnded, "session", id).with_some("outcome", outcome))?;
    Ok(true)
}

/// An agent with a project may only run there.
fn check_agent(agents_project: Option<Option<String>>, project: &ProjectId) -> Result<()> {
    match agents_project {
        None => Err(Error::not_found("agent", "there is no such agent, or it is disabled")),
        Some(Some(other)) if other != project.as_str() => {
            Err(Error::new(Kind::InvalidParams, "the agent belongs to another project"))
        }
        Some(_) => Ok(()),
    }
}

pub(crate) fn allowlist_to_row(allowlist: &Allowlist) -> Option<String> {
    match allowlist {
        Allowlist::All => None,
        Allowlist::Only(names) => Some(serde_json::Value::from(names.iter().map(String::as_str).collect::<Vec<_>>()).to_string()),
    }
}

pub(crate) fn allowlist_from_row(text: Option<&str>) -> Result<Allowlist> {
    match text {
        None => Ok(Allowlist::All),
        Some(text) => Ok(Allowlist::Only(Arc::new(serde_json::from_str(text).map_err(Error::internal)?))),
    }
}
