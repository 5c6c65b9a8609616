//! The session door: an `rsk_…` key and a session id.

use std::sync::Arc;

use base::secret::SecretHash;
use base::{
    Actor, AgentId, Allowlist, EventKind, KeyId, OrgId, Principal, ProjectView, RequestId, ScopeSet, SessionId, Timestamp,
    ToolNames,
};
use policy::Compiled;
use store::params;

use super::key::KeyRow;
use super::{Caller, CredentialKey, Presented, bearer, project_from_row, sql};
use crate::agents::Bounds;
use crate::audit::{By, Event};
use crate::guard::Guard;
use crate::keys::{AgentCover, ProjectCover};
use crate::refusal::Refusal;
use crate::sessions::allowlist_from_row;

/// A session and its project.
struct SessionRow {
    agent: Option<AgentId>,
    /// The session's bounds: the current rights of its registered agent.
    bounds: Bounds,
    label: Option<String>,
    work_type: Option<String>,
    allowlist: Allowlist,
    tool_names: ToolNames,
    expires_at: Timestamp,
    ended: bool,
    project: ProjectView,
    plan_has_graph: bool,
}

/// The rights of a key in the session's org.
struct KeyInSession {
    key: Option<KeyId>,
    scopes: ScopeSet,
    expires_at: Option<Timestamp>,
    bucket_name: String,
    change_number: u64,
    /// The registered agents that it may open sessions for. A session's own key covers the session's agent.
    agents: AgentCover,
}

impl SessionRow {
    fn is_over(&self, now: Timestamp) -> bool {
        self.ended || self.expires_at <= now
    }
}

impl Guard {
    /// Identifies a request at the session door. Refuses in the order of the contract: 401, 404, 403, 410.
    pub async fn identify_session(
        &self,
        authorization: Option<&str>,
        session: &str,
        request: &RequestId,
    ) -> Result<Arc<Caller>, Refusal> {
        let secret = bearer(authorization)?;
        let known = SessionId::parse(session).map(|id| CredentialKey::Session(SecretHash::of(secret), id));
        if let Some(credential) = &known
            && let Some(caller) = self.remembered(credential).await?
        {
            return Ok(caller);
        }
        let presented = self.remembered_key(secret).await?;
        let found = known.zip(SessionId::parse(session));
        if let Presented::Key(key) = &presented
            && key.is_dead
        {
            return Err(self.refusal_of_dead(key, found.as_ref().map(|(_, id)| id)).await);
        }
        let Some((credential, id)) = found else {
            return Err(Refusal::SessionNotFound);
        };
        let org = self
            .store
            .first(sql::ORG_OF_SESSION, &params![id], |row| Ok(OrgId::from_row(row.text("org_id")?)))
            .await?
            .ok_or(Refusal::SessionNotFound)?;
        let knock = Knock::new(&presented, &org, &id, *request);
        let key = match self.key_in_session(presented, &org, &id).await {
            Err(Refusal::Forbidden) => return Err(self.record_forbidden(&knock, "other_org_or_session").await),
            key => key?,
        };
        let row = self.session_row(&org, &id).await?.ok_or(Refusal::SessionNotFound)?;
        if !key.1.covers(&row.project.id) {
            return Err(self.record_forbidden(&knock, "project_not_covered").await);
        }
        if row.agent.is_some_and(|agent| !key.0.agents.covers(&agent)) {
            return Err(self.record_forbidden(&knock, "agent_not_covered").await);
        }
        if row.ended {
            return Err(Refusal::SessionEnded);
        }
        let is_instance_admin = key.0.key.is_none();
        let policies = self.active_policies(&org, key.0.change_number).await?;
        let caller = Arc::new(self.session_caller(org, id, key.0, row, policies));
        self.still_good(&caller)?;
        // No org's change number moves when the instance admin's key is revoked, so it is looked up on every request.
        if !is_instance_admin {
            self.callers.insert(credential, Arc::clone(&caller));
        }
        Ok(caller)
    }

    /// The refusal for an invalid key. The own key of a session that is over gets 410, so that its holder knows to open another session.
    async fn refusal_of_dead(&self, key: &KeyRow, session: Option<&SessionId>) -> Refusal {
        let (Some(own), true) = (key.session, key.session.as_ref() == session) else {
            return Refusal::Unauthorized;
        };
        match self.session_row(&key.org, &own).await {
            Ok(Some(row)) if row.is_over(self.clock.now()) => Refusal::SessionEnded,
            Ok(_) => Refusal::Unauthorized,
            Err(refusal) => refusal,
        }
    }

