//! A row as bytes: for each column a tag, then the value.

use base::{Error, Result};

use crate::param::Param;

const NULL: u8 = 0;
const INT: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BYTES: u8 = 4;

/// Appends a row's values to `out`.
pub(super) fn encode(values: &[Param<'_>], out: &mut Vec<u8>) -> Result<()> {
    for value in values {
        match value {
            Param::Null => out.push(NULL),
            Param::Int(value) => {
                out.push(INT);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Param::Real(value) => {
                out.push(REAL);
                out.extend_from_slice(&value.to_bits().to_le_bytes());
            }
            Param::Text(value) => with_length(TEXT, value.as_bytes(), out)?,
            Param::Bytes(value) => with_length(BYTES, value, out)?,
        }
    }
    Ok(())
}

fn with_length(tag: u8, value: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let length = u32::try_from(value.len()).map_err(|_| Error::internal("a value is too large for a backup"))?;
    out.push(tag);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(value);
    Ok(())
}

/// Decodes a row with this number of columns; `None` if the bytes are not such a row.
pub(super) fn decode(mut bytes: &[u8], columns: usize) -> Option<Vec<Param<'_>>> {
    // Each value takes at least one byte.
    if columns > bytes.len() {
        return None;
    }
    let mut values = Vec::with_capacity(columns);
    for _ in 0..columns {
        let (tag, rest) = bytes.split_first()?;
        bytes = rest;
        values.push(match *tag {
            NULL => Param::Null,
            INT => Param::Int(i64::from_le_bytes(take(&mut bytes)?)),
            REAL => Param::Real(f64::from_bits(u64::from_le_bytes(take(&mut bytes)?))),
            TEXT => Param::Text(std::str::from_utf8(piece(&mut bytes)?).ok()?),
            BYTES => Param::Bytes(piece(&mut bytes)?),
            _ => return None,
        });
    }
    bytes.is_empty().then_some(values)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*taken)
}

fn piece<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(u32::from_le_bytes(take(bytes)?)).ok()?;
    let (piece, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_decode_exactly_and_partial_rows_do_not() {
        let row = [
            Param::Null,
            Param::Int(i64::MIN),
            Param::Real(-0.0),
            Param::Real(0.1 + 0.2),
            Param::Text("é\n\""),
            Param::Text(""),
            Param::Bytes(&[0, 255]),
        ];
        let mut bytes = Vec::new();
        encode(&row, &mut bytes).unwrap();
        let read = decode(&bytes, row.len()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{row:?}"));
        assert!(decode(&bytes, row.len() - 1).is_none() && decode(&bytes, row.len() + 1).is_none());
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end], row.len()).is_none(), "{end}");
        }
        assert!(decode(&[9], 1).is_none() && decode(&[TEXT, 1, 0, 0, 0, 0xff], 1).is_none() && decode(&[], usize::MAX).is_none());
    }
}
