//! Keys at the moment they are made: an org's first, a session's, any other.

use base::secret::{SecretHash, mint};
use base::{KeyId, OrgId, Result, ScopeSet, SessionId, Timestamp, UserId};
use store::{OrgTx, params};

use super::{AgentCover, Key, NewKey, ProjectCover, SECRET_PREFIX, sql};
use crate::access::{Access, Who};
use crate::audit::Event;
use crate::standing::Standing;

/// How much of a key may be shown after it was minted.
const SHOWN_CHARS: usize = SECRET_PREFIX.len() + 6;

/// A key at the one moment its secret is known.
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

    /// A key that `maker` makes.
    pub(super) fn made_by(maker: &Who, org: &OrgId, new: NewKey, now: Timestamp) -> Self {
        let mut minted = Self::new(org, new, now);
        minted.key.created_by = Some(maker.label());
        minted
    }

    /// The first key of a new org, which may do everything in it.
    pub(crate) fn first_of(org: &OrgId, now: Timestamp) -> Self {
        let (cover, scopes, agents) = (ProjectCover::All, ScopeSet::EVERYTHING, Some(AgentCover::All));
        let new = NewKey { name: "first key".to_owned(), cover, scopes, agents, expires_at: None };
        Self::made_by(&Who::InstanceAdmin, org, new, now)
    }

    /// Keeps it, and says what goes on the record.
    pub(crate) fn keep(&self, tx: &mut OrgTx<'_, '_>) -> Result<Event> {
        insert(tx, &self.key, self.hash(), None)?;
        Ok(self.key.minted_event())
    }

    fn hash(&self) -> SecretHash {
        SecretHash::of(&self.full_key)
    }
}

/// The key of a session that `opener` is about to open.
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

/// Keeps it inside the transaction that opens the session.
pub(crate) fn keep_for_session(tx: &mut OrgTx<'_, '_>, opener: &Access, session: &SessionId, minted: &MintedKey) -> Result<()> {
    let opener = match (&opener.who, &opener.standing) {
        (Who::Key(id), _) => Opener::Key(*id),
        (Who::User { id, .. }, _) => Opener::Other(id.to_string()),
        (Who::InstanceAdmin, Standing::InstanceKey(key)) => Opener::Other(key.hex()),
        (Who::InstanceAdmin, _) => Opener::Nobody,
    };
    insert(tx, &minted.key, minted.hash(), Some((session, opener)))
}

/// What a session's key lives and dies with, beside its session.
enum Opener {
    /// The key that opened it.
    Key(KeyId),
    /// A person, or the instance admin's key by its hash.
    Other(String),
    /// The server itself.
    Nobody,
}

/// Revokes the keys of the sessions that a person has opened.
pub(crate) fn revoke_opened_by(tx: &mut OrgTx<'_, '_>, user: &UserId, now: Timestamp) -> Result<()> {
    if tx.execute(sql::REVOKE_OPENED_BY, &params![user, now])? > 0 {
        tx.bump()?;
    }
    Ok(())
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
