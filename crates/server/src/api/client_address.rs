//! Where a request came from. Behind a proxy that the operator trusts, that is what the proxy says.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::extract::connect_info::ConnectInfo;
use base::{Network, neighbourhood};
use http::HeaderMap;
use http::request::Parts;

use crate::state::Shared;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address that a request came from, as failures are counted by it: without its port, and of an IPv6 address the network of 64
/// bits, because whoever has one address there has all of them.
pub(super) struct ClientAddress(pub(super) String);

impl FromRequestParts<Shared> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Infallible> {
        let address = client_of(parts, state);
        Ok(Self(address.map_or_else(|| "unknown".to_owned(), counted_as)))
    }
}

/// The name that an address is counted under.
fn counted_as(address: IpAddr) -> String {
    match neighbourhood(address) {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(network) => format!("{network}/64"),
    }
}

/// The address that a request came from.
fn client_of(parts: &Parts, state: &Shared) -> Option<IpAddr> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|address| address.0.ip())?;
    // An IPv4 client of a dual-stack listener is the same client as on an IPv4 one.
    Some(client(peer, &parts.headers, &state.trusted_proxies).to_canonical())
}

/// Whether a request came from a program on this machine, and nobody passed it on for somebody else.
pub(super) fn is_from_this_machine(parts: &Parts, state: &Shared) -> bool {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|address| address.0.ip());
    let trusted = peer.is_some_and(|peer| state.trusted_proxies.iter().any(|network| network.contains(peer)));
    // Whoever passes requests on without being trusted may pass on anybody's.
    let passed_on = [FORWARDED_FOR, "forwarded", "via", "x-real-ip"].into_iter().any(|name| parts.headers.contains_key(name));
    client_of(parts, state).is_some_and(|address| address.is_loopback()) && (trusted || !passed_on)
}

/// The last hop that is no trusted proxy. Each proxy adds at the end who spoke to it, so what stands before that hop is only what
/// somebody claims.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let values = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(',')).map(|hop| address_of(hop.trim()));
    let mut client = peer;
    for hop in hops {
        match hop {
            Some(hop) if is_trusted(client) => client = hop,
            // What cannot be read ends what can be believed.
            _ => break,
        }
    }
    client
}

/// An address as proxies write it: with a port or without.
fn address_of(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_is_counted_as_its_network() {
        for (address, name) in [
            ("203.0.113.5", "203.0.113.5"),
            ("::ffff:203.0.113.5", "203.0.113.5"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::", "2001:db8:1:2::/64"),
            ("2001:db8:1:3::", "2001:db8:1:3::/64"),
            ("::1", "::/64"),
        ] {
            assert_eq!(counted_as(address.parse().unwrap()), name);
        }
    }

    #[test]
    fn the_client_is_the_last_hop_that_is_not_trusted() {
        let trusted = ["10.0.0.0/8", "::1"].map(|network| network.parse().unwrap());
        for (peer, forwarded, client_is) in [
            ("203.0.113.5", &[][..], "203.0.113.5"),
            ("203.0.113.5", &["198.51.100.1"], "203.0.113.5"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["192.0.2.66, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["192.0.2.66, 198.51.100.1, 10.9.9.9"], "198.51.100.1"),
            ("10.0.0.1", &["192.0.2.66", "198.51.100.1 , 10.9.9.9"], "198.51.100.1"),
            ("10.0.0.1", &["10.1.1.1,10.2.2.2"], "10.1.1.1"),
            ("10.0.0.1", &["198.51.100.1, nonsense"], "10.0.0.1"),
            ("10.0.0.1", &["nonsense, 10.2.2.2"], "10.2.2.2"),
            ("::ffff:10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1"),
            ("::1", &["[2001:db8::7]:443"], "2001:db8::7"),
            ("::1", &["[2001:db8::7]"], "2001:db8::7"),
            ("::1", &[""], "::1"),
        ] {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                headers.append(FORWARDED_FOR, value.parse().unwrap());
            }
            let found = client(peer.parse().unwrap(), &headers, &trusted);
            assert_eq!(found, client_is.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
        }
    }
}
