//! API keys of an org: minted once, shown once, known afterwards by their hash.

mod cover;
mod minted;
mod revoke;
pub(crate) mod sql;

use base::limits::PAGE_ROWS_MAX;
use base::{Cursor, Error, KeyId, Kind, OrgId, Page, PageRequest, Result, ScopeSet, Timestamp};
use store::{Row, params};

pub use cover::{AgentCover, Cover, Listed, ProjectCover};
pub use minted::MintedKey;
pub(crate) use minted::{keep_for_session, mint_for_session, revoke_opened_by};
pub use revoke::Revocation;

use crate::access::Access;
use crate::agents;
use crate::audit::Event;
use crate::tenants::{checked_name, start_of};

/// What a full key begins with.
pub(crate) const SECRET_PREFIX: &str = "rsk_live_";

/// A key, without its secret.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// Its org.
    pub org: OrgId,
    /// Its name.
    pub name: String,
    /// The first characters of the secret, to recognise it by.
    pub prefix: String,
    /// What it may do.
    pub scopes: ScopeSet,
    /// Which projects it covers.
    pub cover: ProjectCover,
    /// Which registered agents it may open sessions for.
    pub agents: AgentCover,
    /// Who made it: a key, a person, or the instance admin. Not known of some keys that older releases made.
    pub created_by: Option<String>,
    /// When it was minted.
    pub created_at: Timestamp,
    /// When it stops working, if ever.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// What a new key is made from.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Its name.
    pub name: String,
    /// Which projects it covers.
    pub cover: ProjectCover,
    /// What it may do.
    pub scopes: ScopeSet,
    /// Which registered agents it may open sessions for. Without it none, or, for a key that may do everything, those of its
    /// maker.
    pub agents: Option<AgentCover>,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
}

impl Key {
    fn from_row(org: &OrgId, row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: KeyId::from_row(row.text(0)?),
            org: *org,
            name: row.get(1)?,
            prefix: row.get(2)?,
            scopes: ScopeSet::from_row(row.text(3)?),
            cover: ProjectCover::from_row(row.get::<Option<String>>(4)?.as_deref())?,
            created_at: row.get(5)?,
            expires_at: row.get(6)?,
            revoked_at: row.get(7)?,
            agents: AgentCover::from_row(row.get::<Option<String>>(8)?.as_deref())?,
            created_by: row.get(9)?,
        })
    }

    fn minted_event(&self) -> Event {
        Event::new("key.minted", "key", self.id)
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
    /// Mints a key with at most the caller's scopes, projects and agents.
    pub async fn mint(&self, new: NewKey) -> Result<MintedKey> {
        let access = self.0;
        access.require_cover(new.scopes)?;
        let now = access.clock.now();
        let expires_at = new.expires_at.or(access.expires_at);
        if access.expires_at.is_some_and(|own| expires_at > Some(own)) {
            return Err(Error::new(Kind::NotPermitted, "nobody hands out more than they have: the key would outlive yours"));
        }
        if expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(Error::invalid("expiresAt", "the key would be dead already: name a time to come"));
        }
        let is_everything = new.scopes.covers(ScopeSet::EVERYTHING);
        // Those that are handed on need not exist any more; those that are named do.
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
            return Err(Error::new(Kind::NotPermitted, "a key for some projects does not see one for more"));
        }
        Ok(key)
    }

    /// Those that cover no more than the caller's, newest first; those of sessions live and die with their session and are not
    /// listed.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<Key>> {
        let cursor_of = |key: &Key| Cursor { created_at: key.created_at, id: key.id.to_string() };
        // Whether one list of projects holds another is nothing that both engines can say: a narrow caller's page is filled
        // from as many reads as it takes.
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
