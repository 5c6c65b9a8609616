//! Access of management calls: the caller, its org and its rights.

use std::sync::Arc;

use base::{AgentId, Error, Kind, OrgId, ProjectId, RequestId, Result, Scope, ScopeSet, Timestamp};
use store::{OrgStore, OrgTx, params};

use crate::audit::{By, Event, Ledger};
use crate::change::Standing;
use crate::guard::Guard;
use crate::identify::{Presented, bearer};
use crate::keys::{AgentCover, ProjectCover};
use crate::rate::UnderWay;
use crate::refusal::Refusal;
use crate::tenants;
use crate::users::Role;

/// The credential of a management request.
#[derive(Clone, Debug, Default)]
pub struct Credential<'a> {
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The login cookie's value.
    pub login: Option<&'a str>,
    /// The `x-csrf-token` header. A login needs it for changes.
    pub csrf: Option<&'a str>,
    /// Whether the request may change something.
    pub changes: bool,
}

/// The caller of a management call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manager {
    /// The instance admin.
    InstanceAdmin,
    /// An API key.
    Key(base::KeyId),
    /// A user with a console login.
    User {
        /// The user.
        id: base::UserId,
        /// The user's role in the org.
        role: Role,
    },
}

impl Manager {
    /// The caller's name, as stored in rows it creates.
    pub fn label(&self) -> String {
        match self {
            Manager::InstanceAdmin => "instance-admin".to_owned(),
            Manager::Key(id) => id.to_string(),
            Manager::User { id, .. } => id.to_string(),
        }
    }
}

/// An authenticated management call: an org's rows and the caller's rights. Cheap to clone into a transaction.
#[derive(Clone)]
pub struct Access {
    pub(crate) rows: OrgStore,
    pub(crate) who: Manager,
    pub(crate) scopes: ScopeSet,
    pub(crate) cover: ProjectCover,
    /// The registered agents that the caller may open sessions for.
    pub(crate) agents: AgentCover,
    /// When the caller's own key expires. Keys it creates must not outlive it.
    pub(crate) expires_at: Option<Timestamp>,
    /// The credential to check again before a change.
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

    /// The org's rows, for reading. Changes go through [`Access::change_as`].
    pub fn rows(&self) -> &OrgStore {
        &self.rows
    }

    /// Sets the request id for the audit trail.
    pub fn in_request(mut self, request: RequestId) -> Self {
        self.request = Some(request);
        self
    }

    /// Writes an audit entry in the transaction of the change.
    pub(crate) fn record(&self, tx: &mut OrgTx<'_, '_>, event: Event) -> Result<()> {
        self.ledger.write(tx, &self.by(), event)
    }

    pub(crate) fn by(&self) -> By {
        By::manager(&self.who, self.request)
    }

    /// The caller.
    pub fn who(&self) -> &Manager {
        &self.who
    }

    /// The caller's scopes.
    pub fn scopes(&self) -> ScopeSet {
        self.scopes
    }

    /// The clock for timestamps of rows.
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

    /// Refuses a caller that would grant more scopes than it has.
    pub fn require_cover(&self, scopes: ScopeSet) -> Result<()> {
        if self.scopes.covers(scopes) {
            return Ok(());
        }
        let have = self.scopes.to_row();
        Err(Error::new(Kind::NotPermitted, format!("you cannot grant more scopes than you have; you have `{have}`")))
    }

    /// Refuses a key that does not cover the project.
    pub fn require_project(&self, project: &ProjectId) -> Result<()> {
        if self.cover.covers(project) {
            return Ok(());
        }
        Err(Error::new(Kind::NotPermitted, "this key does not cover the project"))
    }

    /// Refuses an unknown project, and one that the key does not cover. Another org's project is unknown.
    pub(crate) fn require_project_in(&self, tx: &mut OrgTx<'_, '_>, project: &ProjectId) -> Result<()> {
        if tx.first(tenants::sql::PROJECT_EXISTS, &params![project], |_| Ok(()))?.is_none() {
            return Err(Error::not_found("project", format!("there is no project `{project}`")));
        }
        self.require_project(project)
    }

