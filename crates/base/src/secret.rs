//! Secrets: how they are made, how they are stored (only their SHA-256), how they are compared.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// `N` bytes from the operating system: the one place that reads randomness.
///
/// # Panics
/// When the operating system has no randomness to give. Nothing safe could be done after that.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    #[expect(clippy::expect_used, reason = "a server without randomness must not mint ids or keys")]
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// A secret that is shown once: a recognisable prefix and 256 random bits in hex.
pub fn mint(prefix: &str) -> String {
    format!("{prefix}{}", hex(&random_bytes::<32>()))
}

/// What is stored of a secret. At 256 bits of entropy a slow hash would buy nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// The hash of a presented secret.
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// The stored form: 64 hex digits.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// Whether `stored` is this hash, in time that does not depend on where they differ.
    pub fn matches(&self, stored: &str) -> bool {
        self.hex().as_bytes().ct_eq(stored.as_bytes()).into()
    }
}

impl std::fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for nibble in [byte >> 4, byte & 0x0f] {
            text.extend(DIGITS.get(usize::from(nibble)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minted_secret_is_recognised_by_its_hash_only() {
        let secret = mint("rsk_live_");
        assert_eq!(secret.len(), "rsk_live_".len() + 64);
        let stored = SecretHash::of(&secret).hex();
        assert!(SecretHash::of(&secret).matches(&stored));
        assert!(!SecretHash::of(&mint("rsk_live_")).matches(&stored));
        assert!(!stored.contains(&secret["rsk_live_".len()..]));
    }

    #[test]
    fn known_hash() {
        assert_eq!(SecretHash::of("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
