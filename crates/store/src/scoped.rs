//! Handles for one org's rows. They bind the org as `?1` of every statement, so no other org's rows can be reached.

use std::ops::Deref;
use std::sync::Arc;

use base::{EventKind, OrgId, Result};

use crate::param::{AsParam, Param};
use crate::row::Row;
use crate::seal::{Claim, Seal, Sealing};
use crate::store::Lane;
use crate::{Store, Told, Tx};

/// One org's rows, for reading. Changes need a [`Change`].
#[derive(Clone)]
pub struct OrgStore {
    store: Store,
    org: OrgId,
}

impl OrgStore {
    pub(crate) fn new(store: Store, org: OrgId) -> Self {
        Self { store, org }
    }

    /// Allows changes to these rows under `seal`. Only `guard` calls this: a tool gets its change from its permit, and a
    /// management route from its access.
    pub fn sealed_by(&self, seal: Arc<dyn Seal>) -> Change {
        Change { rows: self.clone(), sealing: Arc::new(Sealing::new(seal)) }
    }

    /// The org.
    pub fn org(&self) -> &OrgId {
        &self.org
    }

    /// Runs one statement outside a transaction. The org is `?1`, and the first of `params` is `?2`.
    pub async fn query<T>(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        self.store.query(sql, &led_by(&self.org, params), map).await
    }

    /// The same for pages that many callers read. They may come from memory, but are never older than the last acknowledged
    /// write.
    pub async fn query_kept<T: Send + Sync + 'static>(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Arc<Vec<T>>> {
        self.store.query_kept(&self.org, sql, &led_by(&self.org, params), map).await
    }

    /// The first row of [`OrgStore::query`].
    pub async fn first<T>(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Option<T>> {
        Ok(self.query(sql, params, map).await?.into_iter().next())
    }

    /// Several statements on one snapshot.
    pub async fn read<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let org = self.org;
        self.store.read(move |tx| job(&mut OrgTx { tx, org: &org })).await
    }
}

impl AsRef<OrgStore> for OrgStore {
    fn as_ref(&self) -> &OrgStore {
        self
    }
}

/// The right to change one org's rows. Every write through it, or through a clone of it, starts with the seal's check. The
/// first committed write that changes something applies the seal.
#[derive(Clone)]
pub struct Change {
    rows: OrgStore,
    sealing: Arc<Sealing>,
}

impl AsRef<OrgStore> for Change {
    fn as_ref(&self) -> &OrgStore {
        &self.rows
    }
}

impl Deref for Change {
    type Target = OrgStore;

    fn deref(&self) -> &OrgStore {
        &self.rows
    }
}

impl Change {
    /// Whether a write has applied the seal.
    pub fn is_sealed(&self) -> bool {
        self.sealing.is_kept()
    }

    /// Whether a write may have applied the seal, but its outcome is not known.
    pub fn is_sealing(&self) -> bool {
        self.sealing.is_claimed() && !self.sealing.is_kept()
    }

    /// Runs a transaction. It commits if `job` returns `Ok`, and is on disk when this returns. Writes of one org never overlap.
    /// `job` may run more than once, after a lost race or after another job of its batch failed, so it must have no effects
    /// outside the transaction.
    pub async fn write<T: Send + 'static>(&self, job: impl FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static) -> Result<T> {
        let (job, claim) = self.carrying_seal(job);
        settled(self.rows.store.write(Lane::Org(self.rows.org), job).await, claim)
    }

    /// Runs a transaction that is written when this returns, so a killed process loses nothing, and on disk within
    /// [`NOTE_SYNC_MS_MAX`](base::limits::NOTE_SYNC_MS_MAX). It starts when this is called, and continues if the result is not
    /// awaited. Use it for records of reads, never for an effect.
    pub fn note<T, J>(&self, job: J) -> impl Future<Output = Result<T>> + Send + use<T, J>
    where
        T: Send + 'static,
        J: FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    {
        let (job, claim) = self.carrying_seal(job);
        let under_way = self.rows.store.note(self.rows.org, job);
        async move { settled(under_way.await, claim) }
    }

    /// Runs `job` between the seal's check and the seal itself, unless another write has applied the seal. Also returns whether
    /// the seal was written.
    fn carrying_seal<T, J>(
        &self,
        mut job: J,
    ) -> (impl FnMut(&mut Tx<'_>) -> Result<(T, bool)> + Send + use<T, J> + 'static, Option<Claim>)
    where
        T: Send + 'static,
        J: FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    {
        let (org, sealing) = (self.rows.org, Arc::clone(&self.sealing));
        let claim = sealing.claim();
        let carries = claim.is_some();
        let job = move |tx: &mut Tx<'_>| {
            let mut tx = OrgTx { tx, org: &org };
            sealing.seal().check(&mut tx)?;
            let value = job(&mut tx)?;
            // A job that changed nothing is not an effect, so it leaves the seal to the next write.
            let seals = carries && tx.tx.has_changed();
            if seals {
                sealing.seal().apply(&mut tx)?;
            }
            Ok((value, seals))
        };
        (job, claim)
    }
}

fn settled<T>(outcome: Result<(T, bool)>, claim: Option<Claim>) -> Result<T> {
    if let Some(claim) = claim {
        claim.settle(outcome.as_ref().is_ok_and(|(_, is_sealed)| *is_sealed));
    }
    outcome.map(|(value, _)| value)
}

/// A transaction over one org's rows.
pub struct OrgTx<'t, 'c> {
    tx: &'t mut Tx<'c>,
    org: &'t OrgId,
}

impl<'t, 'c> OrgTx<'t, 'c> {
    /// The part of `tx` for one org. Only `guard` has a [`Tx`].
    pub fn of(tx: &'t mut Tx<'c>, org: &'t OrgId) -> Self {
        Self { tx, org }
    }

    /// The org.
    pub fn org(&self) -> &OrgId {
        self.org
    }

    /// The rows that `sql` selects. The org is `?1`, and the first of `params` is `?2`.
    pub fn query<T>(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.tx.query(sql, &led_by(self.org, params), map)
    }

    /// The first row that `sql` selects, if any.
    pub fn first<T>(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.tx.first(sql, &led_by(self.org, params), map)
    }

    /// Runs `sql` and returns the number of affected rows.
    pub fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        self.tx.execute(sql, &led_by(self.org, params))
    }

    /// Marks this transaction as recorded in the audit trail. Only the writer of the trail calls this.
    pub fn mark_recorded(&mut self) {
        self.tx.mark_recorded();
    }

    /// Whether this transaction is recorded in the audit trail.
    pub fn is_recorded(&self) -> bool {
        self.tx.is_recorded()
    }

    /// Reports an additional change of this transaction to its seal.
    pub fn tell(&mut self, kind: EventKind, entity_type: &'static str, id: impl std::fmt::Display) {
        self.tx.tell(Told { kind, entity_type, id: id.to_string() });
    }

    /// The additional changes that this transaction reported.
    pub fn told(&self) -> &[Told] {
        self.tx.told()
    }

    /// See [`Tx::bump`].
    pub fn bump(&mut self) -> Result<()> {
        self.tx.bump(self.org)
    }
}

fn led_by<'a>(org: &'a OrgId, params: &[Param<'a>]) -> Vec<Param<'a>> {
    std::iter::once(org.as_param()).chain(params.iter().copied()).collect()
}
