//! Normalises characters as the model's tokenizer does before it looks for words: BERT, uncased.
//!
//! It drops control characters, separates ideographs, strips accents and converts to lower case. It works on one character at a
//! time, so only the needed part of a long text is read.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// The normalised characters of a text, with a space wherever a word ends without punctuation.
pub(super) fn cleaned(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|character| !is_dropped(*character))
        .flat_map(spaced)
        .nfd()
        .filter(|character| character.general_category() != GeneralCategory::NonspacingMark)
        .flat_map(char::to_lowercase)
}

/// Whether a character is a separate word.
pub(super) fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() || character.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_dropped(character: char) -> bool {
    let blank = matches!(character, '\t' | '\n' | '\r');
    let control =
        matches!(character.general_category(), GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse);
    character == char::REPLACEMENT_CHARACTER || (control && !blank)
}

/// An ideograph between spaces, any white space as a space, any other character unchanged.
fn spaced(character: char) -> impl Iterator<Item = char> {
    let (before, character, after) = match character {
        ideograph if is_ideograph(ideograph) => (Some(' '), ideograph, Some(' ')),
        blank if blank.is_whitespace() => (None, ' ', None),
        other => (None, other, None),
    };
    before.into_iter().chain([character]).chain(after)
}

/// The blocks of unified ideographs that the model's tokenizer knows, including its gap at U+2B820.
fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0x2F800..=0x2FA1F
    )
}
