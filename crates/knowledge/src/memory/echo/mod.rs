//! Recognises text that a session was given by recall and sends back: one observation or several, in any order and between
//! other separators, the readable answer or a part of it, or its JSON.
//!
//! A text is an echo if it consists of sentences and lines that the session was given and of words that only frame them. A
//! correction, a conclusion or a new combination of words is not, and is stored.
//!
//! | module | purpose |
//! |---|---|
//! | `tokens` | words, numbers and symbols of a text |
//! | `known` | what the session was given |
//! | `cover` | whether a text consists of it |
//! | `lists` | words that frame, and words that limit |
//! | `json` | the strings of JSON, also of a part of it |

mod cover;
mod json;
mod known;
mod lists;
mod tokens;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use base::ObservationId;

use super::{Observation, text};
use cover::{Blocks, Cuts};
use known::Known;
use tokens::Tokens;

pub(super) use lists::is_limiting;
pub use tokens::NUMBER;

/// How the answers of recall show observations, so that they are recognised when they come back. [`NUMBER`] stands for any
/// number.
pub struct Shown {
    /// The lines around the observations.
    pub phrases: Vec<String>,
    /// The keys of the payload.
    pub keys: &'static [&'static str],
    /// Ids, names and times of the payload, besides those of the observations.
    pub values: Vec<String>,
    /// Lines about facts, and the observations that stated them.
    pub facts: Vec<(String, Option<ObservationId>)>,
    /// The line above an observation, in all its forms.
    pub heading: fn(&Observation) -> Vec<String>,
}

/// An observation that the session was given, and its digest, which stays when the observation is forgotten.
pub(super) struct Given {
    pub(super) observation: Observation,
    pub(super) hash: String,
}

/// The observation that `sent` repeats, if it adds nothing to what the session was given. Recent ones come first in `given`.
pub(super) fn find(sent: &str, given: &[Given], shown: Option<&Shown>) -> Option<ObservationId> {
    let mut ids: Vec<ObservationId> = given.iter().map(|given| given.observation.id).collect();
    let known = known(given, shown, &mut ids);
    let hashes: HashMap<&str, usize> = given.iter().enumerate().map(|(place, given)| (given.hash.as_str(), place)).collect();
    let whole = || {
        let tokens = Tokens::of(sent);
        let blocks = blocks(sent, &tokens, &hashes);
        let reach = cover::cover(&known, &tokens, &blocks, Cuts { start: true, end: true })?;
        reach.is_recognised().then_some(reach.given?)
    };
    let found = in_json(sent, &known, &hashes, shown).or_else(whole)?;
    ids.get(found).copied()
}

fn known(given: &[Given], shown: Option<&Shown>, ids: &mut Vec<ObservationId>) -> Known {
    let mut known = Known::default();
    for (place, Given { observation, .. }) in given.iter().enumerate() {
        known.add_text(place, &observation.content);
        let created_at = observation.created_at.to_string();
        let day = created_at.get(..10).unwrap_or_default();
        let id = observation.id.to_string();
        for value in [id.as_str(), &observation.kind, &observation.agent, &observation.session, &created_at, day] {
            known.add_value(Some(place), value);
        }
        for heading in shown.map(|shown| (shown.heading)(observation)).into_iter().flatten() {
            known.add_phrase(Some(place), &heading);
        }
    }
    if let Some(shown) = shown {
        shown.phrases.iter().for_each(|phrase| known.add_phrase(None, phrase));
        shown.values.iter().for_each(|value| known.add_value(None, value));
        for (line, observation) in &shown.facts {
            let place = observation.map(|id| {
                ids.push(id);
                ids.len() - 1
            });
            known.add_phrase(place, line);
        }
    }
    known
}

/// Lines, and quoted lines together, whose digest the session was given. This recognises observations that were forgotten
/// meanwhile.
fn blocks(sent: &str, tokens: &Tokens, hashes: &HashMap<&str, usize>) -> Blocks {
    let mut blocks = Blocks::new();
    let mut add = |text: &str, start: usize, end: usize| {
        if let Some(given) = hashes.get(text::hash_of(text.trim()).as_str())
            && let Some(places) = tokens.within(start, end)
        {
            blocks.push((places.start, places.end, *given));
        }
    };
    let (mut start, mut quoted, mut quoted_from) = (0, String::new(), 0);
    for line in sent.split_inclusive('\n') {
        let end = start + line.len();
        match line.strip_prefix("> ").or_else(|| line.strip_prefix('>')) {
            Some(text) => {
                quoted_from = if quoted.is_empty() { start } else { quoted_from };
                quoted.push_str(text);
                if !line.ends_with('\n') || !sent.get(end..).is_some_and(|rest| rest.starts_with('>')) {
                    add(&quoted, quoted_from, end);
                    quoted.clear();
                }
            }
            None => add(line.trim_start().trim_start_matches(['-', '*', '•', '+']), start, end),
        }
        start = end;
    }
    blocks
}

/// The same for JSON, with or without words around it: every string must be known.
fn in_json(sent: &str, known: &Known, hashes: &HashMap<&str, usize>, shown: Option<&Shown>) -> Option<usize> {
    let shown = shown.filter(|_| sent.contains('"'))?;
    let is_bracket = |letter: char| matches!(letter, '{' | '}' | '[' | ']');
    let (first, last) = (sent.find(['{', '[']).unwrap_or(0), sent.rfind(is_bracket).map_or(sent.len(), |last| last + 1));
    let parts = [(0, sent.len()), (first, last), (first, sent.len())];
    let (from, to, strings) =
        parts.into_iter().find_map(|(from, to)| Some((from, to, json::strings(sent.get(from..to)?, shown.keys)?)))?;
    let mut found = None;
    let nowhere = Cuts { start: false, end: false };
    for around in [sent.get(..from)?, sent.get(to..)?] {
        cover::cover(known, &Tokens::of(around), &Blocks::new(), nowhere)?;
    }
    for piece in &strings.values {
        let text = text::normalised(&piece.text);
        let cuts = Cuts { start: piece.is_cut_at_start, end: piece.is_cut_at_end };
        let given = match hashes.get(text::hash_of(&text).as_str()) {
            Some(given) => Some(*given),
            None if known.has_value(&text, cuts) => None,
            None => cover::cover(known, &Tokens::of(&text), &Blocks::new(), cuts)?.given,
        };
        found = found.or(given);
    }
    found
}
