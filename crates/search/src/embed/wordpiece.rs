//! Splits text into word pieces as in the training of the model: a word is split into the longest known pieces.
//!
//! Only the part that the model reads is split, so a text of any size costs at most one pass, and mostly much less. Names of
//! special tokens in a text, such as `[SEP]`, are ordinary words.

use super::characters::{cleaned, is_punctuation};
use super::vocabulary::Vocabulary;

/// The maximum number of pieces that the model reads, including the two that frame the text.
pub(super) const PIECES_MAX: usize = 256;

/// A longer word is unknown as a whole.
const WORD_CHARACTERS_MAX: usize = 100;

/// The numbers of the special pieces.
const UNKNOWN: u16 = 100;
const START: u16 = 101;
const END: u16 = 102;

/// Writes the framed pieces of a text into `pieces`.
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

/// The current word.
#[derive(Default)]
struct Word {
    text: String,
    characters: usize,
}

impl Word {
    fn push(&mut self, character: char) {
        self.characters += 1;
        // For a word that is too long, only that fact matters.
        if self.characters <= WORD_CHARACTERS_MAX {
            self.text.push(character);
        }
    }

    /// Adds the word's pieces and starts the next word. A word with an unknown part is unknown as a whole.
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
