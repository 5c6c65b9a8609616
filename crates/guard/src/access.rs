//! Management calls: who makes them, in which org, with which rights.

use std::sync::Arc;

use base::{AgentId, Error, Kind, OrgId, ProjectId, RequestId, Result, Scope, ScopeSet, Timestamp};
use store::{OrgStore, OrgTx, Seal, params};

use crate::audit::{By, Event, Ledger};
use crate::guard::Guard;
use crate::identify::{Presented, bearer};
use crate::keys::{AgentCover, ProjectCover};
use crate::rate::UnderWay;
use crate::refusal::Refusal;
use crate::standing::Standing;
use crate::tenants;
use crate::users::Role;

/// What a management request presents.
#[derive(Clone, Debug, Default)]
pub struct Credential<'a> {
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The login cookie's value.
    pub login: Option<&'a str>,
    /// The `x-csrf-token` header; a login that changes something needs it.
    pub csrf: Option<&'a str>,
    /// Whether the request may change something.
    pub changes: bool,
}

/// Who makes a management call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The operator of the instance.
    InstanceAdmin,
    /// An API key.
    Key(base::KeyId),
    /// A person at the console.
    User {
        /// The person.
        id: base::UserId,
        /// What they are in their org.
        role: Role,
    },
}

impl Who {
    /// The name that rows keep of whoever made them.
    pub fn label(&self) -> String {
        match self {
            Who::InstanceAdmin => "instance-admin".to_owned(),
            Who::Key(id) => id.to_string(),
            Who::User { id, .. } => id.to_string(),
        }
    }
}

/// A management call that was let in: an org's rows, and what may be done with them. Cheap to clone into a transaction.
#[derive(Clone)]
pub struct Access {
    pub(crate) rows: OrgStore,
    pub(crate) who: Who,
    pub(crate) scopes: ScopeSet,
    pub(crate) cover: ProjectCover,
    /// The registered agents that the caller may open sessions for.
    pub(crate) agents: AgentCover,
    /// When the caller's own key dies: what it mints does not live longer.
    pub(crate) expires_at: Option<Timestamp>,
    /// What the caller was let in with.
    pub(crate) standing: Standing,
    pub(crate) clock: base::Clock,
    pub(crate) session_ttl_seconds: u64,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) request: Option<RequestId>,
}

impl Access {
    /// The org.
    pub fn org(&self) -> &OrgId {
        self.rows.org()
    }

    /// The org's rows, to be looked at.
    pub fn rows(&self) -> &OrgStore {
        &self.rows
    }

    /// The org's rows, to be changed: the first change carries `event` into the audit trail.
    pub fn rows_for(&self, event: Event) -> OrgStore {
        self.rows.sealed_by(Arc::new(Recorded { access: self.clone(), event }))
    }

    /// A change by this caller, if what it came in with is still good.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (standing, now) = (self.standing.clone(), self.clock.now());
        let write = self.rows.write(move |tx| {
            standing.check(tx, now)?;
            job(tx)
        });
        write.await
    }

    /// The request that the audit trail names.
    pub fn in_request(mut self, request: RequestId) -> Self {
        self.request = Some(request);
        self
    }

    /// Puts what a change did on the record, in the change's own transaction.
    pub(crate) fn record(&self, tx: &mut OrgTx<'_, '_>, event: Event) -> Result<()> {
        self.ledger.write(tx, &self.by(), event)
    }

    pub(crate) fn by(&self) -> By {
        By::manager(&self.who, self.request)
    }

    /// Who calls.
    pub fn who(&self) -> &Who {
        &self.who
    }

    /// What they may do.
    pub fn scopes(&self) -> ScopeSet {
        self.scopes
    }

    /// The clock that rows are stamped by.
    pub fn clock(&self) -> &base::Clock {
        &self.clock
    }

    /// Refuses a caller without `scope`.
    pub fn require(&self, scope: Scope) -> Result<()> {
        if self.scopes.has(scope) {
            return Ok(());
        }
        Err(Error::new(Kind::NotPermitted, format!("this needs the scope `{scope}`")).with("scope", scope.word()))
    }

    /// Refuses a caller that would hand out more than it has.
    pub fn require_cover(&self, scopes: ScopeSet) -> Result<()> {
        if self.scopes.covers(scopes) {
            return Ok(());
        }
        let have = self.scopes.to_row();
        Err(Error::new(Kind::NotPermitted, format!("nobody hands out more than they have: you have `{have}`")))
    }

    /// Refuses a key that does not cover the project.
    pub fn require_project(&self, project: &ProjectId) -> Result<()> {
        if self.cover.covers(project) {
            return Ok(());
        }
        Err(Error::new(Kind::NotPermitted, "this key does not cover the project"))
    }

    /// Refuses a project that does not exist, and then one that the key does not cover: another org's looks like none.
    pub(crate) fn require_project_in(&self, tx: &mut OrgTx<'_, '_>, project: &ProjectId) -> Result<()> {
        if tx.first(tenants::sql::PROJECT_EXISTS, &params![project], |_| Ok(()))?.is_none() {
            return Err(Error::new(Kind::NotFound, format!("there is no project `{project}`")));
        }
        self.require_project(project)
    }

    /// Refuses a key that covers less than what works in `project`, or in the whole org without one.
    pub(crate) fn require_reach(&self, project: Option<&ProjectId>) -> Result<()> {
        match project {
            Some(project) => self.require_project(project),
            None if self.cover.is_all() => Ok(()),
            None => Err(Error::new(Kind::NotPermitted, "this needs a key that covers all projects of the org")),
        }
    }

    /// Refuses a caller that may not open sessions for the agent.
    pub(crate) fn require_agent(&self, agent: &AgentId) -> Result<()> {
        if self.agents.covers(agent) {
            return Ok(());
        }
        let message = format!("this key may not open sessions for the agent `{agent}`: use a key whose `agents` lists it");
        Err(Error::new(Kind::NotPermitted, message))
    }

    /// Refuses everyone but an owner who is logged in and the instance admin. No key passes, whatever its scopes.
    pub fn require_owner(&self) -> Result<()> {
        match &self.who {
            Who::InstanceAdmin | Who::User { role: Role::Owner, .. } => Ok(()),
            Who::Key(_) | Who::User { .. } => {
                let message = "only an owner who is logged in, or the instance admin, may do this: no other login, and no key";
                Err(Error::new(Kind::NotPermitted, message))
            }
        }
    }

    /// Refuses everyone but a person who may decide for the org.
    pub fn require_human_decision(&self) -> Result<()> {
        match &self.who {
            Who::User { role: Role::Owner | Role::Admin, .. } => Ok(()),
            _ => Err(Error::new(Kind::NotPermitted, "only an owner or admin who is logged in may do this, not a key")),
        }
    }
}

