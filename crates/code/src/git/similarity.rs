//! How much of a file's content is in another, as git counts it: a file is a bag of lines (long ones in pieces of 64 bytes), and the
//! similarity is the share of bytes whose pieces are in both. It costs one pass over each file.

use super::lines::is_binary;

/// The score of equal contents.
pub(super) const FULL: u64 = 60_000;
/// The least score of a rename: 50 %.
pub(super) const LEAST: u64 = FULL / 2;
/// The least score of a move that is found by its file name alone: 75 %.
pub(super) const LEAST_BY_NAME: u64 = LEAST + (FULL - LEAST) / 2;

/// The longest piece.
const PIECE: usize = 64;
/// git's number of different pieces.
const PIECES: u32 = 107_927;

/// The pieces of a content, sorted, each with the number of its bytes.
pub(super) struct Fingerprint {
    pieces: Vec<(u32, u32)>,
    size: u64,
}

impl Fingerprint {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let is_text = !is_binary(bytes);
        let mut pieces = Vec::new();
        let (mut low, mut high, mut length) = (0_u32, 0_u32, 0_u32);
        let mut rest = bytes.iter().peekable();
        while let Some(byte) = rest.next() {
            // Line ends of Windows count like those of Unix.
            if is_text && *byte == b'\r' && rest.peek() == Some(&&b'\n') {
                continue;
            }
            (low, high) = ((low << 7) ^ (high >> 25), (high << 7) ^ (low >> 25));
            low = low.wrapping_add(u32::from(*byte));
            length += 1;
            if length as usize >= PIECE || *byte == b'\n' {
                pieces.push((number(low, high), length));
                (low, high, length) = (0, 0, 0);
            }
        }
        if length > 0 {
            pieces.push((number(low, high), length));
        }
        pieces.sort_unstable_by_key(|(piece, _)| *piece);
        pieces.dedup_by(|one, kept| {
            let is_same = one.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(one.1);
            }
            is_same
        });
        Self { pieces, size: bytes.len() as u64 }
    }

    /// The number of different pieces.
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// How much of `self` is in `new`, from 0 to [`FULL`].
    pub(super) fn score(&self, new: &Self) -> u64 {
        let largest = self.size.max(new.size);
        if new.size == 0 {
            return 0;
        }
        let mut copied = 0_u64;
        let mut others = new.pieces.iter().peekable();
        for (piece, bytes) in &self.pieces {
            while others.next_if(|other| other.0 < *piece).is_some() {}
            if let Some(other) = others.next_if(|other| other.0 == *piece) {
                copied += u64::from(*bytes.min(&other.1));
            }
        }
        copied * FULL / largest
    }
}

/// Whether contents of these sizes can reach `least`. It saves reading them.
pub(super) fn can_reach(least: u64, old: u64, new: u64) -> bool {
    let (largest, difference) = (old.max(new), old.abs_diff(new));
    largest.saturating_mul(FULL - least) >= difference.saturating_mul(FULL)
}

fn number(low: u32, high: u32) -> u32 {
    low.wrapping_add(high.wrapping_mul(0x61)) % PIECES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(old: &str, new: &str) -> u64 {
        Fingerprint::of(old.as_bytes()).score(&Fingerprint::of(new.as_bytes()))
    }

    #[test]
    fn the_score_is_the_share_of_common_bytes() {
        assert_eq!(score("one\ntwo\n", "one\ntwo\n"), FULL);
        assert_eq!(score("one\ntwo\n", "two\nten\n"), FULL / 2);
        assert_eq!(score("one\n", "two\n"), 0);
        assert_eq!(score("", ""), 0);
    }

    #[test]
    fn the_order_of_lines_and_the_kind_of_line_end_do_not_matter() {
        assert_eq!(score("one\ntwo\n", "two\none\n"), FULL);
        // The sizes still count the bytes of the line ends.
        assert_eq!(score("one\r\ntwo\r\n", "one\ntwo\n"), FULL * 8 / 10);
    }

    #[test]
    fn sizes_alone_can_rule_a_rename_out() {
        assert!(can_reach(LEAST, 100, 50));
        assert!(!can_reach(LEAST, 100, 49));
        assert!(can_reach(LEAST, u64::MAX / 2, u64::MAX / 2));
    }
}
