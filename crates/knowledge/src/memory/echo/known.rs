//! What a session was given: the texts, and how our answers showed them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::cover::Cuts;
use super::lists::LIMITING;
use super::tokens::{Kind, Tokens};

static LIMITING_HASHES: LazyLock<HashSet<u64>> = LazyLock::new(|| {
    let hashes = LIMITING.iter().filter_map(|word| Tokens::of(word).hash(0));
    hashes.collect()
});

/// Candidates that start with the same two tokens. Recent texts come first.
const CANDIDATES_MAX: usize = 64;

/// One text that the session was given.
pub(super) struct Source {
    pub(super) given: usize,
    pub(super) tokens: Tokens,
    /// Places of the words that limit or deny something.
    limiting: Vec<usize>,
}

impl Source {
    /// Whether a part of the text limits or denies something.
    pub(super) fn limits(&self, part: Range<usize>) -> bool {
        let first = self.limiting.partition_point(|place| *place < part.start);
        self.limiting.get(first).is_some_and(|place| *place < part.end)
    }
}

/// A line of our answers around the texts.
pub(super) struct Phrase {
    /// The observation that it is about.
    pub(super) given: Option<usize>,
    pub(super) tokens: Tokens,
}

/// A place in a source.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) source: usize,
    pub(super) at: usize,
}

/// Everything that a session was given, indexed.
#[derive(Default)]
pub(super) struct Known {
    pub(super) sources: Vec<Source>,
    pub(super) phrases: Vec<Phrase>,
    /// Ids, authors, types and times. They say nothing by themselves.
    pub(super) values: Vec<Phrase>,
    whole_values: HashSet<String>,
    /// Starts of sentences by their first two tokens.
    starts: HashMap<(u64, u64), Vec<Place>>,
    /// Phrases by their first token, or by none if that is a number.
    phrases_by_first: HashMap<Option<u64>, Vec<usize>>,
    values_by_first: HashMap<Option<u64>, Vec<usize>>,
}

impl Known {
    /// Adds a text. Add recent ones first.
    pub(super) fn add_text(&mut self, given: usize, text: &str) {
        let (source, tokens) = (self.sources.len(), Tokens::of(text));
        for at in (0..tokens.len()).filter(|at| tokens.is_edge(*at)) {
            if let Some(first) = tokens.hash(at) {
                let places = self.starts.entry((first, tokens.hash(at + 1).unwrap_or(0))).or_default();
                if places.len() < CANDIDATES_MAX {
                    places.push(Place { source, at });
                }
            }
        }
        let limiting = (0..tokens.len()).filter(|place| tokens.hash(*place).is_some_and(|hash| LIMITING_HASHES.contains(&hash)));
        let limiting = limiting.collect();
        self.sources.push(Source { given, tokens, limiting });
    }

    /// Adds a line of our answers, as a template.
    pub(super) fn add_phrase(&mut self, given: Option<usize>, template: &str) {
        add(&mut self.phrases, &mut self.phrases_by_first, Phrase { given, tokens: Tokens::of_template(template) });
    }

    /// Adds an id, an author, a type or a time.
    pub(super) fn add_value(&mut self, given: Option<usize>, value: &str) {
        self.whole_values.insert(value.to_owned());
        add(&mut self.values, &mut self.values_by_first, Phrase { given, tokens: Tokens::of(value) });
    }

    /// Whether one of the values is this text, or has it at an end.
    pub(super) fn has_value(&self, text: &str, cuts: Cuts) -> bool {
        let is_part = |value: &String| (cuts.start && value.ends_with(text)) || (cuts.end && value.starts_with(text));
        self.whole_values.contains(text) || ((cuts.start || cuts.end) && self.whole_values.iter().any(is_part))
    }

    /// Sentences that may start like `sent` at this place.
    pub(super) fn starting_at(&self, sent: &Tokens, at: usize) -> impl Iterator<Item = Place> {
        let first = sent.hash(at).unwrap_or(0);
        // One token may be a whole text.
        let [pair, single] =
            [sent.hash(at + 1), Some(0)].map(|second| second.and_then(|second| self.starts.get(&(first, second))));
        pair.into_iter().chain(single.filter(|_| sent.hash(at + 1) != Some(0))).flatten().copied()
    }

    /// All sentences that start with a token. This looks at every text.
    pub(super) fn starting_with(&self, first: Option<u64>) -> Vec<Place> {
        let places = self.sources.iter().enumerate().flat_map(|(source, Source { tokens, .. })| {
            let starts = (0..tokens.len()).filter(move |at| tokens.is_edge(*at) && tokens.hash(*at) == first);
            starts.map(move |at| Place { source, at })
        });
        places.take(CANDIDATES_MAX).collect()
    }

    pub(super) fn phrases_at(&self, sent: &Tokens, at: usize) -> impl Iterator<Item = &Phrase> {
        among(&self.phrases, &self.phrases_by_first, sent.hash(at))
    }

    pub(super) fn values_at(&self, sent: &Tokens, at: usize) -> impl Iterator<Item = &Phrase> {
        among(&self.values, &self.values_by_first, sent.hash(at))
    }
}

fn add(phrases: &mut Vec<Phrase>, by_first: &mut HashMap<Option<u64>, Vec<usize>>, phrase: Phrase) {
    if let Some(first) = phrase.tokens.get(0) {
        let first = (first.kind != Kind::AnyNumber).then_some(first.hash());
        by_first.entry(first).or_default().push(phrases.len());
        phrases.push(phrase);
    }
}

fn among<'a>(
    phrases: &'a [Phrase],
    by_first: &'a HashMap<Option<u64>, Vec<usize>>,
    first: Option<u64>,
) -> impl Iterator<Item = &'a Phrase> {
    let places = [first, None].map(|first| by_first.get(&first).map_or(&[][..], Vec::as_slice));
    places.into_iter().flatten().filter_map(|place| phrases.get(*place))
}