    async fn key_in_session(
        &self,
        presented: Presented,
        org: &OrgId,
        session: &SessionId,
    ) -> Result<(KeyInSession, ProjectCover), Refusal> {
        match presented {
            Presented::InstanceAdmin(_) => {
                let change_number = self.store.change_number(org).await?;
                let key = KeyInSession {
                    key: None,
                    scopes: ScopeSet::EVERYTHING,
                    expires_at: None,
                    bucket_name: super::INSTANCE_BUCKET.to_owned(),
                    change_number,
                    agents: AgentCover::All,
                };
                Ok((key, ProjectCover::All))
            }
            Presented::Key(row) => {
                let other_session = row.session.as_ref().is_some_and(|only| only != session);
                if row.org != *org || other_session {
                    return Err(Refusal::Forbidden);
                }
                let bucket_name = row.bucket_name();
                let key = KeyInSession {
                    key: Some(row.id),
                    scopes: row.scopes,
                    // A session's own key is valid as long as its session, which then answers 410.
                    expires_at: row.expires_at.filter(|_| row.session.is_none()),
                    bucket_name,
                    change_number: row.change_number,
                    agents: if row.session.is_some() { AgentCover::All } else { row.agents },
                };
                Ok((key, row.cover))
            }
        }
    }

    async fn session_row(&self, org: &OrgId, id: &SessionId) -> Result<Option<SessionRow>, Refusal> {
        let row = self
            .rows_of(org)
            .first(sql::SESSION, &params![id], |row| {
                let agent = row.get::<Option<String>>("agent_id")?.map(|id| AgentId::from_row(&id));
                let bounds = match (&agent, row.get::<Option<String>>("agent_scopes")?) {
                    (None, _) => Bounds::NONE,
                    (Some(_), Some(scopes)) => Bounds::read(&scopes, row.text("agent_tools")?)?,
                    (Some(_), None) => Bounds::of_no_agent(),
                };
                Ok(SessionRow {
                    agent,
                    bounds,
                    label: row.get("agent_label")?,
                    work_type: row.get("work_type")?,
                    allowlist: allowlist_from_row(row.get::<Option<String>>("tools")?.as_deref())?,
                    tool_names: ToolNames::parse(row.text("tool_names")?).unwrap_or_default(),
                    expires_at: row.get("expires_at")?,
                    ended: row.get::<Option<Timestamp>>("ended_at")?.is_some(),
                    project: project_from_row(row)?,
                    plan_has_graph: row.get("plan_has_graph")?,
                })
            })
            .await?;
        Ok(row)
    }

    fn session_caller(&self, org: OrgId, id: SessionId, key: KeyInSession, row: SessionRow, policies: Arc<Compiled>) -> Caller {
        let actor = Actor::Session {
            id,
            agent: row.agent,
            label: row.label.map(Into::into),
            work_type: row.work_type.map(Into::into),
            key: key.key,
        };
        let principal = Principal {
            org,
            plan_has_graph: row.plan_has_graph,
            project: Some(row.project),
            actor,
            scopes: row.bounds.scopes(key.scopes),
            allowlist: row.bounds.allowlist(&row.allowlist),
            tool_names: row.tool_names,
        };
        Caller {
            principal,
            change_number: key.change_number,
            credential_expires_at: key.expires_at,
            session_expires_at: Some(row.expires_at),
            allowance: self.rates.allowance(&org, &key.bucket_name, self.key_rate()),
            policies,
        }
    }
}

/// A request with a valid key at a session's door. A 403 is audited in the trail of the session's org, because somebody tried its
/// session id. The holder of a key must not be able to fill another org's trail. So each refusal is charged to the key's rate limit,
/// and only some per minute are audited. The others are counted.
struct Knock {
    by: By,
    /// The key's org, and the name of its rate bucket.
    charged: (OrgId, String),
    /// The session's org.
    org: OrgId,
    session: SessionId,
}

impl Knock {
    fn new(presented: &Presented, org: &OrgId, session: &SessionId, request: RequestId) -> Self {
        let charged = match presented {
            Presented::InstanceAdmin(_) => (*org, super::INSTANCE_BUCKET.to_owned()),
            Presented::Key(key) => (key.org, key.bucket_name()),
        };
        Self { by: By::presented(presented, request), charged, org: *org, session: *session }
    }
}

impl Guard {
    /// Refuses a request and audits or counts the refusal. It is charged to the key's rate limit; an exhausted limit changes nothing.
    async fn record_forbidden(&self, knock: &Knock, why: &'static str) -> Refusal {
        let (org, bucket) = &knock.charged;
        if let Err(Refusal::Failed(error)) = self.rates.allowance(org, bucket, self.key_rate()).take(1).await {
            return Refusal::Failed(error);
        }
        let event = Event::new(EventKind::DoorForbidden, "session", knock.session).with("reason", why);
        let noted = self.note_forbidden(&self.rows_of(&knock.org), &knock.by, event).await;
        noted.map_or_else(Refusal::Failed, |()| Refusal::Forbidden)
    }
}
