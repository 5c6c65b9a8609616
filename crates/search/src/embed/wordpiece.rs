//! From text to word pieces, as the model was trained with: words are cut into the longest pieces that are known.
//!
//! Only what the model reads is cut: a text of any size costs no more than reading it once, and mostly much less. Names of special
//! tokens in a text, such as `[SEP]`, are words like any other.

use super::characters::{cleaned, is_punctuation};
use super::vocabulary::Vocabulary;

/// The most pieces of a text that the model reads, with the two that frame it.
pub(super) const PIECES_MAX: usize = 256;

/// A longer word is unknown as a whole.
const WORD_CHARACTERS_MAX: usize = 100;

/// The numbers of the pieces with a meaning of their own.
const UNKNOWN: u16 = 100;
const START: u16 = 101;
const END: u16 = 102;

/// The pieces of a text, framed, into `pieces`.
pub(super) fn cut(vocabulary: &Vocabulary<'_>, text: &str, pieces: &mut Vec<u16>) {
    pieces.clear();
    pieces.push(START);
    let mut word = Word::default();
    for character in cleaned(text) {
        if pieces.len() >= PIECES_MAX {
            break;
        }
        if character.is_whitespace() {
            word.finish(vocabulary, pieces);
        } else if is_punctuation(character) {
            word.finish(vocabulary, pieces);
            word.push(character);
            word.finish(vocabulary, pieces);
        } else {
            word.push(character);
        }
    }
    word.finish(vocabulary, pieces);
    pieces.truncate(PIECES_MAX - 1);
    pieces.push(END);
}

/// The word that is being read.
#[derive(Default)]
struct Word {
    text: String,
    characters: usize,
}

impl Word {
    fn push(&mut self, character: char) {
        self.characters += 1;
        // Of a word that is too long only the fact matters.
        if self.characters <= WORD_CHARACTERS_MAX {
            self.text.push(character);
        }
    }

    /// Adds the word's pieces and begins the next word. A word of which some part is no piece is unknown as a whole.
    fn finish(&mut self, vocabulary: &Vocabulary<'_>, pieces: &mut Vec<u16>) {
        if self.characters == 0 {
            return;
        }
        let before = pieces.len();
        let mut rest = if self.characters > WORD_CHARACTERS_MAX { None } else { Some(self.text.as_str()) };
        while let Some(word) = rest.filter(|word| !word.is_empty()) {
            rest = vocabulary.longest(word, pieces.len() > before).and_then(|(piece, length)| {
                pieces.push(piece);
                word.get(length..)
            });
        }
        if rest.is_none() {
            pieces.truncate(before);
            pieces.push(UNKNOWN);
        }
        self.text.clear();
        self.characters = 0;
    }
}

#[cfg(test)]
mod tests;
