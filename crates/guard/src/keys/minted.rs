//! Creation of keys: an org's first key, a session's key, and all others.

use base::secret::{SecretHash, mint};
use base::{KeyId, OrgId, Result, ScopeSet, SessionId, Timestamp};
use store::{OrgTx, params};

use super::{AgentCover, Key, NewKey, ProjectCover, SECRET_PREFIX, sql};
use crate::access::{Access, Manager};
use crate::audit::Event;
use crate::change::Standing;

/// How many characters of a key are shown after its creation.
const SHOWN_CHARS: usize = SECRET_PREFIX.len() + 6;

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
    pub(super) fn made_by(maker: &Manager, org: &OrgId, new: NewKey, now: Timestamp) -> Self {
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
