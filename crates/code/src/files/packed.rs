//! Compressed bytes in rows.

use std::io::{Read, Write};

use base::{Error, Result};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// Compresses `bytes`.
pub(crate) fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(Error::internal)
}

/// The bytes that [`pack`] compressed, at most `bytes_max` of them.
pub(crate) fn unpack(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>> {
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed).take(limit).read_to_end(&mut bytes).map_err(Error::internal)?;
    if bytes.len() > bytes_max { Err(Error::internal("a stored content is larger than it may be")) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_is_bounded() {
        let packed = pack(&[b'a'; 1_000_000]).unwrap();
        assert!(packed.len() < 10_000);
        assert_eq!(unpack(&packed, 1_000_000).unwrap().len(), 1_000_000);
        assert!(unpack(&packed, 999_999).is_err());
        assert!(unpack(b"not packed", 100).is_err());
        assert_eq!(unpack(&pack(b"").unwrap(), 0).unwrap(), b"");
    }
}
