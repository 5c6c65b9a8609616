//! Differences between two contents, line by line, and the deltas that are stored.
//!
//! A delta says which parts of the old content to copy and what to insert. Time and memory are bounded: where the lines are too many,
//! or the time is over, the difference is larger than it could be, but still right.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use base::{Error, Result};
use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp};

use crate::files::{FILE_BYTES_MAX, pack, unpack};

/// Time to compare two contents.
const COMPARE_TIME_MAX: Duration = Duration::from_millis(500);
/// Lines of a content that are compared one by one.
const LINES_MAX: usize = 200_000;

/// A part of a new content.
#[derive(Serialize, Deserialize)]
enum Part<'a> {
    /// Bytes of the old content.
    Copy { start: u32, length: u32 },
    /// Other bytes.
    Insert(&'a [u8]),
}

/// The difference between two contents.
#[derive(Debug)]
pub(super) struct Difference {
    /// The lines that are only in the new content.
    pub(super) added: i64,
    /// The lines that are only in the old content.
    pub(super) removed: i64,
    hunks: Vec<DiffOp>,
}

/// The lines of a content, each with its end.
pub(super) fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

/// When a comparison that starts now ends.
pub(super) fn deadline() -> Instant {
    Instant::now() + COMPARE_TIME_MAX
}

/// Whether a content has so few lines that they are compared one by one.
pub(super) fn is_comparable(content: &[u8]) -> bool {
    content.iter().filter(|byte| **byte == b'\n').take(LINES_MAX).count() < LINES_MAX
}

/// What to do with the lines of `old` to get `new`.
pub(super) fn compare<'l>(old: &[&'l [u8]], new: &[&'l [u8]], deadline: Instant) -> Vec<DiffOp> {
    // Numbers are compared faster than lines.
    let mut numbers = HashMap::new();
    let (old, new) = (numbered(old, &mut numbers), numbered(new, &mut numbers));
    similar::capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline))
}

/// The same number for equal lines.
fn numbered<'l>(lines: &[&'l [u8]], numbers: &mut HashMap<&'l [u8], usize>) -> Vec<usize> {
    let mut numbered = Vec::with_capacity(lines.len());
    for line in lines {
        let next = numbers.len();
        numbered.push(*numbers.entry(line).or_insert(next));
    }
    numbered
}

/// The difference between two contents. `None` if they have too many lines.
pub(super) fn difference(old: &[u8], new: &[u8]) -> Option<Difference> {
    if !is_comparable(old) || !is_comparable(new) {
        return None;
    }
    let hunks = compare(&lines(old), &lines(new), deadline());
    let (mut added, mut removed) = (0, 0);
    for hunk in hunks.iter().filter(|hunk| !matches!(hunk, DiffOp::Equal { .. })) {
        added += hunk.new_range().len();
        removed += hunk.old_range().len();
    }
    Some(Difference { added: counted(added), removed: counted(removed), hunks })
}

fn counted(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The delta from `old` to `new`. `None` if a whole content is the better choice.
pub(super) fn delta(old: &[u8], new: &[u8], difference: &Difference) -> Result<Option<Vec<u8>>> {
    let (old_starts, new_starts) = (starts(old), starts(new));
    let mut inserted = 0;
    let mut parts = Vec::new();
    for hunk in &difference.hunks {
        let (old_range, new_range) = (hunk.old_range(), hunk.new_range());
        if matches!(hunk, DiffOp::Equal { .. }) {
            let (start, end) = (place(&old_starts, old_range.start)?, place(&old_starts, old_range.end)?);
            parts.push(Part::Copy { start, length: end.saturating_sub(start) });
        } else if !new_range.is_empty() {
            let (start, end) = (place(&new_starts, new_range.start)?, place(&new_starts, new_range.end)?);
            let bytes = new.get(start as usize..end as usize).unwrap_or_default();
            inserted += bytes.len();
            parts.push(Part::Insert(bytes));
        }
    }
    if inserted > new.len() / 2 {
        return Ok(None);
    }
    let encoded = postcard::to_stdvec(&parts).map_err(Error::internal)?;
    pack(&encoded).map(Some)
}

/// Where each line starts, and where the last one ends.
fn starts(content: &[u8]) -> Vec<u32> {
    let ends = content.split_inclusive(|byte| *byte == b'\n').scan(0_u32, |end, line| {
        *end = end.saturating_add(u32::try_from(line.len()).unwrap_or(u32::MAX));
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

fn place(starts: &[u32], line: usize) -> Result<u32> {
    starts.get(line).copied().ok_or_else(|| Error::internal("a difference names a line that does not exist"))
}

/// The content that a delta makes of `old`.
pub(super) fn apply(old: &[u8], packed: &[u8]) -> Result<Vec<u8>> {
    let damaged = || Error::internal("a stored delta is damaged");
    // Each part is a few bytes and what it inserts.
    let encoded = unpack(packed, 2 * FILE_BYTES_MAX)?;
    let parts: Vec<Part<'_>> = postcard::from_bytes(&encoded).map_err(Error::internal)?;
    let mut new = Vec::with_capacity(old.len());
    for part in parts {
        let bytes = match part {
            Part::Copy { start, length } => {
                let end = start.checked_add(length).ok_or_else(damaged)?;
                old.get(start as usize..end as usize).ok_or_else(damaged)?
            }
            Part::Insert(bytes) => bytes,
        };
        if new.len() + bytes.len() > FILE_BYTES_MAX {
            return Err(damaged());
        }
        new.extend_from_slice(bytes);
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
        let difference = difference(old, new).unwrap();
        delta(old, new, &difference).unwrap().map(|packed| apply(old, &packed).unwrap())
    }

    #[test]
    fn lines_are_counted() {
        for (old, new, added, removed) in
            [("", "a\nb", 2, 0), ("a\nb\n", "", 0, 2), ("a\nb\nc\n", "a\nx\nc\n", 1, 1), ("a", "a\n", 1, 1), ("", "", 0, 0)]
        {
            let found = difference(old.as_bytes(), new.as_bytes()).unwrap();
            assert_eq!((found.added, found.removed), (added, removed), "{old:?} {new:?}");
        }
    }

    #[test]
    fn a_new_content_is_not_a_delta() {
        assert_eq!(there(b"a\nb\n", b"c\nd\n"), None);
        assert_eq!(there(b"a\nb\nc\nd\n", b"a\nb\nc\n").unwrap(), b"a\nb\nc\n");
        assert!(difference(&vec![b'\n'; LINES_MAX], b"").is_none());
    }

    #[test]
    fn a_damaged_delta_is_an_error() {
        for parts in [vec![Part::Copy { start: 1, length: 9 }], vec![Part::Copy { start: u32::MAX, length: 9 }]] {
            assert!(apply(b"abc", &pack(&postcard::to_stdvec(&parts).unwrap()).unwrap()).is_err());
        }
        assert!(apply(b"abc", &pack(&[9; 9]).unwrap()).is_err());
    }

    proptest! {
        #[test]
        fn a_delta_leads_to_the_new_content(old in proptest::collection::vec("[ab\r\n]{0,3}", 0..40), new in proptest::collection::vec("[ab\r\n]{0,3}", 0..40)) {
            let (old, new) = (old.concat(), new.concat());
            if let Some(applied) = there(old.as_bytes(), new.as_bytes()) {
                prop_assert_eq!(applied, new.as_bytes());
            }
        }
    }
}
