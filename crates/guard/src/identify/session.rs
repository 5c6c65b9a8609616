//! The session door: an `rsk_…` key and a session id.

use std::sync::Arc;

use base::secret::SecretHash;
use base::{
    Actor, AgentId, Allowlist, KeyId, OrgId, Principal, ProjectId, ProjectView, RequestId, ScopeSet, SessionId, Timestamp,
    ToolNames,
};
use policy::Compiled;
use store::params;

use super::{Caller, CredentialKey, Presented, bearer, sql};
use crate::audit::{By, Event};
use crate::guard::Guard;
use crate::keys::ProjectCover;
use crate::refusal::Refusal;
use crate::sessions::allowlist_from_row;

/// A session and its project, as the door needs them.
struct SessionRow {
    agent: Option<AgentId>,
    label: Option<String>,
    work_type: Option<String>,
    allowlist: Allowlist,
    tool_names: ToolNames,
    expires_at: Timestamp,
    ended: bool,
    project: ProjectView,
    plan_has_graph: bool,
}

/// What the presented key allows in the session's org.
struct KeyInSession {
    key: Option<KeyId>,
    scopes: ScopeSet,
    expires_at: Option<Timestamp>,
    bucket_name: String,
    change_number: u64,
}

impl Guard {
    /// Identifies a request at the session door. Refuses in the contract's order: 401, 404, 403, 410.
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
        let presented = self.presented_key(secret).await?;
        let Some((credential, id)) = known.zip(SessionId::parse(session)) else {
            return Err(Refusal::SessionNotFound);
        };
        let org = self
            .store
            .first(sql::ORG_OF_SESSION, &params![id], |row| Ok(OrgId::from_row(row.text(0)?)))
            .await?
            .ok_or(Refusal::SessionNotFound)?;
        let by = By::presented(&presented, *request);
        let key = match self.key_in_session(presented, &org, &id).await {
            Err(Refusal::Forbidden) => return Err(self.record_forbidden(&org, &id, &by, "other_org_or_session").await),
            key => key?,
        };
        let row = self.session_row(&org, &id).await?.ok_or(Refusal::SessionNotFound)?;
        if !key.1.covers(&row.project.id) {
            return Err(self.record_forbidden(&org, &id, &by, "project_not_covered").await);
        }
        if row.ended {
            return Err(Refusal::SessionEnded);
        }
        let is_instance_admin = key.0.key.is_none();
        let policies = self.policies_in_force(&org, key.0.change_number).await?;
        let caller = Arc::new(self.session_caller(org, id, key.0, row, policies));
        self.still_good(&caller)?;
        // No org's change number tells when the instance admin's key dies, so that one is looked up each time.
        if !is_instance_admin {
            self.callers.insert(credential, Arc::clone(&caller));
        }
        Ok(caller)
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
                    bucket_name: "instance".to_owned(),
                    change_number,
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
                    expires_at: row.expires_at,
                    bucket_name,
                    change_number: row.change_number,
                };
                Ok((key, row.cover))
            }
        }
    }

    async fn session_row(&self, org: &OrgId, id: &SessionId) -> Result<Option<SessionRow>, Refusal> {
        let row = self
            .rows_of(org)
            .first(sql::SESSION, &params![id], |row| {
                Ok(SessionRow {
                    agent: row.get::<Option<String>>(0)?.map(|id| AgentId::from_row(&id)),
                    label: row.get(1)?,
                    work_type: row.get(2)?,
                    allowlist: allowlist_from_row(row.get::<Option<String>>(3)?.as_deref())?,
                    tool_names: ToolNames::parse(row.text(4)?).unwrap_or_default(),
                    expires_at: row.get(5)?,
                    ended: row.get::<Option<Timestamp>>(6)?.is_some(),
                    project: ProjectView {
                        id: ProjectId::from_row(row.text(7)?),
                        has_root: row.get::<Option<String>>(8)?.is_some(),
                        memory_enabled: row.get(9)?,
                        graph_enabled: row.get(10)?,
                    },
                    plan_has_graph: row.get(11)?,
                })
            })
            .await?;
        Ok(row)
    }

    /// A 403 at the door is on the record of the session's org: someone tried its handle.
    async fn record_forbidden(&self, org: &OrgId, session: &SessionId, by: &By, why: &'static str) -> Refusal {
        let event = Event::new("door.forbidden", "session", session).with("reason", why);
        let noted = self.note_forbidden(&self.rows_of(org), by, event).await;
        noted.map_or_else(Refusal::Failed, |()| Refusal::Forbidden)
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
            scopes: key.scopes,
            allowlist: row.allowlist,
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
