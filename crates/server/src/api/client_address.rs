//! The client address of a request. Behind a trusted proxy it comes from `X-Forwarded-For`.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::extract::connect_info::ConnectInfo;
use base::{Network, neighbourhood};
use http::HeaderMap;
use http::request::Parts;

use crate::hosts::is_loopback_url;
use crate::state::Shared;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The client address, as used for counting failures: without the port, and for IPv6 only the /64 network, because one client
/// usually controls all addresses of a /64.
pub(super) struct ClientAddress(Option<IpAddr>);

impl ClientAddress {
    /// The name to count failures under.
    pub(super) fn name(&self) -> String {
        self.0.map_or_else(|| "unknown".to_owned(), counted_as)
    }

    /// The address, or the unspecified address if it is unknown.
    pub(super) fn ip(&self) -> IpAddr {
        self.0.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }
}

impl FromRequestParts<Shared> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Infallible> {
        Ok(Self(client_of(parts, state)))
    }
}

/// The name to count failures of an address under.
fn counted_as(address: IpAddr) -> String {
    match neighbourhood(address) {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(network) => format!("{network}/64"),
    }
}

/// The client address of a request.
fn client_of(parts: &Parts, state: &Shared) -> Option<IpAddr> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|address| address.0.ip())?;
    // An IPv4 client of a dual-stack listener counts as the same client as on an IPv4 listener.
    Some(client(peer, &parts.headers, &state.trusted_proxies).to_canonical())
}

/// Whether a request came directly from a program on this machine, without a proxy.
pub(super) fn is_from_this_machine(parts: &Parts, state: &Shared) -> bool {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|address| address.0.ip());
    let trusted = peer.is_some_and(|peer| state.trusted_proxies.iter().any(|network| network.contains(peer)));
    // An untrusted proxy may forward requests of anyone.
    let passed_on = [FORWARDED_FOR, "forwarded", "via", "x-real-ip"].into_iter().any(|name| parts.headers.contains_key(name));
    // A server with a public name is behind a proxy, and not every proxy adds a header.
    let is_public = !is_loopback_url(&state.public_url);
    client_of(parts, state).is_some_and(|address| address.is_loopback()) && (trusted || !(passed_on || is_public))
}

/// The last hop that is not a trusted proxy. Each proxy appends the address of its peer, so anything before that hop may be
/// forged.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let values = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(',')).map(|hop| address_of(hop.trim()));
    let mut client = peer;
    for hop in hops {
        match hop {
            Some(hop) if is_trusted(client) => client = hop,
            // Nothing before an unreadable entry can be trusted.
            _ => break,
        }
    }
    client
}

/// Parses an address from a proxy header, with or without a port.
fn address_of(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_address_counts_as_its_64_network() {
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
    fn client_is_the_last_untrusted_hop() {
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
