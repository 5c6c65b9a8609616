//! Extracts facts from the text of an observation, such as *`checkout` depends on `redis`*. This uses only narrow patterns and
//! no model: both ends must look like names of code (quoted, or with a path, a symbol or a ticket in them) and be right next to
//! the words between them. Agents can state everything else explicitly.

use base::limits::OBSERVATION_FACTS_MAX;

use super::model::{CheckedTriplet, NewEntity, NewTriplet};

/// The words between two names, the relationship they mean, and whether the second name is the source.
const PHRASES: &[(&str, &str, bool)] = &[
    ("depends on", "depends_on", false),
    ("is replaced by", "replaced_by", false),
    ("was replaced by", "replaced_by", false),
    ("replaced by", "replaced_by", false),
    ("replaces", "replaced_by", true),
    ("is owned by", "owned_by", false),
    ("owned by", "owned_by", false),
    ("owns", "owned_by", true),
    ("is implemented in", "implemented_in", false),
    ("is implemented by", "implemented_by", false),
    ("implements", "implements", false),
    ("is defined in", "defined_in", false),
    ("lives in", "defined_in", false),
    ("is configured in", "configured_in", false),
    ("is configured by", "configured_by", false),
    ("is tested by", "tested_by", false),
    ("is called by", "calls", true),
    ("calls", "calls", false),
    ("is imported by", "imports", true),
    ("imports", "imports", false),
    ("is used by", "uses", true),
    ("uses", "uses", false),
    ("requires", "requires", false),
    ("extends", "extends", false),
    ("writes to", "writes_to", false),
    ("reads from", "reads_from", false),
    ("fixed by", "fixed_by", false),
    ("is fixed in", "fixed_in", false),
    ("blocks", "blocks", false),
    ("caused", "caused", false),
];

/// The facts of an observation, validated.
pub(crate) fn facts_in(note: &str) -> Vec<CheckedTriplet> {
    let mut facts: Vec<NewTriplet> = Vec::new();
    // A sentence with a negation, a doubt or a question states no fact.
    for sentence in sentences(note) {
        let lower = format!(" {} ", sentence.to_lowercase());
        let doubts = [" not ", "n't ", " never ", " no longer ", " should ", " could ", " might ", " if ", " instead of "];
        if sentence.trim_end().ends_with('?') || doubts.iter().any(|doubt| lower.contains(doubt)) {
            continue;
        }
        facts.extend(PHRASES.iter().flat_map(|phrase| stated(sentence, phrase)));
    }
    let mut seen = std::collections::HashSet::new();
    facts.retain(|fact| seen.insert((fact.source.name.clone(), fact.relationship.clone(), fact.target.name.clone())));
    facts.truncate(OBSERVATION_FACTS_MAX);
    if facts.is_empty() { Vec::new() } else { NewTriplet::checked(facts).unwrap_or_default() }
}

/// The sentences of a text. A full stop inside a name (`main.rs`, `v1.2`) does not end one.
fn sentences(note: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, letter): (usize, char)| {
        let after = note.get(at + letter.len_utf8()..).and_then(|rest| rest.chars().next());
        let is_end = letter == '\n' || (matches!(letter, '.' | '!' | '?' | ';') && after.is_none_or(char::is_whitespace));
        is_end.then_some(at + letter.len_utf8())
    };
    let cuts: Vec<usize> = note.char_indices().filter_map(ends).chain([note.len()]).collect();
    let starts = std::iter::once(0).chain(cuts.clone());
    starts.zip(cuts).filter_map(|(start, end)| note.get(start..end))
}

/// The facts of a sentence with one phrase.
fn stated(sentence: &str, (phrase, relationship, reversed): &(&str, &str, bool)) -> Vec<NewTriplet> {
    let spaced = format!(" {phrase} ");
    let mut facts = Vec::new();
    for (at, _) in sentence.match_indices(&spaced) {
        let before = sentence.get(..at).and_then(last_name);
        let after = sentence.get(at + spaced.len()..).and_then(first_name);
        let (Some(before), Some(after)) = (before, after) else { continue };
        let (source, target) = if *reversed { (after, before) } else { (before, after) };
        let entity = |name: String| NewEntity { name, ..NewEntity::default() };
        facts.push(NewTriplet {
            source: entity(source),
            relationship: (*relationship).to_owned(),
            target: entity(target),
            ..NewTriplet::default()
        });
    }
    facts
}

