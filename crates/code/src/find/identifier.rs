//! Exact identifiers: a word of the query that equals the name of a symbol.

use std::collections::{HashMap, HashSet};

use super::catalogue::Catalogue;

/// A name with more definitions than this says nothing about any of them.
const DEFINITIONS_MAX: usize = 64;
/// The maximum number of words of a query to look up.
const WORDS_MAX: usize = 256;
/// Plain words count in queries with at most this many words. Longer ones are prose.
const SHORT_WORDS_MAX: usize = 3;
/// The shortest plain word that counts.
const PLAIN_LENGTH_MIN: usize = 4;
/// How much a plain word like `parse` counts, compared with a word that can only be a name, like `parseHeader`.
const PLAIN: f32 = 0.2;
/// How much the only word of a query counts.
const ALONE: f32 = 2.0;
/// What a symbol gains if the query also has the name of its parent.
const PARENT: f32 = 0.5;

/// How much a name counts that the query writes in another notation.
const OTHER_NOTATION: f32 = 0.8;

/// The last part of a name with its parents: `method` of `Class.method`.
pub(super) fn last_name(symbol: &str) -> &str {
    symbol.rsplit(is_joint).find(|part| !part.is_empty()).unwrap_or(symbol)
}

fn is_joint(character: char) -> bool {
    matches!(character, '.' | ':' | '#' | '/' | '>' | ' ')
}

/// A name in any notation: `get_user`, `getUser` and `GetUser` are the same.
pub(super) fn folded(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Passages whose symbol has a name of the query, with a score: about 1 for one rare name.
pub(super) fn named(catalogue: &Catalogue, query: &str) -> HashMap<u64, f32> {
    let words: Vec<&str> = query
        .split(|character: char| !(character.is_alphanumeric() || character == '_'))
        .filter(|word| !word.is_empty())
        .take(WORDS_MAX)
        .collect();
    let all: HashSet<String> = words.iter().map(|word| folded(word)).collect();
    let is_alone = words.len() == 1;
    let is_short = words.len() <= SHORT_WORDS_MAX;
    let mut found: HashMap<u64, f32> = HashMap::new();
    let mut seen = HashSet::new();
    for word in words {
        let name = folded(word);
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(ids) = catalogue.named(&name).filter(|ids| ids.len() <= DEFINITIONS_MAX) else { continue };
        let form = if is_alone {
            ALONE
        } else if is_name(word) {
            1.0
        } else if is_short && word.chars().count() >= PLAIN_LENGTH_MIN {
            PLAIN
        } else {
            continue;
        };
        let rarity = 1.0 / (1.0 + (ids.len() as f32).ln());
        for id in ids {
            let Some(entry) = catalogue.entry(*id) else { continue };
            let symbol = entry.symbol.as_deref().unwrap_or_default();
            let has_parent = parents(symbol).any(|parent| all.contains(&folded(parent)));
            let exact = if entry.names.iter().any(|name| &**name == word) { 1.0 } else { OTHER_NOTATION };
            *found.entry(*id).or_default() += form * rarity * exact + if has_parent { form * PARENT } else { 0.0 };
        }
    }
    found
}

fn parents(symbol: &str) -> impl Iterator<Item = &str> {
    symbol.rsplit(is_joint).filter(|part| !part.is_empty()).skip(1)
}

/// Whether a word looks like a name in code and not like prose.
fn is_name(word: &str) -> bool {
    let inner = word.trim_matches('_');
    let humps = inner.chars().zip(inner.chars().skip(1)).any(|(left, right)| left.is_lowercase() && right.is_uppercase());
    humps || inner.contains('_') || inner.len() < word.len()
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::Entry;
    use super::super::tests::passage;
    use super::*;

    fn catalogue(symbols: &[&str]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        let entries = (0..).zip(symbols).map(|(id, symbol)| (id, Entry::of(1, &passage("x", Some(symbol))))).collect();
        catalogue.put(1, "a.py", entries);
        catalogue
    }

    #[test]
    fn names_in_any_notation_are_found() {
        let catalogue = catalogue(&["Store.get_user", "getUser", "run", "unrelated"]);
        let found = named(&catalogue, "where is getUser() called?");
        assert!(found.len() == 2 && found[&1] > found[&0], "the exact notation is better: {found:?}");
        assert!(named(&catalogue, "Store::get_user")[&0] > found[&0], "the parent counts");
        assert!(named(&catalogue, "how to run this").is_empty(), "short plain words are prose");
        assert_eq!(named(&catalogue, "run").len(), 1, "unless they are all there is");
    }

    #[test]
    fn common_names_count_less_and_then_not_at_all() {
        let few = catalogue(&["a.parse_it", "b.parse_it"]);
        assert!(named(&few, "parse_it").values().all(|score| *score < ALONE));
        let many: Vec<String> = (0..=DEFINITIONS_MAX).map(|number| format!("c{number}.parse_it")).collect();
        assert!(named(&catalogue(&many.iter().map(String::as_str).collect::<Vec<_>>()), "parse_it").is_empty());
    }

    #[test]
    fn hostile_names_do_no_harm() {
        let catalogue = catalogue(&["", "....", "::", "_", "\u{0}"]);
        for query in ["", ".", "_", "____", "\u{0}", &"a ".repeat(10_000), &"_".repeat(100_000)] {
            assert!(named(&catalogue, query).len() <= 5);
        }
    }
}
