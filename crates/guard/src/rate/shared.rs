//! A bucket shared by several nodes. The database stores when it will be full again. A node leases a few tokens at a time and spends
//! them without asking.
//!
//! Every token is charged once, when it is leased, so the rate is exact for any number of nodes. Leased but unspent tokens make a burst
//! inexact, by a twentieth of it per node.

use base::{OrgId, Result};
use store::{Store, params};
use tokio::sync::Mutex;

use super::{Rate, sql};

/// The fraction of a burst that a node leases at once.
const LEASES_IN_A_BURST: u32 = 20;
const MICROSECONDS_IN_A_MINUTE: i64 = 60_000_000;

/// One node's lease on a shared bucket.
pub(super) struct Leased {
    rate: Rate,
    store: Store,
    org: OrgId,
    name: String,
    /// Leased tokens that are not spent yet. Locked while more are leased, so that concurrent callers wait for the same answer.
    unspent: Mutex<u32>,
}

impl Leased {
    pub(super) fn new(rate: Rate, store: Store, org: OrgId, name: &str) -> Self {
        Self { rate, store, org, name: name.to_owned(), unspent: Mutex::new(0) }
    }

    /// Takes `calls` tokens, or returns how many seconds to wait for them.
    pub(super) async fn take(&self, calls: u32) -> Result<Option<f64>> {
        let mut unspent = self.unspent.lock().await;
        if let Some(rest) = unspent.checked_sub(calls) {
            *unspent = rest;
            return Ok(None);
        }
        let missing = calls - *unspent;
        for lease in [missing.max(self.rate.burst / LEASES_IN_A_BURST), missing] {
            if self.lease(lease).await? {
                *unspent = *unspent + lease - calls;
                return Ok(None);
            }
        }
        self.wait_for(missing).await.map(Some)
    }

    async fn lease(&self, tokens: u32) -> Result<bool> {
        let (price, whole) = (self.price(tokens), self.price(self.rate.burst));
        Ok(self.store.first(sql::LEASE, &params![self.org, self.name, price, whole], |_| Ok(())).await?.is_some())
    }

    async fn wait_for(&self, tokens: u32) -> Result<f64> {
        if tokens > self.rate.burst {
            return Ok(self.rate.seconds_to_fill());
        }
        let filling = self.store.first(sql::FILLS_IN, &params![self.org, self.name], |row| row.get::<i64>("fills_in")).await?;
        let over = filling.unwrap_or(0) + self.price(tokens) - self.price(self.rate.burst);
        Ok(over as f64 / 1_000_000.0)
    }

    /// How many microseconds it takes to refill `tokens`.
    fn price(&self, tokens: u32) -> i64 {
        i64::from(tokens) * MICROSECONDS_IN_A_MINUTE / i64::from(self.rate.per_minute.max(1))
    }
}