/// An event that waits for the change it tells of.
struct Recorded {
    access: Access,
    event: Event,
}

impl Seal for Recorded {
    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        let access = &self.access;
        access.standing.check(tx, access.clock.now())?;
        access.record(tx, self.event.clone())?;
        for told in tx.told().to_vec() {
            let event = Event::new(told.what, told.kind, told.id).with("togetherWith", self.event.entity_id.as_str());
            access.record(tx, event)?;
        }
        Ok(())
    }
}

impl Guard {
    /// Lets a management call in. `org` is the id or slug that the route or `?org=` names; without it the caller's own is meant.
    /// Another org than the caller's does not exist for it.
    pub async fn access(&self, credential: &Credential<'_>, org: Option<&str>) -> Result<Access, Refusal> {
        if credential.authorization.is_none() && credential.login.is_some() {
            return self.login_access(credential, org).await;
        }
        let secret = bearer(credential.authorization)?;
        match self.presented_key(secret).await? {
            Presented::InstanceAdmin(key) => {
                let org = org.ok_or_else(|| Error::invalid("org", "the instance admin says which org with ?org="))?;
                let org = self.find_org(org).await?.ok_or_else(no_such_org)?;
                Ok(Access { standing: Standing::InstanceKey(key), ..self.operator_access(&org) })
            }
            Presented::Key(key) => {
                // A session's key opens that session's door and nothing else.
                if key.session.is_some() {
                    let access = self.make_access(&key.org, Who::Key(key.id), ScopeSet::default(), key.cover);
                    return Err(Refusal::ForbiddenTo(access.requester()));
                }
                self.rates.allowance_to_manage(&key.org, key.id.as_str(), self.key_rate()).take(1).await?;
                self.require_own(&key.org, org).await?;
                let access = self.make_access(&key.org, Who::Key(key.id), key.scopes, key.cover);
                Ok(Access { agents: key.agents, expires_at: key.expires_at, standing: Standing::Key(key.id), ..access })
            }
        }
    }

    /// A place among the management calls under way, before anything of the request's body is read. People draw on a rate here; a
    /// key has paid when it was let in.
    pub async fn begin(&self, access: &Access) -> Result<UnderWay, Refusal> {
        let allowance = self.rates.allowance_to_manage(access.org(), &access.who.label(), self.key_rate());
        if matches!(access.who, Who::User { .. }) {
            allowance.take(1).await?;
        }
        allowance.enter()
    }

    /// Lets in whoever holds the instance admin's key, and nobody else.
    pub async fn instance_access(&self, credential: &Credential<'_>) -> Result<(), Refusal> {
        match self.presented_key(bearer(credential.authorization)?).await? {
            Presented::InstanceAdmin(_) => Ok(()),
            Presented::Key(_) => Err(Refusal::Forbidden),
        }
    }

    /// The server's own hand in an org, for what it does by itself: the first start, an embedded door.
    pub fn operator_access(&self, org: &OrgId) -> Access {
        self.make_access(org, Who::InstanceAdmin, ScopeSet::EVERYTHING, ProjectCover::All)
    }

    pub(crate) async fn require_own(&self, own: &OrgId, asked: Option<&str>) -> Result<(), Refusal> {
        match asked {
            None => Ok(()),
            Some(asked) if asked == own.as_str() => Ok(()),
            Some(asked) if self.find_org(asked).await?.as_ref() == Some(own) => Ok(()),
            Some(_) => Err(no_such_org().into()),
        }
    }

    pub(crate) fn make_access(&self, org: &OrgId, who: Who, scopes: ScopeSet, cover: ProjectCover) -> Access {
        // What a key may do for agents stands in its row.
        let agents = match &who {
            Who::InstanceAdmin | Who::User { role: Role::Owner | Role::Admin, .. } => AgentCover::All,
            Who::Key(_) | Who::User { role: Role::Member, .. } => AgentCover::none(),
        };
        Access {
            rows: self.rows_of(org),
            who,
            scopes,
            cover,
            agents,
            expires_at: None,
            standing: Standing::Server,
            clock: self.clock.clone(),
            session_ttl_seconds: self.limits.session_ttl_seconds,
            ledger: Arc::clone(&self.ledger),
            request: None,
        }
    }

    async fn find_org(&self, id_or_slug: &str) -> Result<Option<OrgId>> {
        self.store.first(tenants::sql::FIND_ORG, &params![id_or_slug], |row| Ok(OrgId::from_row(row.text(0)?))).await
    }
}

fn no_such_org() -> Error {
    Error::new(Kind::NotFound, "no such org")
}
