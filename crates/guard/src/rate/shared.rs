//! A bucket that several nodes draw on. The database keeps when it will be full again; a node leases a few tokens at a time and
//! spends them without asking.
//!
//! Every token is charged once, when it is leased, so the rate holds exactly however many nodes there are. What nodes hold and
//! have not spent is what a burst may be off by: a twentieth of it for each node.

use base::{OrgId, Result};
use store::{Store, params};
use tokio::sync::Mutex;

use super::{Rate, sql};

/// Which part of a burst a node leases at once.
const LEASES_IN_A_BURST: u32 = 20;
const MICROSECONDS_IN_A_MINUTE: i64 = 60_000_000;

/// One node's hold on a shared bucket.
pub(super) struct Leased {
    rate: Rate,
    store: Store,
    org: OrgId,
    name: String,
    /// Tokens that were charged and not spent. Locked while more are leased: whoever comes meanwhile waits for the same answer.
    unspent: Mutex<u32>,
}

impl Leased {
    pub(super) fn new(rate: Rate, store: Store, org: OrgId, name: &str) -> Self {
        Self { rate, store, org, name: name.to_owned(), unspent: Mutex::new(0) }
    }

    /// Takes `calls` tokens, or says how many seconds to wait for them.
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
        let filling = self.store.first(sql::FILLS_IN, &params![self.org, self.name], |row| row.get::<i64>(0)).await?;
        let over = filling.unwrap_or(0) + self.price(tokens) - self.price(self.rate.burst);
        Ok(over as f64 / 1_000_000.0)
    }

    /// How much later, in microseconds, the bucket is full again after so many tokens were taken.
    fn price(&self, tokens: u32) -> i64 {
        i64::from(tokens) * MICROSECONDS_IN_A_MINUTE / i64::from(self.rate.per_minute.max(1))
    }
}
