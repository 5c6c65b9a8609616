//! The master key: 32 bytes from which the instance's other keys are derived. It is never stored with the rows.

use base::secret::{hex, random_bytes};
use base::{Error, Kind, Result};
use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The instance's root secret. It is never printed, and only this type compares it.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

impl MasterKey {
    /// A new key.
    pub fn generate() -> Self {
        Self(random_bytes())
    }

    /// Reads 64 hex digits, as [`MasterKey::to_hex`] writes them.
    pub fn from_hex(text: &str) -> Result<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| Error::new(Kind::InvalidParams, "the master key must be 64 hex digits"))
    }

    /// The key as in the key file.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// A key for one purpose. It reveals nothing about the master key or the keys for other purposes.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        self.tag(format!("toolcrib/derive/{purpose}").as_bytes())
    }

    /// A value that the store keeps to recognize this key.
    pub(crate) fn fingerprint(&self) -> String {
        hex(&self.tag(b"toolcrib/fingerprint"))
    }

    fn tag(&self, message: &[u8]) -> [u8; 32] {
        // Any key length is accepted, so the fallback is unreachable.
        Hmac::<Sha256>::new_from_slice(&self.0).map_or([0; 32], |mut mac| {
            mac.update(message);
            mac.finalize().into_bytes().into()
        })
    }
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_and_purposes_differ() {
        let key = MasterKey::generate();
        let again = MasterKey::from_hex(&format!("{}\n", key.to_hex())).unwrap();
        assert_eq!(key.derive("a"), again.derive("a"));
        assert_ne!(key.derive("a"), key.derive("b"));
        assert_eq!(MasterKey::from_hex(&key.to_hex().to_uppercase()).unwrap().to_hex(), key.to_hex());
        assert!(!format!("{key:?}").contains(&key.to_hex()));
    }

    #[test]
    fn invalid_hex_is_refused() {
        for text in ["", "abc", &"g".repeat(64), &"é".repeat(32), &"+f".repeat(32), &"f".repeat(62), &"f".repeat(66)] {
            assert!(MasterKey::from_hex(text).is_err(), "{text}");
        }
    }
}
