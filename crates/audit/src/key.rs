//! Ed25519 keys and signatures, and the names of keys.
//!
//! A signature is checked as RFC 8032 describes without the cofactor: `s` is below the group's order, and the encoding of
//! `[s]B - [k]A` equals `R` byte for byte. Keys and `R`s of small order are refused too. OpenSSL accepts the same signatures,
//! and also some of small order. So other verifiers can agree with this one.
//!
//! Each signature is checked alone. The owner of a key can craft signatures for which a check in batches gives another result, and
//! single checks are fast enough.

use base::secret::random_bytes;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ed25519_dalek::Signer;
use sha2::{Digest, Sha256};

/// A private key. It is zeroed on drop, and its debug output does not show it.
pub struct SigningKey {
    secret: ed25519_dalek::SigningKey,
    public: VerifyingKey,
}

impl SigningKey {
    /// A new random key.
    pub fn generate() -> Self {
        Self::from_seed(&random_bytes())
    }

    /// The key of a stored seed.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let secret = ed25519_dalek::SigningKey::from_bytes(seed);
        let public = VerifyingKey::of(secret.verifying_key());
        Self { secret, public }
    }

    /// The seed, for encrypted storage. It is as secret as the key.
    pub fn to_seed(&self) -> [u8; 32] {
        self.secret.to_bytes()
    }

    /// The public half.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// The key's name.
    pub fn kid(&self) -> &str {
        self.public.kid()
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Signature {
        Signature(self.secret.sign(message).to_bytes())
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({}, …)", self.kid())
    }
}

/// A public key and its name.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    key: ed25519_dalek::VerifyingKey,
    kid: String,
}

impl VerifyingKey {
    fn of(key: ed25519_dalek::VerifyingKey) -> Self {
        let x = BASE64.encode(key.as_bytes());
        let thumbprint = Sha256::digest(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#));
        Self { key, kid: BASE64.encode(thumbprint) }
    }

    /// Parses the member `x` of a JWK: unpadded base64url of 32 bytes, the only encoding of a key of full order.
    pub fn parse(x: &str) -> Option<Self> {
        let bytes: [u8; 32] = BASE64.decode(x).ok()?.try_into().ok()?;
        let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).ok()?;
        (is_reduced(&bytes) && !key.is_weak()).then(|| Self::of(key))
    }

    /// The key as the member `x` of a JWK.
    pub fn x(&self) -> String {
        BASE64.encode(self.key.as_bytes())
    }

    /// The key's name: its thumbprint (RFC 7638) as unpadded base64url.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Whether `signature` is this key's over `message`.
    pub fn verifies(&self, message: &[u8], signature: &Signature) -> bool {
        self.key.verify_strict(message, &ed25519_dalek::Signature::from_bytes(&signature.0)).is_ok()
    }
}

impl std::fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VerifyingKey({})", self.kid)
    }
}

/// Whether the coordinate in a point's encoding is below 2^255 - 19. The few other encodings stand for points that already have
/// another encoding, and decoders disagree about them.
fn is_reduced(bytes: &[u8; 32]) -> bool {
    let [low, middle @ .., high] = bytes;
    *low < 0xed || middle.iter().any(|byte| *byte != 0xff) || high & 0x7f != 0x7f
}

/// A signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl Signature {
    /// Parses unpadded base64url of 64 bytes, in its only spelling.
    pub fn parse(text: &str) -> Option<Self> {
        BASE64.decode(text).ok()?.try_into().ok().map(Self)
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&BASE64.encode(self.0))
    }
}

impl std::fmt::Debug for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 1, which RFC 8037 uses too.
    fn key() -> SigningKey {
        let seed = BASE64.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        SigningKey::from_seed(&seed.try_into().unwrap())
    }

    #[test]
    fn key_names_match_the_rfc() {
        // RFC 8037, appendices A.1 to A.3.
        assert_eq!(key().verifying_key().x(), "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        assert_eq!(key().kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert_eq!(VerifyingKey::parse("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap(), *key().verifying_key());
        assert!(format!("{:?}", key()).ends_with("S4k, …)"));
        assert_ne!(SigningKey::generate().to_seed(), SigningKey::generate().to_seed());
    }

    #[test]
    fn signatures_match_the_rfc() {
        let signature = key().sign(b"");
        let expected = "5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc-bRr0lv18FlbviRlUUFDjnoQCw";
        assert_eq!(signature.to_string(), expected);
        assert!(key().verifying_key().verifies(b"", &signature));
        assert!(!key().verifying_key().verifies(b"x", &signature));
        assert_eq!(Signature::parse(&signature.to_string()), Some(signature));
        for wrong in ["", "A", &format!("{expected}="), &format!("{expected}A"), &expected.replace('-', "+")] {
            assert!(Signature::parse(wrong).is_none(), "{wrong}");
        }
    }

    /// The same signature with the group's order added to `s`. The equation still holds, so only the range check finds it.
    #[test]
    fn a_signature_has_one_spelling() {
        const ORDER: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let mut signature = key().sign(b"message");
        let mut carry = 0;
        for (byte, order) in signature.0[32..].iter_mut().zip(ORDER) {
            let sum = u16::from(*byte) + u16::from(order) + carry;
            (*byte, carry) = (u8::try_from(sum & 0xff).unwrap(), sum >> 8);
        }
        assert!(!key().verifying_key().verifies(b"message", &signature));
        // Unused bits at the end of the base64url text must be zero. Otherwise two texts would stand for the same bytes.
        let text = key().sign(b"message").to_string();
        let other = format!("{}{}", &text[..85], if text.ends_with('A') { 'B' } else { char::from(text.as_bytes()[85] + 1) });
        assert!(Signature::parse(&other).is_none(), "{text} {other}");
    }

    /// With a key of small order anybody could sign anything, so such a key is refused.
    #[test]
    fn weak_keys_and_second_encodings_are_refused() {
        let with = |first: u8, rest: u8, last: u8| {
            let mut bytes = [rest; 32];
            (bytes[0], bytes[31]) = (first, last);
            BASE64.encode(bytes)
        };
        for x in [
            with(1, 0, 0),
            with(0, 0, 0),
            with(0, 0, 0x80),
            with(0xec, 0xff, 0x7f),
            with(0xee, 0xff, 0x7f),
            with(0xf0, 0xff, 0x7f),
        ] {
            assert!(VerifyingKey::parse(&x).is_none(), "{x}");
        }
        for order_eight in ["xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o", "JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU"] {
            assert!(VerifyingKey::parse(order_eight).is_none(), "{order_eight}");
        }
        assert!(VerifyingKey::parse("").is_none());
    }
}
