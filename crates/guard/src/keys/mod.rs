//! API keys of an org. A key is shown once; afterwards only its hash is stored.

mod cover;
mod revoke;
pub(crate) mod sql;

use base::limits::PAGE_ROWS_MAX;
use base::secret::{SecretHash, mint};
use base::{Cursor, Error, EventKind, KeyId, Kind, OrgId, Page, PageRequest, Result, ScopeSet, SessionId, Timestamp};
use store::{OrgTx, Row, params};

pub use cover::{AgentCover, Cover, Listed, ProjectCover};
pub(crate) use revoke::Creator;
pub use revoke::{Descendants, Revocation};

use crate::access::{Access, Manager};
use crate::agents;
use crate::audit::Event;
use crate::change::Standing;
use crate::tenants::{checked_name, start_of};

/// The prefix of a key.
pub(crate) const SECRET_PREFIX: &str = "rsk_live_";
/// How many characters of a key are shown after its creation.
const SHOWN_CHARS: usize = SECRET_PREFIX.len() + 6;

/// A key, without its secret.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// Its org.
    pub org: OrgId,
    /// Its name.
    pub name: String,
    /// The first characters of the secret, for recognition.
    pub prefix: String,
    /// Its scopes.
    pub scopes: ScopeSet,
    /// Which projects it covers.
    pub cover: ProjectCover,
    /// Which registered agents it may open sessions for.
    pub agents: AgentCover,
    /// The creator: a key, a user, or the instance admin. Unknown for some keys created by older releases.
    pub created_by: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires, if ever.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// Data of a new key.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Its name.
    pub name: String,
    /// Which projects it covers.
    pub cover: ProjectCover,
    /// Its scopes.
    pub scopes: ScopeSet,
    /// Which registered agents it may open sessions for. Default: none, or with all scopes the same agents as its creator.
    pub agents: Option<AgentCover>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

impl Key {
    fn from_row(org: &OrgId, row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: KeyId::from_row(row.text("id")?),
            org: *org,
            name: row.get("name")?,
            prefix: row.get("prefix")?,
            scopes: ScopeSet::from_row(row.text("scopes")?),
            cover: ProjectCover::from_row(row.get::<Option<String>>("project_ids")?.as_deref())?,
            created_at: row.get("created_at")?,
            expires_at: row.get("expires_at")?,
            revoked_at: row.get("revoked_at")?,
            agents: AgentCover::from_row(row.get::<Option<String>>("agent_ids")?.as_deref())?,
            created_by: row.get("created_by")?,
        })
    }

    fn minted_event(&self) -> Event {
        Event::new(EventKind::KeyMinted, "key", self.id)
            .with("name", self.name.as_str())
            .with("scopes", self.scopes.to_row())
            .with_some("projectIds", self.cover.to_row())
            .with_some("agentIds", self.agents.to_row())
            .with_some("expiresAt", self.expires_at.map(Timestamp::rfc3339))
    }
}

/// The org's keys, for a management call.
pub struct Keys<'a>(&'a Access);

impl Access {
    /// The org's keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys(self)
    }
}

impl Keys<'_> {
    /// Creates a key with at most the caller's scopes, projects and agents.
    pub async fn mint(&self, new: NewKey) -> Result<MintedKey> {
        let access = self.0;
        access.require_cover(new.scopes)?;
        let now = access.clock.now();
        let expires_at = new.expires_at.or(access.expires_at);
        if access.expires_at.is_some_and(|own| expires_at > Some(own)) {
            return Err(Error::new(Kind::NotPermitted, "you cannot grant more than you have; the key must not outlive yours"));
        }
        if expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(Error::new(Kind::InvalidParams, "`expiresAt` must be in the future"));
        }
        let is_everything = new.scopes.covers(ScopeSet::EVERYTHING);
        // Inherited agents may have been deleted since. Agents named in the request must exist.
        let named = new.agents.clone().unwrap_or_else(AgentCover::none);
        let agents = new.agents.clone().or_else(|| is_everything.then(|| access.agents.clone()));
        let new = NewKey { name: checked_name(&new.name)?, agents, expires_at, ..new };
        let minted = MintedKey::made_by(&access.who, access.org(), new, now);
        let (row, minter) = (minted.clone(), access.clone());
        access
            .write(move |tx| {
                for project in row.key.cover.listed() {
                    minter.require_project_in(tx, project)?;
                }
                minter.cover.require_cover(&row.key.cover)?;
                for agent in named.listed() {
                    agents::require_in(tx, agent)?;
                }
                minter.agents.require_cover(&row.key.agents)?;
                let event = row.keep(tx)?;
                minter.record(tx, event)
            })
            .await?;
        Ok(minted)
    }

    /// One key.
    pub async fn get(&self, id: &KeyId) -> Result<Option<Key>> {
        let key = self.0.rows.first(sql::GET, &params![id], |row| Key::from_row(self.0.org(), row)).await?;
        if key.as_ref().is_some_and(|key| !self.0.cover.holds(&key.cover)) {
            return Err(Error::new(Kind::NotPermitted, "your key covers fewer projects than this one, so it may not see it"));
        }
        Ok(key)
    }

    /// Lists keys that cover no more than the caller's, newest first. The keys of sessions are not listed.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<Key>> {
        let cursor_of = |key: &Key| Cursor { created_at: key.created_at, id: key.id.to_string() };
        // SQL that works on both engines cannot compare lists of projects. So a limited caller's page is filtered here and may need
        // several reads.
        let rows = if self.0.cover.is_all() { page.rows } else { PAGE_ROWS_MAX };
        let (mut next, mut found) = (PageRequest { rows, after: page.after.clone() }, Vec::new());
        loop {
            let start = start_of(&next);
            let params = params![start.created_at, start.id, start.rows];
            let read = self.0.rows.query(sql::LIST, &params, |row| Key::from_row(self.0.org(), row)).await?;
            let read = Page::from_rows(read, next.rows, cursor_of);
            next.after = read.next;
            found.extend(read.items.into_iter().filter(|key| self.0.cover.holds(&key.cover)));
            if found.len() > page.rows as usize || next.after.is_none() {
                return Ok(Page::from_rows(found, page.rows, cursor_of));
            }
        }
    }
}

