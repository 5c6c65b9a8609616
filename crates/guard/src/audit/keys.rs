//! Signing keys: random for each org, with the private key encrypted at rest and deleted when the key is retired.

use audit::{Jwk, Jwks, SigningKey, VerifyingKey, announce};
use base::limits::REVOCATION_REASON_CHARS_MAX;
use base::{Error, EventKind, Kind, OrgId, Result, Timestamp};
use store::{OrgTx, Row, params};

use super::event::{By, Event};
use super::ledger::Ledger;
use super::read::Audit;
use super::sql;
use crate::guard::Guard;

/// A signing key's public key and state.
#[derive(Clone, Debug)]
pub struct AuditKey {
    /// Its id: the thumbprint of the public key.
    pub kid: String,
    /// The public key, as a JWK's `x`.
    pub public_key: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was replaced by a newer key.
    pub retired_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The reason for the revocation.
    pub revoked_reason: Option<String>,
}

impl AuditKey {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            kid: row.get("kid")?,
            public_key: row.get("public_key")?,
            created_at: row.get("created_at")?,
            retired_at: row.get("retired_at")?,
            revoked_at: row.get("revoked_at")?,
            revoked_reason: row.get("revoked_reason")?,
        })
    }

    fn is_active(&self) -> bool {
        self.retired_at.is_none() && self.revoked_at.is_none()
    }

    fn jwk(&self) -> Result<Jwk> {
        let revoked = self.revoked_at.map(|at| (at, self.revoked_reason.clone()));
        jwk_of(&self.public_key, self.created_at, revoked).ok_or_else(|| Error::internal("invalid public key"))
    }
}

/// A key as it is published. `revoked` is the time of its revocation, and the reason. `None` if the public key is invalid.
pub(crate) fn jwk_of(public_key: &str, created_at: Timestamp, revoked: Option<(Timestamp, Option<String>)>) -> Option<Jwk> {
    let jwk = Jwk::new(VerifyingKey::parse(public_key)?, created_at);
    Some(match revoked {
        Some((at, reason)) => jwk.revoked(at, reason),
        None => jwk,
    })
}

/// The vault's place for a private key.
pub(crate) fn place_of(org: &OrgId, kid: &str) -> String {
    format!("audit_keys/{org}/{kid}")
}

impl Ledger {
    /// Creates a key that signs from the next entry on.
    pub(super) fn add_key(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        let key = SigningKey::generate();
        self.insert_key(tx, &key)
    }

    fn insert_key(&self, tx: &mut OrgTx<'_, '_>, key: &SigningKey) -> Result<()> {
        let kid = key.kid();
        let sealed = self.vault.seal(&place_of(tx.org(), kid), &key.to_seed())?;
        tx.execute(sql::INSERT_KEY, &params![kid, key.verifying_key().x(), sealed, self.clock().now()]).map(drop)
    }

    /// Creates a new key. The old key signs it in, and then never signs again.
    fn rotate(&self, tx: &mut OrgTx<'_, '_>, by: &By) -> Result<String> {
        let new = SigningKey::generate();
        let announce = |old: &SigningKey| announce::key_rotated(old.verifying_key(), new.verifying_key());
        let (old, payload) = self.with_active_key(tx, |key, _, _| Ok((key.kid().to_owned(), announce(key))))?;
        self.write(tx, by, Event::new(EventKind::AuditKeyRotated, "audit_key", new.kid()).with_all(payload))?;
        tx.execute(sql::RETIRE_KEY, &params![old, self.clock().now()])?;
        self.insert_key(tx, &new)?;
        Ok(new.kid().to_owned())
    }
}

impl Audit<'_> {
    /// All keys of the org, oldest first.
    pub async fn keys(&self) -> Result<Vec<AuditKey>> {
        self.access.rows.query(sql::KEYS, &[], AuditKey::from_row).await
    }

    /// Rotates the signing key and returns the new key's id.
    pub async fn rotate_key(&self) -> Result<String> {
        let (ledger, by) = (self.access.ledger.clone(), self.access.by());
        self.access.write(move |tx| ledger.rotate(tx, &by)).await
    }

    /// Revokes a key. Entries that it signs later are invalid. The active key is rotated first. `None` if there is no key `kid`.
    pub async fn revoke_key(&self, kid: &str, reason: Option<&str>) -> Result<Option<AuditKey>> {
        if reason.is_some_and(|reason| reason.chars().count() > REVOCATION_REASON_CHARS_MAX) {
            return Err(Error::new(
                Kind::InvalidParams,
                format!("a reason may have at most {REVOCATION_REASON_CHARS_MAX} characters"),
            ));
        }
        let (ledger, by) = (self.access.ledger.clone(), self.access.by());
        let (kid, reason) = (kid.to_owned(), reason.map(str::to_owned));
        let write = self.access.write(move |tx| {
            let find = |tx: &mut OrgTx<'_, '_>| {
                let keys = tx.query(sql::KEYS, &[], AuditKey::from_row)?;
                Ok::<_, Error>(keys.into_iter().find(|key| key.kid == kid))
            };
            let Some(key) = find(tx)? else {
                return Ok(None);
            };
            if key.revoked_at.is_some() {
                return Err(Error::new(Kind::Conflict, "the key is already revoked"));
            }
            if key.is_active() {
                ledger.rotate(tx, &by)?;
            }
            // Not before the time of any entry it has signed, because another node's clock may be ahead.
            let latest = tx.first(sql::LATEST, &[], |row| row.get::<Option<Timestamp>>("latest"))?.flatten();
            let revoked_at = latest.map_or(ledger.clock().now(), |latest| latest.max(ledger.clock().now()));
            tx.execute(sql::REVOKE_KEY, &params![kid, revoked_at, reason])?;
            let event = Event::new(EventKind::AuditKeyRevoked, "audit_key", &kid).with_some("reason", reason.as_deref());
            ledger.write(tx, &by, event)?;
            find(tx)
        });
        write.await
    }
}

impl Guard {
    /// The public keys that verify a workspace's trail. An unknown workspace has none.
    pub async fn audit_keys(&self, workspace: &str) -> Result<Jwks> {
        let Some(org) = OrgId::parse(workspace) else {
            return Ok(Jwks::default());
        };
        let keys = self.rows_of(&org).query(sql::KEYS, &[], AuditKey::from_row).await?;
        Ok(Jwks { keys: keys.iter().map(AuditKey::jwk).collect::<Result<_>>()? })
    }
}
