//! Handles that reach one org's rows and no others: the org is bound as `?1` of every statement.

use std::sync::Arc;

use base::{OrgId, Result};

use crate::param::{AsParam, Param};
use crate::row::Row;
use crate::seal::{Claim, Seal, Sealing};
use crate::store::Lane;
use crate::{Store, Told, Tx};

/// One org's rows.
#[derive(Clone)]
pub struct OrgStore {
    store: Store,
    org: OrgId,
    sealing: Option<Arc<Sealing>>,
}

impl OrgStore {
    pub(crate) fn new(store: Store, org: OrgId) -> Self {
        Self { store, org, sealing: None }
    }

    /// The same rows; the first write that changes something through this handle or a clone of it, and is kept, carries `seal`.
    pub fn sealed_by(&self, seal: Arc<dyn Seal>) -> Self {
        Self { sealing: Some(Arc::new(Sealing::new(seal))), ..self.clone() }
    }

    /// Whether a write has carried this handle's seal.
    pub fn is_sealed(&self) -> bool {
        self.sealing.as_ref().is_some_and(|sealing| sealing.is_kept())
    }

    /// Whether a write is to carry this handle's seal and nobody has seen how it ended.
    pub fn is_sealing(&self) -> bool {
        self.sealing.as_ref().is_some_and(|sealing| sealing.is_claimed() && !sealing.is_kept())
    }

    /// The org.
    pub fn org(&self) -> &OrgId {
        &self.org
    }

    /// One statement, outside a transaction. The org is `?1`, the first of `params` is `?2`.
    pub async fn query<T>(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        self.store.query(sql, &led_by(&self.org, params), map).await
    }

    /// The same for pages that many ask for: they may come from memory, and are never older than the last write that was
    /// acknowledged.
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

    /// A transaction: kept when `job` answers `Ok`, on disk when this answers. Writes of one org never overlap. `job` may be
    /// run again after a lost race or beside one that failed, so it must not have effects outside the transaction.
    pub async fn write<T: Send + 'static>(&self, job: impl FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static) -> Result<T> {
        let (job, claim) = self.carrying_seal(job);
        settled(self.store.write(Lane::Org(self.org), job).await, claim)
    }

    /// A transaction that is written when this answers, so that a killed process loses nothing, and on disk within
    /// [`NOTE_SYNC_MS_MAX`](base::limits::NOTE_SYNC_MS_MAX). It is under way as soon as this is called, and runs on when the
    /// answer is not waited for. For what is known of a read (that it was made, what it gave), never for an effect.
    pub fn note<T, J>(&self, job: J) -> impl Future<Output = Result<T>> + Send + use<T, J>
    where
        T: Send + 'static,
        J: FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    {
        let (job, claim) = self.carrying_seal(job);
        let under_way = self.store.note(self.org, job);
        async move { settled(under_way.await, claim) }
    }

    /// `job` with the seal after it, if this handle has one that no write has carried yet, and whether that was written.
    fn carrying_seal<T, J>(
        &self,
        mut job: J,
    ) -> (impl FnMut(&mut Tx<'_>) -> Result<(T, bool)> + Send + use<T, J> + 'static, Option<Claim>)
    where
        T: Send + 'static,
        J: FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    {
        let org = self.org;
        let claim = self.sealing.as_ref().and_then(Sealing::claim);
        let sealing = claim.as_ref().map(Claim::sealing);
        let job = move |tx: &mut Tx<'_>| {
            let mut tx = OrgTx { tx, org: &org };
            let value = job(&mut tx)?;
            // What turned out to change nothing is no effect, and leaves the seal to the next.
            let sealing = sealing.as_ref().filter(|_| tx.tx.has_changed());
            sealing.map_or(Ok(()), |sealing| sealing.apply(&mut tx))?;
            Ok((value, sealing.is_some()))
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
    /// The part of `tx` that is about one org. Only `guard` has a [`Tx`].
    pub fn of(tx: &'t mut Tx<'c>, org: &'t OrgId) -> Self {
        Self { tx, org }
    }

    /// The org.
    pub fn org(&self) -> &OrgId {
        self.org
    }

    /// Every row that `sql` selects. The org is `?1`, the first of `params` is `?2`.
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

    /// Runs `sql` and says how many rows it touched.
    pub fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        self.tx.execute(sql, &led_by(self.org, params))
    }

    /// Tells whoever seals this transaction of something that it changed beside what it is about.
    pub fn tell(&mut self, what: &'static str, kind: &'static str, id: impl std::fmt::Display) {
        self.tx.tell(Told { what, kind, id: id.to_string() });
    }

    /// What else this transaction has changed, as far as it told.
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
