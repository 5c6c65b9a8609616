//! The SHA-256 of a file's content.

use std::fmt;

use base::secret::hex;
use base::{Error, Result};
use sha2::Digest;

/// The SHA-256 of a content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The digest of `content`.
    pub fn of(content: &[u8]) -> Self {
        Self(sha2::Sha256::digest(content).into())
    }

    /// Reads 64 hex digits, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        let mut digest = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (byte, place) in digest.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(text.get(place..place + 2)?, 16).ok()?;
        }
        Some(Self(digest))
    }

    /// 64 lower-case hex digits.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// The digest in a column, if there is one.
    pub(crate) fn from_row(text: Option<&str>) -> Result<Option<Self>> {
        let read = |text| Self::parse(text).ok_or_else(|| Error::internal("a stored digest is damaged"));
        text.map(read).transpose()
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_back() {
        let empty = Sha256::of(b"");
        assert_eq!(empty.hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(Sha256::parse(&empty.hex().to_uppercase()), Some(empty));
        for wrong in ["", "e3b0", &"g".repeat(64), &"é".repeat(32), &format!("+{}", "0".repeat(63))] {
            assert_eq!(Sha256::parse(wrong), None, "{wrong}");
        }
    }
}
