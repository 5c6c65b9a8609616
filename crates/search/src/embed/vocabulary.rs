//! The word pieces of the model, in a hash table inside the weights file.

/// An empty slot of the table.
pub(super) const EMPTY: u16 = u16::MAX;
/// The maximum length of a piece for lookups, in characters. The longest piece of the vocabulary has 18.
pub(crate) const PIECE_CHARACTERS_MAX: usize = 24;

/// The prefix of a piece that continues a word.
const CONTINUED: &str = "##";

/// The vocabulary, borrowed from the weights file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vocabulary<'a> {
    /// The start of each piece in the text, and the end of the last one.
    pub(super) starts: &'a [u32],
    pub(super) text: &'a [u8],
    /// The numbers of pieces, each in the first free slot after its hash. The number of slots is a power of two, and some are
    /// always free.
    pub(super) slots: &'a [u16],
}

impl Vocabulary<'_> {
    /// The longest piece at the start of `word`, or at the start of its continuation: its number, and its length in bytes.
    pub(super) fn longest(&self, word: &str, continued: bool) -> Option<(u16, usize)> {
        let prefix = if continued { CONTINUED } else { "" };
        // The hash of each prefix of the word, in one pass, and then lookups from the longest prefix on.
        let mut beginnings = [(0, 0); PIECE_CHARACTERS_MAX];
        let mut hash = prefix.bytes().fold(HASH_START, hashed);
        let mut count = 0;
        for ((start, character), beginning) in word.char_indices().zip(&mut beginnings) {
            let end = start + character.len_utf8();
            hash = word.get(start..end).unwrap_or_default().bytes().fold(hash, hashed);
            *beginning = (end, hash);
            count += 1;
        }
        beginnings.iter().take(count).rev().find_map(|(end, hash)| {
            let piece = word.get(..*end)?;
            Some((self.find(*hash, prefix, piece)?, *end))
        })
    }

    fn find(&self, hash: u32, prefix: &str, piece: &str) -> Option<u16> {
        let first = slot_of(hash, self.slots.len());
        let (before, from) = self.slots.split_at_checked(first)?;
        let numbers = from.iter().chain(before).take_while(|number| **number != EMPTY);
        numbers
            .copied()
            .find(|number| self.piece(*number).and_then(|known| known.strip_prefix(prefix.as_bytes())) == Some(piece.as_bytes()))
    }

    /// The bytes of a piece.
    pub(super) fn piece(&self, number: u16) -> Option<&[u8]> {
        let start = *self.starts.get(usize::from(number))?;
        let end = *self.starts.get(usize::from(number) + 1)?;
        self.text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }
}

/// FNV-1a: good enough for known words, and it can be computed incrementally.
const HASH_START: u32 = 0x811C_9DC5;

fn hashed(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

fn slot_of(hash: u32, slots: usize) -> usize {
    // The upper bits are mixed in, because the lower ones alone repeat.
    (hash ^ (hash >> 16)) as usize & slots.saturating_sub(1)
}

/// The hash table of pieces for the weights file, with more than twice as many slots as pieces. `None` if there are too many
/// pieces.
#[cfg(any(test, feature = "rebuild"))]
pub(crate) fn slots(pieces: &[&str]) -> Option<Vec<u16>> {
    let size = (2 * pieces.len() + 1).next_power_of_two();
    let mut slots = vec![EMPTY; size];
    for (number, piece) in pieces.iter().enumerate() {
        let number = u16::try_from(number).ok().filter(|number| *number != EMPTY)?;
        let first = slot_of(piece.bytes().fold(HASH_START, hashed), size);
        let free = (first..size).chain(0..first).find(|slot| slots.get(*slot) == Some(&EMPTY))?;
        *slots.get_mut(free)? = number;
    }
    Some(slots)
}