/// A new key with its secret.
#[derive(Clone, Debug)]
pub struct MintedKey {
    /// The key.
    pub key: Key,
    /// The whole secret.
    pub full_key: String,
}

impl MintedKey {
    fn new(org: &OrgId, new: NewKey, now: Timestamp) -> Self {
        let full_key = mint(SECRET_PREFIX);
        let key = Key {
            id: KeyId::new(now),
            org: *org,
            name: new.name,
            prefix: full_key.chars().take(SHOWN_CHARS).collect(),
            scopes: new.scopes,
            cover: new.cover,
            agents: new.agents.unwrap_or_else(AgentCover::none),
            created_by: None,
            created_at: now,
            expires_at: new.expires_at,
            revoked_at: None,
        };
        Self { key, full_key }
    }

    /// A key created by `maker`.
    fn made_by(maker: &Manager, org: &OrgId, new: NewKey, now: Timestamp) -> Self {
        let mut minted = Self::new(org, new, now);
        minted.key.created_by = Some(maker.label());
        minted
    }

    /// The first key of a new org, with all rights in it.
    pub(crate) fn first_of(org: &OrgId, now: Timestamp) -> Self {
        let (cover, scopes, agents) = (ProjectCover::All, ScopeSet::EVERYTHING, Some(AgentCover::All));
        let new = NewKey { name: "first key".to_owned(), cover, scopes, agents, expires_at: None };
        Self::made_by(&Manager::InstanceAdmin, org, new, now)
    }

    /// Stores the key and returns its audit event.
    pub(crate) fn keep(&self, tx: &mut OrgTx<'_, '_>) -> Result<Event> {
        insert(tx, &self.key, self.hash(), None)?;
        Ok(self.key.minted_event())
    }

    fn hash(&self) -> SecretHash {
        SecretHash::of(&self.full_key)
    }
}

/// Creates the key for a session that `opener` is about to open.
pub(crate) fn mint_for_session(opener: &Access, session: &SessionId, now: Timestamp, expires_at: Timestamp) -> MintedKey {
    let new = NewKey {
        name: format!("session {session}"),
        cover: ProjectCover::All,
        scopes: opener.scopes,
        agents: None,
        expires_at: Some(expires_at),
    };
    MintedKey::new(opener.org(), new, now)
}

/// Stores the key in the transaction that opens the session.
pub(crate) fn keep_for_session(tx: &mut OrgTx<'_, '_>, opener: &Access, session: &SessionId, minted: &MintedKey) -> Result<()> {
    let opener = match (&opener.who, &opener.standing) {
        (Manager::Key(id), _) => Opener::Key(*id),
        (Manager::User { id, .. }, _) => Opener::Other(id.to_string()),
        (Manager::InstanceAdmin, Standing::InstanceKey(key)) => Opener::Other(key.hex()),
        (Manager::InstanceAdmin, _) => Opener::Nobody,
    };
    insert(tx, &minted.key, minted.hash(), Some((session, opener)))
}

/// What a session's key depends on, in addition to its session.
enum Opener {
    /// The key that opened it.
    Key(KeyId),
    /// A user, or the hash of the instance admin's key.
    Other(String),
    /// The server itself.
    Nobody,
}

fn insert(tx: &mut OrgTx<'_, '_>, key: &Key, hash: SecretHash, session: Option<(&SessionId, Opener)>) -> Result<()> {
    let (scopes, cover, hash) = (key.scopes.to_row(), key.cover.to_row(), hash.hex());
    let (session, parent, opened_by) = match session {
        None => (None, None, None),
        Some((id, Opener::Key(parent))) => (Some(id), Some(parent), None),
        Some((id, Opener::Other(opened_by))) => (Some(id), None, Some(opened_by)),
        Some((id, Opener::Nobody)) => (Some(id), None, None),
    };
    let agents = key.agents.to_row();
    let params = params![
        key.id,
        key.name,
        hash,
        key.prefix,
        scopes,
        cover,
        session,
        parent,
        opened_by,
        key.created_at,
        key.expires_at,
        agents,
        key.created_by
    ];
    tx.execute(sql::INSERT, &params).map(drop)
}
