//! The guard, the only owner of the unscoped store.

use std::sync::Arc;

use base::limits::{self, Limits};
use base::{Clock, Error, Kind, OrgId, Result};
use quick_cache::sync::Cache;
use store::{OrgStore, Store, Turn, Turns, params};

use crate::audit::Ledger;
use crate::failures::Failures;
use crate::forbidden::Forbidden;
use crate::identify::{Caller, CredentialKey};
use crate::late::LateRecords;
use crate::master::MasterKey;
use crate::policies::{ActivePolicies, Vocabulary};
use crate::rate::{Rate, Rates};
use crate::tenants;

/// The gate's state. Cheap to share behind an `Arc`.
pub struct Guard {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) callers: Cache<CredentialKey, Arc<Caller>>,
    pub(crate) rates: Rates,
    pub(crate) failures: Failures,
    pub(crate) password_hashes: Turns,
    /// Limits long computations.
    questions: Turns,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) active: ActivePolicies,
    pub(crate) forbidden: Forbidden,
    pub(crate) late: LateRecords,
}

impl Guard {
    /// Opens a gate over `store`, with the policy schema of `vocabulary`. Fails if the master key is not the one that the store was first
    /// opened with.
    pub async fn open(
        store: Store,
        clock: Clock,
        limits: Limits,
        master: &MasterKey,
        vocabulary: Arc<dyn Vocabulary>,
    ) -> Result<Self> {
        let fingerprint = master.fingerprint();
        let expected = store
            .write_instance(move |tx| {
                tx.execute(tenants::sql::REMEMBER_MASTER_KEY, &params![fingerprint])?;
                tx.first(tenants::sql::MASTER_KEY, &[], |row| row.get::<String>("value"))
            })
            .await?;
        if expected.as_deref() != Some(master.fingerprint().as_str()) {
            return Err(Error::new(
                Kind::Conflict,
                "wrong master key for this data; pass the right one with --master-key-file or TOOLCRIB_MASTER_KEY",
            ));
        }
        let failures = Failures::new(clock.clone());
        let of_orgs = Rate {
            per_minute: limits.org_calls_per_minute,
            burst: limits.org_calls_burst,
            at_once: limits.org_calls_at_once,
            bytes: limits.org_bytes_at_once as u64,
        };
        let rates = Rates::new(&store, of_orgs, limits.bytes_at_once as u64);
        let guard = Self {
            ledger: Ledger::new(clock.clone(), master),
            active: ActivePolicies::new(vocabulary)?,
            forbidden: Forbidden::default(),
            late: LateRecords::default(),
            store,
            clock,
            limits,
            callers: Cache::new(limits::PRINCIPAL_CACHE_MAX),
            rates,
            failures,
            password_hashes: Turns::new(limits::PASSWORD_HASHES_AT_ONCE, limits::PASSWORD_HASHES_WAITING_MAX),
            questions: Turns::new(limits::QUESTIONS_AT_ONCE, limits::QUESTIONS_WAITING_MAX),
        };
        guard.give_starters().await?;
        guard.record_restore().await?;
        Ok(guard)
    }

    /// The gate's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The org's change number. Anything derived from the org may be cached while it stays the same.
    pub async fn change_number(&self, org: &OrgId) -> Result<u64> {
        self.store.change_number(org).await
    }

    /// Waits until the org's change number differs from `seen`.
    pub async fn changed(&self, org: &OrgId, seen: u64) -> Result<u64> {
        self.store.changed(org, seen).await
    }

    /// Waits for a turn for a long computation, such as checking a policy, verifying a trail or reporting on a memory. The computation
    /// keeps the turn until it is done.
    pub async fn turn(&self) -> Result<Turn> {
        self.questions.take().await
    }

    /// Checks that the store can be read and written.
    pub async fn ready(&self) -> Result<()> {
        self.store.ping().await
    }

    #[expect(clippy::disallowed_methods, reason = "the gate creates the scoped handles")]
    pub(crate) fn rows_of(&self, org: &OrgId) -> OrgStore {
        self.store.org(org)
    }
}
