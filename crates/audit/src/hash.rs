//! The hash of an entry, which the next entry names.

use base::secret::hex;

/// SHA-256 of an event in its canonical form and of the hash before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryHash([u8; 32]);

impl EntryHash {
    /// What the first entry of a workspace names as the one before it: 64 zeros.
    pub const GENESIS: Self = Self([0; 32]);

    /// A hash of these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes: what is signed.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lower-case hex digits: what is hashed into the next entry, stored and shown.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// Reads 64 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
            let [high, low] = pair.map(digit);
            *byte = high? << 4 | low?;
        }
        Some(Self(bytes))
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
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
    fn hashes_read_back_and_only_in_one_spelling() {
        let hash = EntryHash::from_bytes(std::array::from_fn(|index| u8::try_from(index * 8).unwrap()));
        assert_eq!(EntryHash::parse(&hash.hex()), Some(hash));
        assert_eq!(EntryHash::parse(&hash.hex().to_uppercase()), None);
        assert_eq!(EntryHash::GENESIS.hex(), "0".repeat(64));
        for wrong in ["", "00", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(EntryHash::parse(wrong), None, "{wrong}");
        }
    }
}
