//! Networks as operators write them: `10.0.0.0/8`, `fd00::/8`, or one address.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

/// All addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// Whether `address` lies in it. An IPv4 address is the same one when it is written as IPv6.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                leading(u32::from(own).into(), 32, self.bits) == leading(u32::from(other).into(), 32, self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => leading(own.into(), 128, self.bits) == leading(other.into(), 128, self.bits),
            _ => false,
        }
    }
}

/// The first `bits` of a number that is `width` bits wide.
fn leading(number: u128, width: u32, bits: u32) -> u128 {
    number.checked_shr(width.saturating_sub(bits)).unwrap_or(0)
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no network: write 10.0.0.0/8, fd00::/8 or one address");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address = IpAddr::from_str(address).map_err(|_| wrong())?;
        let widest = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(widest), u32::from_str).map_err(|_| wrong())?;
        if bits > widest {
            return Err(wrong());
        }
        Ok(Self { address, bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
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
    fn addresses_lie_in_their_networks() {
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
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/-1", "::/129", "localhost", "/8"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
