//! Decides which names are the same: `PaymentService`, `payment-service` and `payment service` are.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A name as stored: as written, without surrounding space and quotes.
pub(crate) fn cleaned(name: &str) -> String {
    let folded: String = name.nfc().collect();
    let trimmed = folded.trim().trim_matches('`').trim();
    trimmed.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The forms of a name. Two names are the same if they share a form.
///
/// There are up to two: one splits words at capitals, and one does not, because `PostgreSQL` is also written as `postgresql`
/// and nobody writes `postgre sql`.
pub(crate) fn forms(name: &str) -> Vec<String> {
    let whole = joined(name, false, ' ');
    let split = joined(name, true, ' ');
    match (whole.is_empty(), whole == split) {
        // A name of only separators equals only itself.
        (true, _) => vec![name.to_lowercase()],
        (false, true) => vec![whole],
        (false, false) => vec![whole, split],
    }
}

/// The canonical form of a relationship: `dependsOn`, `Depends on` and `depends-on` are `depends_on`.
pub(crate) fn relationship(words: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || is_combining_mark(letter);
    let plain: String = words.nfkc().map(|letter| if is_part(letter) { letter } else { ' ' }).collect();
    joined(&plain, true, '_')
}

/// A relationship as words.
pub(crate) fn spoken(relationship: &str) -> String {
    relationship.replace('_', " ")
}

/// The words of a name in lower case, joined by `glue`.
fn joined(name: &str, split_capitals: bool, glue: char) -> String {
    let letters: Vec<char> = name.nfkc().collect();
    let mut text = String::with_capacity(name.len());
    for (place, letter) in letters.iter().enumerate() {
        if is_separator(*letter) {
            if !text.is_empty() && !text.ends_with(glue) {
                text.push(glue);
            }
            continue;
        }
        let before = place.checked_sub(1).and_then(|before| letters.get(before));
        if split_capitals
            && !text.ends_with(glue)
            && before.is_some_and(|before| begins_word(*before, *letter, letters.get(place + 1)))
        {
            text.push(glue);
        }
        text.extend(letter.to_lowercase());
    }
    if text.ends_with(glue) {
        text.pop();
    }
    text
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '-' | '_' | '.' | '/' | '\\' | ':')
}

/// Whether a capital starts a word: after a small letter or digit, or as the last capital before a small letter (`HTTPServer`).
fn begins_word(before: char, letter: char, after: Option<&char>) -> bool {
    let is_capital = letter.is_uppercase() && !letter.to_lowercase().eq([letter]);
    if !is_capital || is_separator(before) {
        return false;
    }
    before.is_lowercase() || before.is_numeric() || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn are_one(left: &str, right: &str) -> bool {
        let right = forms(right);
        forms(left).iter().any(|form| right.contains(form))
    }

    #[test]
    fn spellings_of_one_name_are_the_same() {
        for (left, right) in [
            ("PaymentService", "payment-service"),
            ("payment_service", "Payment Service"),
            ("paymentService", "paymentservice"),
            ("PostgreSQL", "postgresql"),
            ("HTTPServer", "http-server"),
            ("crate::store::Tx", "crate/store/tx"),
            ("./src/main.rs", "src/main.rs"),
            ("ÄRGER", "ärger"),
            ("ﬁle", "file"),
        ] {
            assert!(are_one(left, right), "{left} and {right}: {:?} {:?}", forms(left), forms(right));
        }
        for (left, right) in
            [("C", "C++"), ("C#", "C"), ("payment", "payments"), ("re-form", "reform"), ("...", "-"), ("日本", "日")]
        {
            assert!(!are_one(left, right), "{left} and {right}");
        }
    }

    #[test]
    fn relationships_have_one_spelling() {
        for words in ["dependsOn", "Depends On", "depends-on", " depends_on ", "DEPENDS ON", "depends → on"] {
            assert_eq!(relationship(words), "depends_on", "{words}");
        }
        assert_eq!(relationship("hat Besitzer:in"), "hat_besitzer_in");
        assert_eq!(relationship("-> "), "");
        assert_eq!(spoken("depends_on"), "depends on");
    }

    #[test]
    fn names_are_kept_without_surrounding_characters() {
        assert_eq!(cleaned("  `src/a b.rs`\n"), "src/a b.rs");
        assert_eq!(cleaned("a \t b"), "a b");
        assert_eq!(cleaned("``"), "");
    }

    proptest! {
        #[test]
        fn the_form_of_a_form_is_itself(name in "\\PC{1,40}") {
            let forms = forms(&name);
            prop_assert!(forms.iter().all(|form| !form.is_empty()));
            prop_assert!(are_one(&name, &name.to_lowercase()) || name.to_lowercase().to_uppercase() != name.to_uppercase());
            let folded = relationship(&name);
            prop_assert_eq!(relationship(&folded), folded);
        }
    }
}
