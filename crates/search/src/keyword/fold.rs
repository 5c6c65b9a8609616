//! Normalises spelling before text is split into words.
//!
//! It decomposes compatibility forms (full-width letters, ligatures, circled digits), drops accents on Latin letters, and drops
//! invisible characters. It keeps case, which marks the words of an identifier, and marks of other scripts, which are letters
//! there.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The normalised text. Plain ASCII is returned unchanged.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut over_latin = false;
    let kept = text.nfkd().filter(move |character| {
        if is_invisible(*character) {
            return false;
        }
        if is_combining_mark(*character) {
            return !over_latin;
        }
        over_latin = character.is_ascii_alphabetic();
        true
    });
    let mut folded = String::with_capacity(text.len());
    for character in kept.nfc() {
        match undecomposed(character) {
            Some(letters) => folded.push_str(letters),
            None => folded.push(character),
        }
    }
    Cow::Owned(folded)
}

/// Joiners, direction marks, soft hyphens, variation selectors, and the keycap frame.
fn is_invisible(character: char) -> bool {
    matches!(u32::from(character),
        0xAD | 0x61C | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2069 | 0x20D0..=0x20FF | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE01EF)
}

/// Letters that Unicode does not decompose but people do if their keyboard lacks them.
fn undecomposed(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' => "ss",
        'ẞ' => "SS",
        'æ' => "ae",
        'Æ' => "AE",
        'œ' => "oe",
        'Œ' => "OE",
        'ø' => "o",
        'Ø' => "O",
        'ł' => "l",
        'Ł' => "L",
        'đ' => "d",
        'Đ' => "D",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn spellings_are_normalised() {
        for (written, folded) in [
            ("plain ASCII stays", "plain ASCII stays"),
            ("Café", "Cafe"),
            ("Cafe\u{301}", "Cafe"),
            ("Ångström Straße Łódź smørrebrød", "Angstrom Strasse Lodz smorrebrod"),
            ("ＦＵＬＬｗｉｄｔｈ ﬁne ①", "FULLwidth fine 1"),
            ("co\u{AD}oper\u{200B}ate \u{202B}x", "cooperate x"),
            ("がぎ ガ ｶﾞ", "がぎ ガ ガ"),
            ("한국어", "한국어"),
            ("हिन्दी", "हिन्दी"),
            ("й ё", "й ё"),
            ("1\u{FE0F}\u{20E3} ❤\u{FE0F}", "1 ❤"),
        ] {
            assert_eq!(fold(written), folded, "{written}");
        }
    }
}
