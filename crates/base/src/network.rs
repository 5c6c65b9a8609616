//! Networks as operators write them: `10.0.0.0/8`, `fd00::/8`, or one address.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de};

/// A range of addresses with the same prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    /// Whether `address` is in the network. An IPv4-mapped IPv6 address counts as its IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

const fn v4(a: u8, b: u8, c: u8, bits: u8) -> Network {
    Network(IpNet::new_assert(IpAddr::V4(Ipv4Addr::new(a, b, c, 0)), bits))
}

const fn v6(first: u16, second: u16, bits: u8) -> Network {
    Network(IpNet::new_assert(IpAddr::V6(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0)), bits))
}

/// Networks outside the public internet: loopback, private, shared, link-local, multicast and documentation networks, and IPv6 networks
/// whose addresses embed an IPv4 address.
const NOT_PUBLIC: [Network; 26] = [
    v4(0, 0, 0, 8),
    v4(10, 0, 0, 8),
    v4(100, 64, 0, 10),
    v4(127, 0, 0, 8),
    v4(169, 254, 0, 16),
    v4(172, 16, 0, 12),
    v4(192, 0, 0, 24),
    v4(192, 0, 2, 24),
    v4(192, 88, 99, 24),
    v4(192, 168, 0, 16),
    v4(198, 18, 0, 15),
    v4(198, 51, 100, 24),
    v4(203, 0, 113, 24),
    v4(224, 0, 0, 4),
    v4(240, 0, 0, 4),
    // Unspecified, loopback, and IPv4-compatible addresses (deprecated).
    v6(0, 0, 96),
    // IPv4-translated (SIIT): `::ffff:0:a.b.c.d`.
    Network(IpNet::new_assert(IpAddr::V6(Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0)), 96)),
    // NAT64, the well-known prefix and the prefix for local use.
    v6(0x64, 0xff9b, 32),
    v6(0x100, 0, 64),
    // Teredo, among others.
    v6(0x2001, 0, 23),
    v6(0x2001, 0xdb8, 32),
    // 6to4.
    v6(0x2002, 0, 16),
    v6(0x3fff, 0, 20),
    v6(0x5f00, 0, 16),
    v6(0xfc00, 0, 7),
    v6(0xfe00, 0, 7),
];

/// Whether `address` is on the public internet. The server connects to other addresses only if its operator allows them.
pub fn is_public(address: IpAddr) -> bool {
    !NOT_PUBLIC.iter().any(|network| network.contains(address)) && !is_isatap(address)
}

/// Whether an address embeds an IPv4 address in its second half (ISATAP: `…:0:5efe:a.b.c.d`, `…:200:5efe:a.b.c.d`). Such addresses occur
/// in any network.
fn is_isatap(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(address) => matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _]),
    }
}

/// Maps an address to the range that one owner usually controls: the address itself for IPv4, the /64 network for IPv6.
pub fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a network; write 10.0.0.0/8, fd00::/8 or a single address");
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        // The standard library parses the address, because it refuses leading zeros, which some programs read as octal.
        let address = IpAddr::from_str(address).map_err(|_| wrong())?;
        let Some(bits) = bits else { return Ok(Self(IpNet::from(address))) };
        let bits = u8::from_str(bits).map_err(|_| wrong())?;
        IpNet::new(address, bits).map(Self).map_err(|_| wrong())
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_outside_the_public_internet_are_recognised() {
        for inside in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "::ffff:0:127.0.0.1",
            "::ffff:0:8.8.8.8",
            "64:ff9b::a00:1",
            "64:ff9b::127.0.0.1",
            "64:ff9b:1::10.0.0.1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2a00::5efe:10.0.0.1",
            "2a00::200:5efe:10.0.0.1",
            "2002:7f00:1::",
            "fd00::1",
            "fe80::1",
            "ff02::1",
            "2001:db8::1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in
            ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1", "2a00::1:5efe:a00:1", "::ffff:8.8.8.8"]
        {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }

    #[test]
    fn a_network_contains_its_addresses() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("192.0.2.0/25", "::ffff:192.0.2.127", "192.0.2.128"),
            ("fd00::/8", "fdff::1", "fe00::1"),
            ("::1", "::1", "127.0.0.1"),
            ("0.0.0.0/0", "203.0.113.9", "::2"),
            ("::/0", "2001:db8::1", "203.0.113.9"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.contains(inside.parse().unwrap()), "{inside} in {network}");
            assert!(!network.contains(outside.parse().unwrap()), "{outside} in {network}");
        }
        for wrong in ["010.0.0.0/8", "", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/-1", "::/129", "localhost", "/8"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
