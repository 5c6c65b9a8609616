//! The only writer of the audit trail. An org's writes are serialized on both engines, so the head that is read here is still the head
//! when the entry is written.

use std::sync::Arc;

use audit::{Draft, EntryHash, Prepared, SigningKey};
use base::secret::hex;
use base::{Clock, Error, EventId, OrgId, Result, limits};
use hmac::{Hmac, KeyInit, Mac};
use quick_cache::sync::Cache;
use serde_json::Value;
use sha2::Sha256;
use store::{OrgStore, OrgTx, params};

use super::event::{By, Event};
use super::sql;
use crate::change;
use crate::hooks::Wake;
use crate::master::MasterKey;
use crate::vault::Vault;

/// Appends to the trails of all orgs.
pub(crate) struct Ledger {
    clock: Clock,
    pub(crate) vault: Vault,
    /// Wakes the followers of the trails.
    pub(crate) wake: Wake,
    digest_key: [u8; 32],
    /// Decrypted signing keys, by org and key id.
    keys: Cache<(OrgId, String), Arc<SigningKey>>,
}

/// The end of an org's chain, and the key for the next entry.
struct Head {
    sequence: i64,
    hash: EntryHash,
    kid: String,
    sealed_seed: Option<String>,
}

impl Ledger {
    pub(crate) fn new(clock: Clock, master: &MasterKey) -> Arc<Self> {
        Arc::new(Self {
            clock,
            vault: Vault::new(master),
            wake: Wake::default(),
            digest_key: master.derive("audit-arguments"),
            keys: Cache::new(limits::SIGNING_KEY_CACHE_MAX),
        })
    }

    /// The keyed digest of arguments. Equal arguments in one org have equal digests. Without the master key nobody can guess the
    /// arguments by trying them out.
    pub(crate) fn digest(&self, org: &OrgId, arguments: &Value) -> Result<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.digest_key).map_err(Error::internal)?;
        mac.update(org.as_str().as_bytes());
        // Canonical JSON, so that equal arguments match. A number without a canonical form is kept as written.
        let spelled = audit::canonical::text_of(arguments).unwrap_or_else(|_| arguments.to_string());
        mac.update(spelled.as_bytes());
        Ok(format!("hmac-sha256:{}", hex(&mac.finalize().into_bytes())))
    }

    /// Writes `event` in the transaction of the change that it describes.
    pub(crate) fn write(&self, tx: &mut OrgTx<'_, '_>, by: &By, event: Event) -> Result<()> {
        let prepared = self.prepare(tx.org(), by, event)?;
        self.append(tx, &prepared)
    }

    /// Writes `event` for a call that changed nothing. It is on record when the future completes.
    pub(crate) fn note(
        self: &Arc<Self>,
        rows: &OrgStore,
        by: &By,
        event: Event,
    ) -> Result<impl Future<Output = Result<()>> + Send + use<>> {
        // The slow part is done here, outside the transaction.
        let prepared = self.prepare(rows.org(), by, event)?;
        let ledger = Arc::clone(self);
        Ok(change::upkeep(rows).note(move |tx| ledger.append(tx, &prepared)))
    }

    fn prepare(&self, org: &OrgId, by: &By, event: Event) -> Result<Prepared> {
        let now = self.clock.now();
        Draft {
            id: EventId::new(now).to_string().into(),
            workspace: org.to_string().into(),
            occurred_at: now,
            event_type: event.kind.word().into(),
            actor_type: by.actor_type.into(),
            actor_id: Some(by.actor_id.clone().into()),
            entity_type: Some(event.entity_type.into()),
            entity_id: Some(event.entity_id.into()),
            request_id: by.request.map(|request| request.to_string().into()),
            payload: Value::Object(event.payload),
        }
        .prepare()
    }

    fn append(&self, tx: &mut OrgTx<'_, '_>, prepared: &Prepared) -> Result<()> {
        let head = self.head(tx)?;
        let key = self.signing_key(tx.org(), &head)?;
        let sequence = head.sequence + 1;
        let sealed = prepared.seal(sequence.unsigned_abs(), &head.hash, &key);
        let event = prepared.event();
        let (prev_hash, entry_hash) = (head.hash.hex(), sealed.entry_hash.hex());
        let signature = sealed.signature.to_string();
        let (id, event_type, actor_type): (&str, &str, &str) = (&event.id, &event.event_type, &event.actor_type);
        let (actor_id, request_id) = (event.actor_id.as_deref(), event.request_id.as_deref());
        let (entity_type, entity_id, payload): (_, _, &str) =
            (event.entity_type.as_deref(), event.entity_id.as_deref(), &event.payload);
        let params = params![
            sequence,
            id,
            event.occurred_at,
            event_type,
            actor_type,
            actor_id,
            entity_type,
            entity_id,
            request_id,
            payload,
            prev_hash,
            entry_hash,
            signature,
            head.kid
        ];
        tx.execute(sql::APPEND, &params)?;
        tx.mark_recorded();
        self.wake.tell(tx.org());
        Ok(())
    }

    fn head(&self, tx: &mut OrgTx<'_, '_>) -> Result<Head> {
        if let Some(head) = tx.first(sql::HEAD, &[], Head::from_row)? {
            return Ok(head);
        }
        // The org's first event creates its first key.
        self.add_key(tx)?;
        tx.first(sql::HEAD, &[], Head::from_row)?.ok_or_else(|| Error::internal("the org has no signing key"))
    }

    fn signing_key(&self, org: &OrgId, head: &Head) -> Result<Arc<SigningKey>> {
        let name = (*org, head.kid.clone());
        if let Some(key) = self.keys.get(&name) {
            return Ok(key);
        }
        let sealed = head.sealed_seed.as_deref().ok_or_else(|| Error::internal("the signing key has no private key"))?;
        let seed = self.vault.open(&super::keys::place_of(org, &head.kid), sealed)?;
        let seed: [u8; 32] = seed.try_into().map_err(|_| Error::internal("the signing key has the wrong length"))?;
        let key = Arc::new(SigningKey::from_seed(&seed));
        if key.kid() != head.kid {
            return Err(Error::internal("the signing key does not match its row"));
        }
        self.keys.insert(name, Arc::clone(&key));
        Ok(key)
    }

    /// Signs data outside the chain with the org's active key.
    pub(super) fn with_active_key<T>(
        &self,
        tx: &mut OrgTx<'_, '_>,
        sign: impl FnOnce(&SigningKey, u64, &EntryHash) -> Result<T>,
    ) -> Result<T> {
        let head = self.head(tx)?;
        let key = self.signing_key(tx.org(), &head)?;
        sign(&key, head.sequence.unsigned_abs(), &head.hash)
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }
}

impl Head {
    fn from_row(row: &store::Row<'_>) -> Result<Self> {
        let hash = row.get::<Option<String>>("entry_hash")?;
        Ok(Self {
            kid: row.get("kid")?,
            sealed_seed: row.get("sealed_seed")?,
            sequence: row.get::<Option<i64>>("sequence")?.unwrap_or(0),
            hash: match hash {
                Some(hash) => EntryHash::parse(&hash).ok_or_else(|| Error::internal("the head of the trail is not a hash"))?,
                None => EntryHash::GENESIS,
            },
        })
    }
}
