//! Signing keys: random for each org, the private half encrypted at rest and gone once the key is retired.

use audit::{Jwk, Jwks, SigningKey, VerifyingKey, announce};
use base::{Error, Kind, OrgId, Result, Timestamp};
use store::{OrgTx, Row, params};

use super::event::{By, Event};
use super::ledger::Ledger;
use super::read::Audit;
use super::sql;
use crate::guard::Guard;

/// Longest reason for a revocation: it is published with the key.
const REASON_CHARS_MAX: usize = 200;

/// A signing key's public half, and what became of it.
#[derive(Clone, Debug)]
pub struct AuditKey {
    /// Its name: the thumbprint of the public half.
    pub kid: String,
    /// The public half, as a JWK's `x`.
    pub public_key: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When another one took its place.
    pub retired_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Why.
    pub revoked_reason: Option<String>,
}

impl AuditKey {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            kid: row.get(0)?,
            public_key: row.get(1)?,
            created_at: row.get(2)?,
            retired_at: row.get(3)?,
            revoked_at: row.get(4)?,
            revoked_reason: row.get(5)?,
        })
    }

    fn is_active(&self) -> bool {
        self.retired_at.is_none() && self.revoked_at.is_none()
    }

    fn jwk(&self) -> Result<Jwk> {
        let key = VerifyingKey::parse(&self.public_key).ok_or_else(|| Error::internal("a public key that is none"))?;
        let jwk = Jwk::new(key, self.created_at);
        Ok(match self.revoked_at {
            Some(at) => jwk.revoked(at, self.revoked_reason.clone()),
            None => jwk,
        })
    }
}

/// Where a key's private half lies.
pub(crate) fn place_of(org: &OrgId, kid: &str) -> String {
    format!("audit_keys/{org}/{kid}")
}

impl Ledger {
    /// Makes a key and lets it sign from the next entry on.
    pub(super) fn add_key(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        let key = SigningKey::generate();
        self.insert_key(tx, &key)
    }

    fn insert_key(&self, tx: &mut OrgTx<'_, '_>, key: &SigningKey) -> Result<()> {
        let kid = key.kid();
        let sealed = self.vault.seal(&place_of(tx.org(), kid), &key.to_seed())?;
        tx.execute(sql::INSERT_KEY, &params![kid, key.verifying_key().x(), sealed, self.clock().now()]).map(drop)
    }

    /// The old key signs the new one in, and never again.
    fn rotate(&self, tx: &mut OrgTx<'_, '_>, by: &By) -> Result<String> {
        let new = SigningKey::generate();
        let announce = |old: &SigningKey| announce::key_rotated(old.verifying_key(), new.verifying_key());
        let (old, payload) = self.with_active_key(tx, |key, _, _| Ok((key.kid().to_owned(), announce(key))))?;
        self.write(tx, by, Event::new(announce::KEY_ROTATED, "audit_key", new.kid()).with_all(payload))?;
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

    /// Puts a new key in the active one's place and says its name.
    pub async fn rotate_key(&self) -> Result<String> {
        let (ledger, by) = (self.access.ledger.clone(), self.access.by());
        self.access.write(move |tx| ledger.rotate(tx, &by)).await
    }

    /// Revokes a key: entries it signs from now on are invalid. The active key is rotated first. `None` when there is none
    /// called `kid`.
    pub async fn revoke_key(&self, kid: &str, reason: Option<&str>) -> Result<Option<AuditKey>> {
        if reason.is_some_and(|reason| reason.chars().count() > REASON_CHARS_MAX) {
            return Err(Error::invalid("reason", format!("a reason has at most {REASON_CHARS_MAX} characters")));
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
                return Err(Error::new(Kind::Conflict, "the key has been revoked already"));
            }
            if key.is_active() {
                ledger.rotate(tx, &by)?;
            }
            // Not before anything it has signed: another node's clock may be ahead of this one's.
            let latest = tx.first(sql::LATEST, &[], |row| row.get::<Option<Timestamp>>(0))?.flatten();
            let revoked_at = latest.map_or(ledger.clock().now(), |latest| latest.max(ledger.clock().now()));
            tx.execute(sql::REVOKE_KEY, &params![kid, revoked_at, reason])?;
            let event = Event::new("audit.key_revoked", "audit_key", &kid).with_some("reason", reason.as_deref());
            ledger.write(tx, &by, event)?;
            find(tx)
        });
        write.await
    }
}

impl Guard {
    /// The public keys that verify a workspace's trail. Everyone may read them; one that does not exist has none.
    pub async fn audit_keys(&self, workspace: &str) -> Result<Jwks> {
        let Some(org) = OrgId::parse(workspace) else {
            return Ok(Jwks::default());
        };
        let keys = self.rows_of(&org).query(sql::KEYS, &[], AuditKey::from_row).await?;
        Ok(Jwks { keys: keys.iter().map(AuditKey::jwk).collect::<Result<_>>()? })
    }
}
