//! API keys, as the doors and the management API see them.

use std::sync::Arc;

use base::secret::SecretHash;
use base::{EventKind, KeyId, OrgId, ScopeSet, SessionId, Timestamp};
use store::params;

use super::{KEY_PREFIX, sql};
use crate::audit::{By, Event};
use crate::guard::Guard;
use crate::keys::{AgentCover, ProjectCover};
use crate::refusal::Refusal;

/// The meaning of an `rsk_…` key.
pub(crate) enum Presented {
    /// The hash of the instance admin's key, which works in any org.
    InstanceAdmin(SecretHash),
    /// An org's key.
    Key(KeyRow),
}

/// An org's key.
pub(crate) struct KeyRow {
    pub(crate) id: KeyId,
    pub(crate) org: OrgId,
    /// Whether it, or the key that opened its session, was revoked or has expired.
    pub(crate) is_dead: bool,
    pub(crate) scopes: ScopeSet,
    pub(crate) cover: ProjectCover,
    /// The registered agents that it may open sessions for.
    pub(crate) agents: AgentCover,
    /// The only session it works for, if it was created for one.
    pub(crate) session: Option<SessionId>,
    /// The key that opened that session.
    pub(crate) parent: Option<KeyId>,
    pub(crate) expires_at: Option<Timestamp>,
    /// The org's change number, read before the row.
    pub(crate) change_number: u64,
}

impl KeyRow {
    /// The key whose rate bucket is charged: session keys share their opener's.
    pub(crate) fn bucket_name(&self) -> String {
        self.parent.as_ref().unwrap_or(&self.id).to_string()
    }
}

impl Guard {
    /// Looks up a key. All failures have the same answer.
    pub(crate) async fn presented_key(&self, secret: &str) -> Result<Presented, Refusal> {
        match self.remembered_key(secret).await? {
            Presented::Key(key) if key.is_dead => Err(Refusal::Unauthorized),
            presented => Ok(presented),
        }
    }

    /// Like [`Guard::presented_key`], but also finds an invalid key while it is still stored.
    pub(super) async fn remembered_key(&self, secret: &str) -> Result<Presented, Refusal> {
        if !secret.starts_with(KEY_PREFIX) {
            return Err(Refusal::Unauthorized);
        }
        let hash = SecretHash::of(secret);
        let org = self.store.first(sql::ORG_OF_KEY, &params![hash.hex()], |row| Ok(OrgId::from_row(row.text("org_id")?))).await?;
        let Some(org) = org else {
            let admin =
                self.store.first(sql::INSTANCE_KEY, &params![hash.hex()], |row| Ok(hash.matches(row.text("hash")?))).await?;
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
                let revoked = row.get::<Option<Timestamp>>("revoked_at")?.is_some()
                    || row.get::<Option<Timestamp>>("parent_revoked_at")?.is_some();
                let expiries = [row.get::<Option<Timestamp>>("expires_at")?, row.get::<Option<Timestamp>>("parent_expires_at")?];
                let expires_at = expiries.into_iter().flatten().min();
                Ok(KeyRow {
                    id: KeyId::from_row(row.text("id")?),
                    org: *org,
                    is_dead: revoked || expires_at.is_some_and(|expires_at| expires_at <= now),
                    scopes: ScopeSet::from_row(row.text("scopes")?),
                    cover: ProjectCover::from_row(row.get::<Option<String>>("project_ids")?.as_deref())?,
                    session: row.get::<Option<String>>("session_id")?.map(|id| SessionId::from_row(&id)),
                    parent: row.get::<Option<String>>("parent_key_id")?.map(|id| KeyId::from_row(&id)),
                    expires_at,
                    change_number,
                    agents: AgentCover::from_row(row.get::<Option<String>>("agent_ids")?.as_deref())?,
                })
            })
            .await?;
        row.ok_or(Refusal::Unauthorized)
    }

    /// Makes `secret` the instance admin's key of `node`. Revokes its previous key, and the keys of the sessions that key opened.
    pub async fn remember_instance_key(&self, secret: &str, node: &str) -> base::Result<()> {
        let (hash, node, now) = (SecretHash::of(secret).hex(), node.to_owned(), self.clock.now());
        self.store
            .write_instance(move |tx| {
                tx.execute(sql::FORGET_OTHER_INSTANCE_KEYS, &params![hash, node])?;
                tx.execute(sql::REMEMBER_INSTANCE_KEY, &params![hash, node, now])
            })
            .await?;
        // If this is interrupted, the next start does the rest.
        for org in self.store.query(sql::ORGS_WITH_ORPHANS, &[], |row| Ok(OrgId::from_row(row.text("org_id")?))).await? {
            let ledger = Arc::clone(&self.ledger);
            let change = self.own_change(&org);
            let write = change.write(move |tx| {
                let keys = tx.execute(sql::REVOKE_ORPHANS, &params![now])?;
                tx.bump()?;
                let event = Event::new(EventKind::SessionKeysRevoked, "org", org).with("keys", keys);
                ledger.write(tx, &By::system(), event.with("reason", "instance_admin_key_replaced"))
            });
            write.await?;
        }
        Ok(())
    }

    /// Creates a secret for an instance admin's key.
    pub fn mint_instance_key() -> String {
        base::secret::mint(crate::keys::SECRET_PREFIX)
    }
}
