//! Revoking a key, alone or with everything it minted.

use base::limits::{PAGE_ROWS_MAX, SWEEP_ROWS_MAX};
use base::{KeyId, Result, Timestamp};
use store::{OrgTx, params};

use super::{Key, Keys, sql};
use crate::access::{Access, Who};
use crate::audit::Event;

/// What revoking a key came to.
#[derive(Clone, Debug)]
pub struct Revocation {
    /// The key.
    pub key: Key,
    /// How many keys that it minted, directly or through others, were revoked with it.
    pub minted_revoked: u64,
    /// Keys that it minted, directly or through others, and that live on: the oldest of them.
    pub minted: Vec<Key>,
}

impl Keys<'_> {
    /// Revokes a key, and the keys of the sessions that it opened. With `cascade` also every key that it minted, those that these
    /// minted, and so on. All are dead when this answers. A key revokes itself, and those that can do no more than itself.
    ///
    /// `None` when there is no such key, or when it was revoked before; with `cascade` a key that was revoked before is fine.
    pub async fn revoke(&self, id: &KeyId, cascade: bool) -> Result<Option<Revocation>> {
        let (id, now, access) = (*id, self.0.clock.now(), self.0.clone());
        let write = self.0.write(move |tx| {
            let Some(mut revocation) = revoke_one(tx, &access, &id, cascade, now)? else {
                return Ok(None);
            };
            if cascade {
                revocation.minted_revoked += revoke_minted(tx, &access, &id, now)?;
            }
            revocation.minted = minted_by(tx, &access, &id, now, PAGE_ROWS_MAX)?;
            Ok(Some(revocation))
        });
        let Some(mut revocation) = write.await? else {
            return Ok(None);
        };
        // The caller may just have revoked its own key: it was let in to finish this, so the key is not looked at again.
        while cascade && !revocation.minted.is_empty() {
            let access = self.0.clone();
            let write = self.0.rows.write(move |tx| {
                let revoked = revoke_minted(tx, &access, &id, now)?;
                Ok((revoked, minted_by(tx, &access, &id, now, 1)?))
            });
            let (revoked, left) = write.await?;
            revocation.minted_revoked += revoked;
            revocation.minted = left;
        }
        Ok(Some(revocation))
    }
}

fn revoke_one(tx: &mut OrgTx<'_, '_>, access: &Access, id: &KeyId, cascade: bool, now: Timestamp) -> Result<Option<Revocation>> {
    let Some(mut key) = tx.first(sql::GET, &params![id], |row| Key::from_row(access.org(), row))? else {
        return Ok(None);
    };
    // What a key minted can do no more than the key, so this is asked once.
    if access.who != Who::Key(*id) {
        access.require_cover(key.scopes)?;
        access.cover.require_cover(&key.cover)?;
        access.agents.require_cover(&key.agents)?;
    }
    if tx.execute(sql::REVOKE, &params![id, now])? > 0 {
        key.revoked_at = Some(now);
        tx.bump()?;
        access.record(tx, Event::new("key.revoked", "key", id).with("cascade", cascade))?;
    } else if !cascade {
        return Ok(None);
    }
    Ok(Some(Revocation { key, minted_revoked: 0, minted: Vec::new() }))
}

/// Revokes some of the keys that a key minted, each on the record. Says how many.
fn revoke_minted(tx: &mut OrgTx<'_, '_>, access: &Access, id: &KeyId, now: Timestamp) -> Result<u64> {
    let mut revoked = 0;
    for key in minted_by(tx, access, id, now, SWEEP_ROWS_MAX)? {
        revoked += tx.execute(sql::REVOKE, &params![key.id, now])?;
        access.record(tx, Event::new("key.revoked", "key", key.id).with("togetherWith", id.as_str()))?;
    }
    if revoked > 0 {
        tx.bump()?;
    }
    Ok(revoked)
}

fn minted_by(tx: &mut OrgTx<'_, '_>, access: &Access, id: &KeyId, now: Timestamp, rows: u32) -> Result<Vec<Key>> {
    tx.query(sql::MINTED_BY, &params![id, now, rows], |row| Key::from_row(access.org(), row))
}
