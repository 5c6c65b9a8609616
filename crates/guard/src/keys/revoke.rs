//! Revokes a key, alone or with all keys it created. Removing or disabling a user treats the keys they created in the same way.

use base::limits::{PAGE_ROWS_MAX, SWEEP_ROWS_MAX};
use base::{EventKind, KeyId, Result, Scope, Timestamp};
use store::{OrgTx, params};

use super::{Key, Keys, sql};
use crate::access::{Access, Manager};
use crate::audit::Event;
use crate::sessions::end_sessions_opened_by_key;

/// The result of a revocation.
#[derive(Clone, Debug)]
pub struct Revocation {
    /// The key.
    pub key: Key,
    /// The keys it created.
    pub descendants: Descendants,
}

/// The keys that a key or user created, directly or through other keys, after the creator lost its rights.
#[derive(Clone, Debug, Default)]
pub struct Descendants {
    /// How many of them were revoked now.
    pub revoked: u64,
    /// Those that are still valid: the oldest ones.
    pub valid: Vec<Key>,
}

impl Keys<'_> {
    /// Revokes a key and ends the sessions it opened. With `cascade`, also revokes all keys it created, directly or through others.
    /// They stop working immediately. A key may revoke itself, and keys with no more rights than its own.
    ///
    /// `None` if there is no such key, or if it is already revoked. With `cascade` it may already be revoked.
    pub async fn revoke(&self, id: &KeyId, cascade: bool) -> Result<Option<Revocation>> {
        let (id, now, access) = (*id, self.0.clock.now(), self.0.clone());
        let creator = Creator { access: access.clone(), id: id.to_string(), cascade, now };
        let first = creator.clone();
        let write = self.0.write(move |tx| {
            let Some(key) = revoke_one(tx, &access, &id, cascade, now)? else {
                return Ok(None);
            };
            Ok(Some(Revocation { key, descendants: first.begin(tx)? }))
        });
        let Some(mut revocation) = write.await? else {
            return Ok(None);
        };
        creator.finish(&mut revocation.descendants).await?;
        Ok(Some(revocation))
    }
}

fn revoke_one(tx: &mut OrgTx<'_, '_>, access: &Access, id: &KeyId, cascade: bool, now: Timestamp) -> Result<Option<Key>> {
    let Some(mut key) = tx.first(sql::GET, &params![id], |row| Key::from_row(access.org(), row))? else {
        return Ok(None);
    };
    // A created key has no more rights than its creator, so one check is enough.
    if access.who != Manager::Key(*id) {
        require_rights_of(access, &key)?;
    }
    if tx.execute(sql::REVOKE, &params![id, now])? > 0 {
        key.revoked_at = Some(now);
        tx.bump()?;
        access.record(tx, Event::new(EventKind::KeyRevoked, "key", id).with("cascade", cascade))?;
    } else if !cascade {
        return Ok(None);
    }
    end_sessions_opened_by_key(tx, access, id, now)?;
    Ok(Some(key))
}

/// Refuses a caller with fewer rights than the key.
fn require_rights_of(access: &Access, key: &Key) -> Result<()> {
    access.require_cover(key.scopes)?;
    access.cover.require_cover(&key.cover)?;
    access.agents.require_cover(&key.agents)
}

/// A key or user that loses its rights, and may have created keys.
#[derive(Clone)]
pub(crate) struct Creator {
    /// The caller.
    pub(crate) access: Access,
    /// The id of the key or user.
    pub(crate) id: String,
    /// Whether the created keys are revoked too.
    pub(crate) cascade: bool,
    /// The time of the revocation.
    pub(crate) now: Timestamp,
}

impl Creator {
    /// Refuses a cascade by a caller that may not revoke all keys that the creator made. A user's keys can have more rights than the
    /// user has now, so each is checked.
    pub(crate) fn require_right_to_cascade(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        if !self.cascade {
            return Ok(());
        }
        self.access.require(Scope::KeysWrite)?;
        self.created(tx, u32::MAX)?.iter().try_for_each(|key| require_rights_of(&self.access, key))
    }

    /// Revokes as many of the created keys as fit one transaction, and lists those that are still valid.
    pub(crate) fn begin(&self, tx: &mut OrgTx<'_, '_>) -> Result<Descendants> {
        let revoked = if self.cascade { self.revoke_some(tx)? } else { 0 };
        Ok(Descendants { revoked, valid: self.created(tx, PAGE_ROWS_MAX)? })
    }

    /// Revokes the keys of a cascade that did not fit the first transaction.
    pub(crate) async fn finish(&self, descendants: &mut Descendants) -> Result<()> {
        while self.cascade && !descendants.valid.is_empty() {
            let creator = self.clone();
            let rest = self.access.to_the_end();
            let (revoked, valid) = rest.write(move |tx| Ok((creator.revoke_some(tx)?, creator.created(tx, 1)?))).await?;
            descendants.revoked += revoked;
            descendants.valid = valid;
        }
        Ok(())
    }

    /// Revokes some of the created keys and ends their sessions, with audit entries for each. Returns how many.
    fn revoke_some(&self, tx: &mut OrgTx<'_, '_>) -> Result<u64> {
        let mut revoked = 0;
        for key in self.created(tx, SWEEP_ROWS_MAX)? {
            revoked += tx.execute(sql::REVOKE, &params![key.id, self.now])?;
            let event = Event::new(EventKind::KeyRevoked, "key", key.id).with("togetherWith", self.id.as_str());
            self.access.record(tx, event)?;
            end_sessions_opened_by_key(tx, &self.access, &key.id, self.now)?;
        }
        if revoked > 0 {
            tx.bump()?;
        }
        Ok(revoked)
    }

    fn created(&self, tx: &mut OrgTx<'_, '_>, rows: u32) -> Result<Vec<Key>> {
        tx.query(sql::MINTED_BY, &params![self.id, self.now, rows], |row| Key::from_row(self.access.org(), row))
    }
}
