//! Handles that reach one org's rows and no others: the org is bound as `?1` of every statement.

use base::{OrgId, Result};

use crate::param::{AsParam, Param};
use crate::row::Row;
use crate::{Store, Tx};

/// One org's rows.
#[derive(Clone)]
pub struct OrgStore {
    store: Store,
    org: OrgId,
}

impl OrgStore {
    pub(crate) fn new(store: Store, org: OrgId) -> Self {
        Self { store, org }
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
    /// run again after a lost race, so it must not have effects outside the transaction.
    pub async fn write<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let org = self.org;
        self.store.write(self.org.as_str(), move |tx| job(&mut OrgTx { tx, org: &org })).await
    }
}

/// A transaction over one org's rows.
pub struct OrgTx<'t, 'c> {
    tx: &'t mut Tx<'c>,
    org: &'t OrgId,
}

impl OrgTx<'_, '_> {
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

    /// See [`Tx::bump`].
    pub fn bump(&mut self) -> Result<()> {
        self.tx.bump(self.org)
    }
}

fn led_by<'a>(org: &'a OrgId, params: &[Param<'a>]) -> Vec<Param<'a>> {
    std::iter::once(org.as_param()).chain(params.iter().copied()).collect()
}
