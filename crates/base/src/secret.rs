//! Secrets: how they are created, stored (only as SHA-256) and compared.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Returns `N` random bytes from the operating system. This is the only place that reads randomness.
///
/// # Panics
/// If the operating system provides no randomness. It would not be safe to continue.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    #[expect(clippy::expect_used, reason = "a server without randomness must not mint ids or keys")]
    getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
    bytes
}

/// Creates a secret: a recognisable prefix and 256 random bits in hex.
pub fn mint(prefix: &str) -> String {
    format!("{prefix}{}", hex(&random_bytes::<32>()))
}

/// The stored form of a secret. With 256 bits of entropy, a slow hash would add nothing.
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

    /// Compares with a stored hash in constant time.
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
    HEXLOWER.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_matches_only_its_own_hash() {
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
