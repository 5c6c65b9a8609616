//! The address to listen on: an IP address or a host name, with a port.

use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// `127.0.0.1:7420`, `[::1]:7420` or `localhost:7420`. A host name is resolved when the server starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    /// An IP address and port.
    Address(SocketAddr),
    /// A host name and port.
    Name(String, u16),
}

impl Listen {
    /// Resolves the address. If a name has several, the first IPv4 address wins, else the first address.
    pub(super) fn resolve(&self) -> Result<SocketAddr, String> {
        let (name, port) = match self {
            Listen::Address(address) => return Ok(*address),
            Listen::Name(name, port) => (name, *port),
        };
        let found = (name.as_str(), port).to_socket_addrs().map_err(|error| {
            format!("cannot resolve `{name}` in --listen {name}:{port} ({error}); use an IP address, like 127.0.0.1:{port}")
        })?;
        chosen(found)
            .ok_or_else(|| format!("`{name}` in --listen {name}:{port} has no IP address; use one, like 127.0.0.1:{port}"))
    }
}

/// Prefers IPv4, because almost every machine and client supports it.
fn chosen(found: impl Iterator<Item = SocketAddr>) -> Option<SocketAddr> {
    let found: Vec<_> = found.collect();
    found.iter().find(|address| address.is_ipv4()).or(found.first()).copied()
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(Listen::Address(address));
        }
        let wrong = || format!("`{text}` is not an address with a port; write it like 127.0.0.1:7420 or localhost:7420");
        let (name, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        // Digits and dots that are not an IP address are a typo, not a host name.
        if name.is_empty() || !is_name || name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(wrong());
        }
        Ok(Listen::Name(name.to_owned(), port.parse().map_err(|_| wrong())?))
    }
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_distinguished() {
        assert_eq!("127.0.0.1:1".parse(), Ok(Listen::Address(([127, 0, 0, 1], 1).into())));
        assert_eq!("[::1]:1".parse::<Listen>().unwrap().resolve().unwrap().port(), 1);
        assert_eq!("localhost:0".parse(), Ok(Listen::Name("localhost".to_owned(), 0)));
        for wrong in
            ["everywhere", ":7420", "localhost", "localhost:", "localhost:70000", "127.0.0:1", "256.0.0.1:1", "a b:1", "::1:x"]
        {
            let why = wrong.parse::<Listen>().unwrap_err();
            assert!(why.contains(&format!("`{wrong}`")) && why.contains("127.0.0.1:7420"), "{why}");
        }
    }

    #[test]
    fn first_ipv4_address_is_preferred() {
        let [six, four, other]: [SocketAddr; 3] = ["[::1]:1", "127.0.0.1:1", "127.0.0.2:1"].map(|text| text.parse().unwrap());
        assert_eq!(chosen([six, four, other].into_iter()), Some(four));
        assert_eq!(chosen([six].into_iter()), Some(six));
        assert_eq!(chosen(std::iter::empty()), None);
        assert!("localhost:0".parse::<Listen>().unwrap().resolve().unwrap().ip().is_loopback());
        assert!("no-such-name.invalid:1".parse::<Listen>().unwrap().resolve().unwrap_err().contains("no-such-name.invalid"));
    }
}
