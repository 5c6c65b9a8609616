//! A light English stemmer: it removes plurals, `-ed` and `-ing`, and changes no meaning.
//!
//! Half of the indexed text is identifiers. A stemmer for prose would match `generate` with `generic` and `organ` with
//! `organization`; this one only removes endings of the same word. It is idempotent.

/// Shorter words stay unchanged.
const LETTERS_MIN: usize = 4;

/// Removes the endings of a lower-case word. Other than ASCII letters stay unchanged.
pub(super) fn stem(word: &mut String) {
    if word == "ids" {
        // The one plural of three letters that every code base has.
        word.pop();
    } else if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        // An ending may hide another, as in `embeddings`. Each round shortens the word or is the last.
        while word.len() >= LETTERS_MIN && (take_plural(word) || take_ed_or_ing(word) || take_final_e(word)) {}
    }
}

fn take_plural(word: &mut String) -> bool {
    let Some(body) = word.strip_suffix('s') else { return false };
    if body.ends_with(['s', 'u', 'i']) || body.ends_with("ia") {
        return false;
    }
    if body.ends_with("ie") && body.len() > 3 {
        return replace_end(word, 3, "y");
    }
    if ["xe", "che", "she", "sse", "zze", "iase"].iter().any(|end| body.ends_with(end)) && body.len() > 3 {
        return replace_end(word, 2, "");
    }
    replace_end(word, 1, "")
}

fn take_ed_or_ing(word: &mut String) -> bool {
    if word.ends_with("ied") && word.len() > 4 {
        return replace_end(word, 3, "y");
    }
    if word.ends_with("eed") {
        return false;
    }
    let Some(body) = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) else { return false };
    let ending = word.len() - body.len();
    match body.as_bytes() {
        // used, using
        [first, last] if is_vowel(*first) && !is_vowel(*last) => replace_end(word, ending, "e"),
        [] | [_] | [_, _] => false,
        letters if !letters.iter().any(|letter| is_vowel(*letter)) => false,
        // running, tagged: but filling, passed
        [.., before, last] if before == last && body.len() > 3 && !is_vowel(*last) && !matches!(last, b'l' | b's' | b'z') => {
            replace_end(word, ending + 1, "")
        }
        // filed, coding: but fixed, eating
        [first, middle, last] if !is_vowel(*first) && is_vowel(*middle) && !is_vowel(*last) && !matches!(last, b'w' | b'x') => {
            replace_end(word, ending, "e")
        }
        // parsed, closing: but passed
        [.., before, b's'] if *before != b's' => replace_end(word, ending, "e"),
        _ => replace_end(word, ending, ""),
    }
}

/// `cache` must match `caching`. Short words keep the `e`, or `note` would match `not`. So does `parse`, or it would end like a
/// plural.
fn take_final_e(word: &mut String) -> bool {
    let keeps = word.len() <= LETTERS_MIN || word.ends_with("ee") || word.ends_with("se") && !word.ends_with("iase");
    word.ends_with('e') && !keeps && replace_end(word, 1, "")
}

/// Replaces the last `letters` and returns true.
fn replace_end(word: &mut String, letters: usize, end: &str) -> bool {
    word.truncate(word.len() - letters);
    word.push_str(end);
    true
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    fn stem(word: &str) -> String {
        let mut word = word.to_owned();
        super::stem(&mut word);
        word
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for forms in [
            "index indexed indexing indexes",
            "cache caches cached caching",
            "file files filed filing",
            "fill fills filled filling",
            "query queries queried querying",
            "class classes",
            "box boxes boxed boxing",
            "match matches matched matching",
            "run runs running",
            "use uses used using",
            "tag tags tagged tagging",
            "code codes coded coding",
            "embed embeds embedded embedding embeddings",
            "write writes writing",
            "parse parses parsed parsing",
            "add adds added adding",
            "need needs needed needing",
            "pass passes passed passing",
            "alias aliases aliased aliasing",
            "database databases",
            "close closes closed closing",
            "process processes processed processing",
            "release releases released releasing",
            "schema schemas",
            "retry retries retried retrying",
            "type types typed typing",
            "note notes noted noting",
            "see sees seeing",
            "agree agrees agreeing",
        ] {
            let stems: Vec<_> = forms.split(' ').map(stem).collect();
            assert!(stems.iter().all(|found| found == &stems[0]), "{forms}: {stems:?}");
        }
    }

    #[test]
    fn different_words_have_different_stems() {
        for words in [
            "note not",
            "mode mod",
            "string str",
            "status stat",
            "file fill",
            "generic generate",
            "organ organization",
            "this thi",
            "bus bu",
        ] {
            let (left, right) = words.split_once(' ').unwrap();
            assert_ne!(stem(left), stem(right));
        }
    }

    proptest! {
        #[test]
        fn stemming_is_idempotent(word in "[a-z]{0,12}(s|es|ies|ed|ied|ing|e|eed|ings)?") {
            let once = stem(&word);
            prop_assert_eq!(stem(&once), once);
        }

        #[test]
        fn other_words_stay_unchanged(word in "[a-zäöé0-9]{0,8}[0-9é.]ing") {
            prop_assert_eq!(stem(&word), word);
        }
    }
}
