//! Encrypts secrets at rest with a key derived from the master key. Each ciphertext is bound to its place.

use base::secret::random_bytes;
use base::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};

use crate::master::MasterKey;

/// The prefix of sealed text. Another cipher would get another prefix.
const FORM: &str = "v1.";
const NONCE_BYTES: usize = 24;

/// Encrypts and decrypts secrets. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Vault(XChaCha20Poly1305);

impl Vault {
    pub(crate) fn new(master: &MasterKey) -> Self {
        Self(XChaCha20Poly1305::new(&master.derive("secrets-at-rest").into()))
    }

    /// Encrypts `secret` for `place` (table, org, row). It cannot be decrypted elsewhere.
    pub(crate) fn seal(&self, place: &str, secret: &[u8]) -> Result<String> {
        let nonce: [u8; NONCE_BYTES] = random_bytes();
        let payload = Payload { msg: secret, aad: place.as_bytes() };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload).map_err(Error::internal)?;
        let bytes: Vec<u8> = nonce.into_iter().chain(sealed).collect();
        Ok(format!("{FORM}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Decrypts a secret that was sealed for `place`.
    pub(crate) fn open(&self, place: &str, sealed: &str) -> Result<Vec<u8>> {
        let broken = || Error::internal(format_args!("cannot decrypt the secret at {place}"));
        let text = sealed.strip_prefix(FORM).ok_or_else(broken)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| broken())?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(broken)?;
        let payload = Payload { msg: sealed, aad: place.as_bytes() };
        self.0.decrypt(&XNonce::from(*nonce), payload).map_err(|_| broken())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_decrypts_only_in_its_place_and_unchanged() {
        let vault = Vault::new(&MasterKey::generate());
        let sealed = vault.seal("here", b"seed").unwrap();
        assert_eq!(vault.open("here", &sealed).unwrap(), b"seed");
        assert!(vault.open("there", &sealed).is_err());
        assert!(Vault::new(&MasterKey::generate()).open("here", &sealed).is_err());
        for broken in ["", "v1.", "v2.AAAA", &sealed[..sealed.len() - 2], "v1.!!!!"] {
            assert!(vault.open("here", broken).is_err(), "{broken}");
        }
        assert_ne!(sealed, vault.seal("here", b"seed").unwrap(), "a nonce is used once");
    }
}
