//! API keys, as the doors and the management API meet them.

use std::sync::Arc;

use base::secret::SecretHash;
use base::{KeyId, OrgId, ScopeSet, SessionId, Timestamp};
use store::params;

use super::{KEY_PREFIX, sql};
use crate::audit::{By, Event};
use crate::guard::Guard;
use crate::keys::{AgentCover, ProjectCover};
use crate::refusal::Refusal;

/// What a presented `rsk_…` turned out to be.
pub(crate) enum Presented {
    /// The instance admin's key, by its hash: it acts in any org.
    InstanceAdmin(SecretHash),
    /// An org's key.
    Key(KeyRow),
}

/// A key of an org.
pub(crate) struct KeyRow {
    pub(crate) id: KeyId,
    pub(crate) org: OrgId,
    /// Whether it, or the key that it lives and dies with, was revoked or has expired.
    pub(crate) is_dead: bool,
    pub(crate) scopes: ScopeSet,
    pub(crate) cover: ProjectCover,
    /// The registered agents that it may open sessions for.
    pub(crate) agents: AgentCover,
    /// The one session it is good for, if it was minted for one.
    pub(crate) session: Option<SessionId>,
    /// The key that opened that session.
    pub(crate) parent: Option<KeyId>,
    pub(crate) expires_at: Option<Timestamp>,
    /// The org's change number, read before the row.
    pub(crate) change_number: u64,
}

impl KeyRow {
    /// The key whose bucket this one draws from: sessions share their opener's.
    pub(crate) fn bucket_name(&self) -> String {
        self.parent.as_ref().unwrap_or(&self.id).to_string()
    }
}

impl Guard {
    /// Looks a presented secret up. Whatever is wrong with it, the answer is the same.
    pub(crate) async fn presented_key(&self, secret: &str) -> Result<Presented, Refusal> {
        match self.remembered_key(secret).await? {
            Presented::Key(key) if key.is_dead => Err(Refusal::Unauthorized),
            presented => Ok(presented),
        }
    }

    /// The same, and a dead key is found too, for as long as it is remembered.
    pub(super) async fn remembered_key(&self, secret: &str) -> Result<Presented, Refusal> {
        if !secret.starts_with(KEY_PREFIX) {
            return Err(Refusal::Unauthorized);
        }
        let hash = SecretHash::of(secret);
        let org = self.store.first(sql::ORG_OF_KEY, &params![hash.hex()], |row| Ok(OrgId::from_row(row.text(0)?))).await?;
        let Some(org) = org else {
            let admin = self.store.first(sql::INSTANCE_KEY, &params![hash.hex()], |row| Ok(hash.matches(row.text(0)?))).await?;
            return if admin == Some(true) { Ok(Presented::InstanceAdmin(hash)) } else { Err(Refusal::Unauthorized) };
        };
        self.key_row(&org, hash).await.map(Presented::Key)
    }

    async fn key_row(&self, org: &OrgId, hash: SecretHash) -> Result<KeyRow, Refusal> {
        let change_number = self.store.change_number(org).await?;
        let now = self.clock.now();
        let row = self
            .rows_of(org)
            .first(sql::KEY, &params![hash.hex()], |row| {
                let revoked = row.get::<Option<Timestamp>>(6)?.is_some() || row.get::<Option<Timestamp>>(8)?.is_some();
                let expiries = [row.get::<Option<Timestamp>>(5)?, row.get::<Option<Timestamp>>(7)?];
                let expires_at = expiries.into_iter().flatten().min();
                Ok(KeyRow {
                    id: KeyId::from_row(row.text(0)?),
                    org: *org,
                    is_dead: revoked || expires_at.is_some_and(|expires_at| expires_at <= now),
                    scopes: ScopeSet::from_row(row.text(1)?),
                    cover: ProjectCover::from_row(row.get::<Option<String>>(2)?.as_deref())?,
                    session: row.get::<Option<String>>(3)?.map(|id| SessionId::from_row(&id)),
                    parent: row.get::<Option<String>>(4)?.map(|id| KeyId::from_row(&id)),
                    expires_at,
                    change_number,
                    agents: AgentCover::from_row(row.get::<Option<String>>(9)?.as_deref())?,
                })
            })
            .await?;
        row.ok_or(Refusal::Unauthorized)
    }

    /// Makes `secret` the instance admin's key of `node`; the one it had before is dead, and so are the keys of the sessions that
    /// it opened.
    pub async fn remember_instance_key(&self, secret: &str, node: &str) -> base::Result<()> {
        let (hash, node, now) = (SecretHash::of(secret).hex(), node.to_owned(), self.clock.now());
        self.store
            .write_instance(move |tx| {
                tx.execute(sql::FORGET_OTHER_INSTANCE_KEYS, &params![hash, node])?;
                tx.execute(sql::REMEMBER_INSTANCE_KEY, &params![hash, node, now])
            })
            .await?;
        // A start that is cut short here is made up for by the next.
        for org in self.store.query(sql::ORGS_WITH_ORPHANS, &[], |row| Ok(OrgId::from_row(row.text(0)?))).await? {
            let ledger = Arc::clone(&self.ledger);
            let rows = self.rows_of(&org);
            let write = rows.write(move |tx| {
                let keys = tx.execute(sql::REVOKE_ORPHANS, &params![now])?;
                tx.bump()?;
                let event = Event::new("session.keys_revoked", "org", org).with("keys", keys);
                ledger.write(tx, &By::system(), event.with("reason", "instance_admin_key_replaced"))
            });
            write.await?;
        }
        Ok(())
    }

    /// Mints a secret of the form that instance admins' keys have.
    pub fn mint_instance_key() -> String {
        base::secret::mint(crate::keys::SECRET_PREFIX)
    }
}
