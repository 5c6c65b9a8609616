//! Limits how many connections, or logins in progress, each client address may have, so that one client cannot take them all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use base::neighbourhood;

type Counts = Mutex<HashMap<IpAddr, usize>>;

/// Counts per address, with one limit for all of them.
pub(crate) struct Addresses {
    most: usize,
    counts: Arc<Counts>,
}

/// One counted connection or login. Dropping it frees the slot.
pub(crate) struct OfAddress {
    counts: Arc<Counts>,
    address: IpAddr,
}

impl Addresses {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, counts: Arc::default() }
    }

    /// Counts one more for `address`. Returns `None` at the limit.
    pub(crate) fn enter(&self, address: IpAddr) -> Option<OfAddress> {
        let address = neighbourhood(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_insert(0);
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(OfAddress { counts: Arc::clone(&self.counts), address })
    }
}

impl Drop for OfAddress {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_limit_and_an_ipv6_64_shares_one() {
        let addresses = Addresses::new(2);
        let enter = |text: &str| addresses.enter(text.parse().unwrap());
        let first = [enter("192.0.2.1").unwrap(), enter("::ffff:192.0.2.1").unwrap()];
        assert!(enter("192.0.2.1").is_none());
        let second = [enter("192.0.2.2").unwrap(), enter("2001:db8::1").unwrap(), enter("2001:db8::2").unwrap()];
        assert!(enter("2001:db8:0:0:ffff::3").is_none(), "the same /64");
        assert!(enter("2001:db8:0:1::3").is_some(), "another /64");
        drop((first, second));
        assert!(addresses.counts.lock().unwrap().is_empty());
    }
}