/// The name at the end of a text.
fn last_name(text: &str) -> Option<String> {
    let text = text.trim_end();
    if let Some(inside) = text.strip_suffix('`') {
        return quoted(inside.rsplit('`').next()?);
    }
    name_of_code(text.split_whitespace().next_back()?)
}

/// The name at the start of a text.
fn first_name(text: &str) -> Option<String> {
    let text = text.trim_start();
    let text = ["the ", "a ", "an "].iter().find_map(|article| text.strip_prefix(article)).unwrap_or(text);
    if let Some(inside) = text.strip_prefix('`') {
        return quoted(inside.split('`').next()?);
    }
    name_of_code(text.split_whitespace().next()?)
}

fn quoted(name: &str) -> Option<String> {
    let fits = !name.trim().is_empty() && name.chars().count() <= 100;
    fits.then(|| name.trim().to_owned())
}

/// A word, if it clearly is a name of code: a path, a symbol, a file or a ticket.
fn name_of_code(word: &str) -> Option<String> {
    let word = word.trim_matches(|letter: char| matches!(letter, ',' | '.' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '\''));
    let has_inner = |mark: &str| word.trim_matches('/').find(mark).is_some_and(|at| at > 0);
    let letters: Vec<char> = word.chars().collect();
    let camel = letters.windows(2).any(|pair| matches!(pair, [first, second] if first.is_lowercase() && second.is_uppercase()));
    let ticket = word.split_once('-').is_some_and(|(project, number)| {
        project.len() >= 2
            && project.chars().all(|letter| letter.is_ascii_uppercase())
            && !number.is_empty()
            && number.chars().all(|digit| digit.is_ascii_digit())
    });
    let is_name = ["::", "/", "_"].iter().any(|mark| has_inner(mark)) || is_file(word) || camel || ticket;
    (is_name && letters.len() <= 100 && !word.contains("://")).then(|| word.to_owned())
}

/// A word with a dot and a short lower-case extension.
fn is_file(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=4).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(note: &str) -> Vec<String> {
        facts_in(note).iter().map(|fact| format!("{} {} {}", fact.source.name, fact.relationship, fact.target.name)).collect()
    }

    #[test]
    fn explicit_facts_are_found() {
        for (note, expected) in [
            ("`checkout` depends on `redis` for its carts.", vec!["checkout depends_on redis"]),
            ("src/pricing.rs uses money::round_half_even everywhere", vec!["src/pricing.rs uses money::round_half_even"]),
            ("The old LegacyCart was replaced by the CartStore.", vec!["LegacyCart replaced_by CartStore"]),
            ("`billing team` owns `invoice-service`", vec!["invoice-service owned_by billing team"]),
            ("parse_header is called by http::serve.", vec!["http::serve calls parse_header"]),
            ("The leak of WH-2231 is fixed in src/pool.rs! `a.b` uses `c`", vec!["WH-2231 fixed_in src/pool.rs", "a.b uses c"]),
        ] {
            assert_eq!(facts(note), expected, "{note}");
        }
    }

    #[test]
    fn prose_denials_and_doubts_state_nothing() {
        for note in [
            "everyone uses coffee",
            "the team depends on luck and uses the office",
            "`a` does not depend on `b`. `a` never calls `b`.",
            "does `a` use `b`? maybe `a` uses `b`?",
            "`a` should use `b`; if `a` uses `b`, it fails",
            "see https://example.org/a uses https://example.org/b",
            "",
            "`` uses ``",
        ] {
            assert_eq!(facts(note), Vec::<String>::new(), "{note}");
        }
    }

    #[test]
    fn the_number_of_facts_is_limited_and_repeats_count_once() {
        let many: String = (0..50).map(|n| format!("`a` uses `b{n}`.\n")).collect();
        assert_eq!(facts(&many).len(), OBSERVATION_FACTS_MAX);
        assert_eq!(facts("`a` uses `b`. `a` uses `b`.").len(), 1);
    }
}
