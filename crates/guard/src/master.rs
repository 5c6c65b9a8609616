//! The master key: 32 bytes from which the instance's own keys are derived. It is never stored beside the rows.

use base::secret::{hex, random_bytes};
use base::{Error, Kind, Result};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The instance's root secret. It is not printed and not compared outside this type.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

impl MasterKey {
    /// A new key.
    pub fn generate() -> Self {
        Self(random_bytes())
    }

    /// Reads 64 hex digits, as [`MasterKey::to_hex`] writes them.
    pub fn from_hex(text: &str) -> Result<Self> {
        let text = text.trim();
        let malformed = || Error::new(Kind::InvalidParams, "the master key must be 64 hex digits");
        if text.len() != 64 || !text.is_ascii() {
            return Err(malformed());
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(index * 2..index * 2 + 2).ok_or_else(malformed)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| malformed())?;
        }
        Ok(Self(bytes))
    }

    /// The form that the key file holds.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// A key for one purpose; knowing it tells nothing of the master key or of other purposes.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        self.tag(format!("toolcrib/derive/{purpose}").as_bytes())
    }

    /// What the store keeps to recognise this key.
    pub(crate) fn fingerprint(&self) -> String {
        hex(&self.tag(b"toolcrib/fingerprint"))
    }

    fn tag(&self, message: &[u8]) -> [u8; 32] {
        // A key of any length is taken; the fallback can only be reached if that ever changes.
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
    fn the_file_form_reads_back_and_purposes_differ() {
        let key = MasterKey::generate();
        let again = MasterKey::from_hex(&format!("{}\n", key.to_hex())).unwrap();
        assert_eq!(key.derive("a"), again.derive("a"));
        assert_ne!(key.derive("a"), key.derive("b"));
        assert!(!format!("{key:?}").contains(&key.to_hex()));
    }

    #[test]
    fn garbage_is_refused() {
        for text in ["", "abc", &"g".repeat(64), &"é".repeat(32)] {
            assert!(MasterKey::from_hex(text).is_err(), "{text}");
        }
    }
}