    /// Refuses a key that does not cover `project`, or without one, a key that does not cover the whole org.
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
        let message = format!("this key may not open sessions for the agent `{agent}`; use a key whose `agents` lists it");
        Err(Error::new(Kind::NotPermitted, message))
    }

    /// Allows only an owner's login and the instance admin. An org's key is refused, whatever its scopes.
    pub fn require_owner(&self) -> Result<()> {
        match &self.who {
            Manager::InstanceAdmin | Manager::User { role: Role::Owner, .. } => Ok(()),
            Manager::Key(_) | Manager::User { .. } => {
                let message = "only an owner who is logged in, or the instance admin, may do this";
                Err(Error::new(Kind::NotPermitted, message))
            }
        }
    }

    /// Allows only the login of an owner or admin.
    pub fn require_human_decision(&self) -> Result<()> {
        match &self.who {
            Manager::User { role: Role::Owner | Role::Admin, .. } => Ok(()),
            Manager::User { role: Role::Member, .. } => {
                Err(Error::new(Kind::NotPermitted, "only an owner or admin may do this; your role is member"))
            }
            Manager::Key(_) | Manager::InstanceAdmin => {
                Err(Error::new(Kind::NotPermitted, "only an owner or admin who is logged in may do this, not a key"))
            }
        }
    }
}

impl Guard {
    /// Authenticates a management call. `org` is the id or slug from the route or `?org=`. Without it the caller's own org is used.
    /// To the caller, other orgs do not exist.
    pub async fn access(&self, credential: &Credential<'_>, org: Option<&str>) -> Result<Access, Refusal> {
        if credential.authorization.is_none() && credential.login.is_some() {
            return self.login_access(credential, org).await;
        }
        let secret = bearer(credential.authorization)?;
        match self.presented_key(secret).await? {
            Presented::InstanceAdmin(key) => {
                let org = org.ok_or_else(|| Error::new(Kind::InvalidParams, "name an org with `?org=`"))?;
                let org = self.find_org(org).await?.ok_or_else(no_such_org)?;
                Ok(Access { standing: Standing::InstanceKey(key), ..self.operator_access(&org) })
            }
            Presented::Key(key) => {
                // A session's key works only at that session's door.
                self.rates.allowance_to_manage(&key.org, key.id.as_str(), self.key_rate()).take(1).await?;
                if key.session.is_some() {
                    let access = self.make_access(&key.org, Manager::Key(key.id), ScopeSet::default(), key.cover);
                    let why = "a session's key works only for its own session; use an org's key or log in";
                    return Err(Refusal::ForbiddenTo(Box::new(access.requester()), why));
                }
                self.require_own(&key.org, org).await?;
                let access = self.make_access(&key.org, Manager::Key(key.id), key.scopes, key.cover);
                Ok(Access { agents: key.agents, expires_at: key.expires_at, standing: Standing::Key(key.id), ..access })
            }
        }
    }

    /// Takes a slot for a management call before its body is read. Users are charged here; a key was charged when it was
    /// authenticated.
    pub async fn begin(&self, access: &Access) -> Result<UnderWay, Refusal> {
        let allowance = self.rates.allowance_to_manage(access.org(), &access.who.label(), self.key_rate());
        if matches!(access.who, Manager::User { .. }) {
            allowance.take(1).await?;
        }
        allowance.enter()
    }

    /// Allows only the instance admin's key.
    pub async fn instance_access(&self, credential: &Credential<'_>) -> Result<(), Refusal> {
        match self.presented_key(bearer(credential.authorization)?).await? {
            Presented::InstanceAdmin(_) => Ok(()),
            Presented::Key(_) => Err(Refusal::Forbidden),
        }
    }

    /// Access for the server itself, such as on the first start or for an embedded door.
    pub fn operator_access(&self, org: &OrgId) -> Access {
        self.make_access(org, Manager::InstanceAdmin, ScopeSet::EVERYTHING, ProjectCover::All)
    }

    pub(crate) async fn require_own(&self, own: &OrgId, asked: Option<&str>) -> Result<(), Refusal> {
        match asked {
            None => Ok(()),
            Some(asked) if asked == own.as_str() => Ok(()),
            Some(asked) if self.find_org(asked).await?.as_ref() == Some(own) => Ok(()),
            Some(_) => Err(no_such_org().into()),
        }
    }

    pub(crate) fn make_access(&self, org: &OrgId, who: Manager, scopes: ScopeSet, cover: ProjectCover) -> Access {
        // A key's agents are in its row.
        let agents = match &who {
            Manager::InstanceAdmin | Manager::User { role: Role::Owner | Role::Admin, .. } => AgentCover::All,
            Manager::Key(_) | Manager::User { role: Role::Member, .. } => AgentCover::none(),
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
        self.store.first(tenants::sql::FIND_ORG, &params![id_or_slug], |row| Ok(OrgId::from_row(row.text("org_id")?))).await
    }
}

fn no_such_org() -> Error {
    Error::not_found("org", "no such org")
}
