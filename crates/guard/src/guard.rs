//! The guard itself: the one holder of the unscoped store.

use std::sync::Arc;
use std::time::Duration;

use base::limits::{self, Limits};
use base::{Clock, Error, Kind, OrgId, Result};
use policy::Model;
use quick_cache::sync::Cache;
use store::{OrgStore, Store, params};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::audit::Ledger;
use crate::failures::Failures;
use crate::forbidden::Forbidden;
use crate::identify::{Caller, CredentialKey};
use crate::late::LateRecords;
use crate::master::MasterKey;
use crate::policies::InForce;
use crate::rate::{Rate, Rates};
use crate::tenants;

/// Everything the gate remembers between requests. Cheap to share behind an `Arc`.
pub struct Guard {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) callers: Cache<CredentialKey, Arc<Caller>>,
    pub(crate) rates: Rates,
    pub(crate) failures: Failures,
    pub(crate) password_hashes: Semaphore,
    /// Turns at questions that keep a processor busy for long.
    questions: Semaphore,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) in_force: InForce,
    pub(crate) forbidden: Forbidden,
    pub(crate) late: LateRecords,
}

impl Guard {
    /// A gate over `store`, whose policies speak of `model`. A master key other than the one the store was first opened with is
    /// refused.
    pub async fn open(store: Store, clock: Clock, limits: Limits, master: &MasterKey, model: Model) -> Result<Self> {
        let fingerprint = master.fingerprint();
        let expected = store
            .write_instance(move |tx| {
                tx.execute(tenants::sql::REMEMBER_MASTER_KEY, &params![fingerprint])?;
                tx.first(tenants::sql::MASTER_KEY, &[], |row| row.get::<String>(0))
            })
            .await?;
        if expected.as_deref() != Some(master.fingerprint().as_str()) {
            return Err(Error::new(
                Kind::Conflict,
                "this is not the master key that the data was written with: pass the right one with --master-key-file or TOOLCRIB_MASTER_KEY",
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
            in_force: InForce::new(Arc::new(model))?,
            forbidden: Forbidden::default(),
            late: LateRecords::default(),
            store,
            clock,
            limits,
            callers: Cache::new(limits::PRINCIPAL_CACHE_MAX),
            rates,
            failures,
            password_hashes: Semaphore::new(limits::PASSWORD_HASHES_AT_ONCE),
            questions: Semaphore::new(limits::QUESTIONS_AT_ONCE),
        };
        guard.give_starters().await?;
        guard.tell_of_restore().await?;
        Ok(guard)
    }

    /// The clock that everything behind the gate tells time by.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Waits until something about what the org's principals may do has changed since `seen`.
    pub async fn changed(&self, org: &OrgId, seen: u64) -> Result<u64> {
        self.store.changed(org, seen).await
    }

    /// A turn at a question that keeps a processor busy for long: checking a policy, verifying a trail, reporting
    /// on a memory.
    pub async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        let turn = tokio::time::timeout(Duration::from_secs(limits::QUESTION_WAIT_SECONDS), self.questions.acquire()).await;
        let busy = || Error::new(Kind::Unavailable, "the server is busy with other questions of this kind: ask again");
        turn.map_err(|_| busy())?.map_err(Error::internal)
    }

    /// Proves that the store can be read and written.
    pub async fn ready(&self) -> Result<()> {
        self.store.ping().await
    }

    #[expect(clippy::disallowed_methods, reason = "the gate is where scoped handles come from")]
    pub(crate) fn rows_of(&self, org: &OrgId) -> OrgStore {
        self.store.org(org)
    }
}
