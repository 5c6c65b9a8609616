//! Limits how many connections, logins in progress or streams each client may have, so that one client cannot take them all.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use base::{Actor, Principal, neighbourhood};

type Counts<K> = Mutex<HashMap<K, usize>>;

/// Counts per client, with one limit for all of them.
pub(crate) struct Counted<K> {
    most: usize,
    counts: Arc<Counts<K>>,
}

/// One counted connection, login or stream. Dropping it frees the slot.
pub(crate) struct Slot<K: Eq + Hash> {
    counts: Arc<Counts<K>>,
    client: K,
}

impl<K: Eq + Hash + Clone> Counted<K> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, counts: Arc::default() }
    }

    fn enter(&self, client: K) -> Option<Slot<K>> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(client.clone()).or_insert(0);
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Slot { counts: Arc::clone(&self.counts), client })
    }
}

impl Counted<IpAddr> {
    /// Counts one more for `address`. Returns `None` at the limit.
    pub(crate) fn enter_from(&self, address: IpAddr) -> Option<Slot<IpAddr>> {
        self.enter(neighbourhood(address))
    }
}

impl Counted<String> {
    /// Counts one more for the session, or for the agent with all its tokens. Returns `None` at the limit.
    pub(crate) fn enter_as(&self, principal: &Principal) -> Option<Slot<String>> {
        self.enter(match &principal.actor {
            Actor::Session { id, .. } => id.to_string(),
            Actor::Agent { id, .. } => id.to_string(),
        })
    }
}

impl<K: Eq + Hash> Drop for Slot<K> {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_limit_and_an_ipv6_64_shares_one() {
        let addresses = Counted::new(2);
        let enter = |text: &str| addresses.enter_from(text.parse().unwrap());
        let first = [enter("192.0.2.1").unwrap(), enter("::ffff:192.0.2.1").unwrap()];
        assert!(enter("192.0.2.1").is_none());
        let second = [enter("192.0.2.2").unwrap(), enter("2001:db8::1").unwrap(), enter("2001:db8::2").unwrap()];
        assert!(enter("2001:db8:0:0:ffff::3").is_none(), "the same /64");
        assert!(enter("2001:db8:0:1::3").is_some(), "another /64");
        drop((first, second));
        assert!(addresses.counts.lock().unwrap().is_empty());
    }
}
