//! The hash of an entry. The next entry refers to it.

use base::secret::hex;
use data_encoding::HEXLOWER;

/// SHA-256 of an event's canonical form followed by the previous hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryHash([u8; 32]);

impl EntryHash {
    /// The previous hash of a workspace's first entry: 64 zeros.
    pub const GENESIS: Self = Self([0; 32]);

    /// A hash from its bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, which are what a key signs.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lower-case hex digits, the form that is hashed into the next entry, stored and shown.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// Reads 64 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok().map(Self)
    }
}

impl std::fmt::Display for EntryHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex())
    }
}

impl std::fmt::Debug for EntryHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_read_back_in_one_spelling_only() {
        let hash = EntryHash::from_bytes(std::array::from_fn(|index| u8::try_from(index * 8).unwrap()));
        assert_eq!(EntryHash::parse(&hash.hex()), Some(hash));
        assert_eq!(EntryHash::parse(&hash.hex().to_uppercase()), None);
        assert_eq!(EntryHash::GENESIS.hex(), "0".repeat(64));
        for wrong in ["", "00", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(EntryHash::parse(wrong), None, "{wrong}");
        }
    }
}
