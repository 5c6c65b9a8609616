//! Finds the known word that somebody probably meant.

/// The known word most similar to `word`, if at most a third of its characters differ.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let measured = known.into_iter().map(|known| (strsim::levenshtein(word, known), known));
    let near = measured.filter(|(edits, known)| edits.saturating_mul(3) <= known.chars().count());
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// The number of typing mistakes between two words, if at most a third of the known one's characters differ. Two swapped
/// letters are one mistake.
pub fn mistakes(word: &str, known: &str) -> Option<usize> {
    let (letters, mistakes) = (known.chars().count(), strsim::osa_distance(word, known));
    (mistakes.saturating_mul(3) <= letters).then_some(mistakes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_words_are_near() {
        let tools = ["bricks.list", "kits.list", "kits.get", "af_memory_recall"];
        for (word, expected) in [
            ("bricks.lst", Some("bricks.list")),
            ("kit.get", Some("kits.get")),
            ("bricks.list", Some("bricks.list")),
            ("nosuch", None),
            ("kits", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, tools), expected, "{word}");
        }
    }

    #[test]
    fn mistakes_are_counted() {
        for (word, known, expected) in [
            ("payment", "payment", Some(0)),
            ("paymnet", "payment", Some(1)),
            ("pament", "payment", Some(1)),
            ("pymnt", "payment", Some(2)),
            ("order", "payment", None),
            ("", "a", None),
        ] {
            assert_eq!(mistakes(word, known), expected, "{word}");
        }
    }
}
