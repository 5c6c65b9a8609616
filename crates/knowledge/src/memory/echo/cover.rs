//! Decides whether a text consists of nothing but what a session was given: whole sentences and lines of it, our own words
//! around them, and a few words that only frame a list.
//!
//! The search goes forward over the tokens of the text. A place is reached if everything before it is covered. The work is
//! bounded: a text that needs too many steps counts as new.

use super::known::{Known, Phrase, Place};
use super::lists::{FRAMING, JOINING};
use super::tokens::{Kind, Tokens};

/// The maximum number of comparisons of tokens.
const STEPS_MAX: usize = 2_000_000;
/// The maximum number of words between two covered parts.
const GAP_MAX: u8 = 12;
/// Shorter parts must stand between punctuation or line breaks.
const LOOSE_MIN: usize = 3;
/// A sentence or two of a longer text must have this many tokens to be recognised without any of our own words.
const COVERED_MIN: usize = 6;
/// The same for a part that begins or ends inside a sentence.
const CUT_MIN: usize = 8;

/// How everything before a place is covered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reach {
    /// The first observation that the text repeats.
    pub(super) given: Option<usize>,
    /// Whether it has a line of our own answers.
    framed: bool,
    /// Whether it has a whole text.
    whole: bool,
    /// The number of tokens from given texts.
    covered: usize,
    /// Whether it begins or ends inside a sentence.
    cut: bool,
    /// Whether a word that is missing there may change the meaning.
    limited: bool,
    /// Framing words since the last covered part.
    gap: u8,
    /// Whether those need punctuation before the next part.
    open: bool,
}

impl Reach {
    /// Whether the text is more than a few words that anyone might write.
    pub(super) fn is_recognised(&self) -> bool {
        let least = if self.cut { CUT_MIN } else { COVERED_MIN };
        self.given.is_some() && (self.framed || (!self.limited && (self.whole || self.covered >= least)))
    }

    fn rank(&self) -> (bool, bool, bool, bool, usize) {
        (!self.open, self.framed, !self.limited, self.whole, self.covered)
    }

    fn about(self, given: Option<usize>) -> Self {
        Self { given: self.given.or(given), gap: 0, open: false, ..self }
    }
}

/// Which ends of a text may lie inside a sentence or a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    pub(super) start: bool,
    pub(super) end: bool,
}

/// Whole texts that are known only by their digest: where they start and end, and which they are. They are in order.
pub(super) type Blocks = Vec<(usize, usize, usize)>;

/// How `sent` is covered, if it is.
pub(super) fn cover(known: &Known, sent: &Tokens, blocks: &Blocks, cuts: Cuts) -> Option<Reach> {
    let mut search = Search { known, sent, cuts, steps: 0, reached: vec![None; sent.len() + 1], furthest: 0 };
    search.reach(0, Reach::default());
    for at in 0..sent.len() {
        if at > search.furthest || search.steps > STEPS_MAX {
            return None;
        }
        if let Some(Some(reach)) = search.reached.get(at).copied() {
            search.go_on(at, reach, blocks);
        }
    }
    search.reached.pop().flatten()
}

struct Search<'a> {
    known: &'a Known,
    sent: &'a Tokens,
    cuts: Cuts,
    steps: usize,
    reached: Vec<Option<Reach>>,
    furthest: usize,
}

impl Search<'_> {
    fn reach(&mut self, at: usize, reach: Reach) {
        if let Some(place) = self.reached.get_mut(at)
            && place.is_none_or(|other| other.rank() < reach.rank())
        {
            *place = Some(reach);
            self.furthest = self.furthest.max(at);
        }
    }

    fn go_on(&mut self, at: usize, reach: Reach, blocks: &Blocks) {
        self.frame(at, reach);
        if reach.open && !self.sent.is_break(at) {
            return;
        }
        let known = self.known;
        let first = blocks.partition_point(|(start, ..)| *start < at);
        for (_, end, given) in blocks.iter().skip(first).take_while(|(start, ..)| *start == at) {
            self.reach(*end, Reach { whole: true, covered: reach.covered + (end - at), ..reach.about(Some(*given)) });
        }
        for phrase in known.phrases_at(self.sent, at) {
            if let Some(end) = self.phrase(at, phrase, 0) {
                self.reach_by_phrase(at, end, phrase, reach);
            }
        }
        for value in known.values_at(self.sent, at) {
            let end = at + value.tokens.len();
            if self.phrase(at, value, 0) == Some(end) && self.sent.is_break(at) && self.sent.is_break(end) {
                self.reach(end, reach.about(value.given));
            }
        }
        for place in known.starting_at(self.sent, at) {
            self.run(at, place, reach, 0);
        }
        if at == 0 && self.cuts.start {
            self.begin_inside(reach);
        }
        if at + 1 == self.sent.len() && self.cuts.end {
            self.end_inside(at, reach);
        }
        if at + 2 == self.sent.len() && self.cuts.end {
            // The index of sentences needs two whole words.
            for place in known.starting_with(self.sent.hash(at)) {
                self.run(at, place, reach, 0);
            }
        }
    }

    fn reach_by_phrase(&mut self, at: usize, end: usize, phrase: &Phrase, reach: Reach) {
        // A word or two of a line that is cut are not enough to know it by.
        let is_enough = end - at >= LOOSE_MIN;
        let (framed, limited) = (reach.framed || is_enough, reach.limited || !is_enough);
        self.reach(end, Reach { framed, limited, ..reach.about(phrase.given.filter(|_| is_enough)) });
    }

    /// The last word is the beginning of a sentence or of one of our own lines. It is known only by what stands before.
    fn end_inside(&mut self, at: usize, reach: Reach) {
        let (known, word) = (self.known, self.sent.word(at));
        let texts = known.sources.iter().map(|source| &source.tokens);
        let first_words =
            texts.flat_map(|tokens| (0..tokens.len()).filter(|place| tokens.is_edge(*place)).map(|place| tokens.word(place)));
        let mut first_words = known.phrases.iter().map(|phrase| phrase.tokens.word(0)).chain(first_words);
        if first_words.any(|first| first.starts_with(&word)) {
            self.reach(at + 1, Reach { cut: true, limited: true, ..reach });
        }
    }

    /// A word that frames, a number of a list, or a separator.
    fn frame(&mut self, at: usize, reach: Reach) {
        let Some(token) = self.sent.get(at) else { return };
        let word = self.sent.word(at);
        let joins =
            JOINING.contains(&word.as_str()) || (token.is_list_number() && at + 1 < self.sent.len()) || token.is_separator(&word);
        let frames = FRAMING.binary_search(&word.as_str()).is_ok() && (reach.gap > 0 || self.sent.is_break(at));
        if (joins || frames) && reach.gap < GAP_MAX {
            self.reach(at + 1, Reach { gap: reach.gap + 1, open: reach.open || !joins, ..reach });
        }
    }

    /// The end of a phrase from one of its tokens on. It may be cut at the end of the text.
    fn phrase(&mut self, at: usize, phrase: &Phrase, from: usize) -> Option<usize> {
        let mut at = at;
        for place in from..phrase.tokens.len() {
            self.steps += 1;
            let Some(token) = self.sent.get(at) else {
                return (self.cuts.end && place > from).then_some(at);
            };
            let wanted = phrase.tokens.get(place)?;
            if wanted.kind == Kind::AnyNumber {
                at += usize::from(token.kind == Kind::Symbol && self.sent.word(at) == "-");
                let is_number = self.sent.get(at).is_none_or(|token| token.kind == Kind::Number);
                at = if is_number { at + 1 } else { return None };
            } else if token.hash() == wanted.hash() || self.is_cut_off(at, &phrase.tokens, place) {
                at += 1;
            } else {
                return None;
            }
        }
        Some(at.min(self.sent.len()))
    }

    /// Whether the last word of the text is the beginning of a known one.
    fn is_cut_off(&self, at: usize, known: &Tokens, place: usize) -> bool {
        self.cuts.end && at > 0 && at + 1 == self.sent.len() && known.word(place).starts_with(&self.sent.word(at))
    }

    /// Follows a text from a place on, and reaches every end of a sentence. `dropped` is the number of tokens of the sentence
    /// that are missing before the place.
    fn run(&mut self, at: usize, place: Place, reach: Reach, dropped: usize) {
        let Some(source) = self.known.sources.get(place.source) else { return };
        let tokens = &source.tokens;
        let limited = reach.limited || source.limits(place.at - dropped..place.at);
        let reach = Reach { cut: reach.cut || dropped > 0, limited, ..reach.about(Some(source.given)) };
        let mut length = 0;
        let is_cut_off = loop {
            let (end, known) = (at + length, place.at + length);
            if length > 0 && tokens.is_edge(known) {
                let is_apart = self.sent.is_break(at) && self.sent.is_break(end);
                if length >= LOOSE_MIN || is_apart || dropped > 0 {
                    let whole = reach.whole || (place.at == 0 && known == tokens.len());
                    self.reach(end, Reach { whole, covered: reach.covered + length, ..reach });
                }
            }
            self.steps += 1;
            let is_equal = self.sent.hash(end).is_some_and(|hash| Some(hash) == tokens.hash(known));
            let is_cut_off = !is_equal && known < tokens.len() && self.is_cut_off(end, tokens, known);
            if is_equal || is_cut_off {
                length += 1;
            }
            if !is_equal || self.steps > STEPS_MAX {
                break is_cut_off;
            }
        };
        let (end, known) = (at + length, place.at + length);
        if length > 0 && end == self.sent.len() && self.cuts.end && (is_cut_off || !tokens.is_edge(known)) {
            let until = (known..tokens.len()).find(|place| tokens.is_edge(*place)).unwrap_or(tokens.len());
            // A word that was cut may be one that limits.
            let limited = reach.limited || source.limits(known - usize::from(is_cut_off)..until);
            self.reach(end, Reach { cut: true, limited, covered: reach.covered + length, ..reach });
        }
    }

    /// Starts inside a sentence or inside one of our own lines, perhaps inside a word.
    fn begin_inside(&mut self, reach: Reach) {
        let known = self.known;
        for (number, source) in known.sources.iter().enumerate() {
            let mut sentence = 0;
            for at in 0..source.tokens.len() {
                self.steps += 1;
                if self.steps > STEPS_MAX {
                    return;
                }
                if source.tokens.is_edge(at) {
                    sentence = at;
                }
                match self.begins(&source.tokens, at) {
                    Begin::With if at > sentence => self.run(0, Place { source: number, at }, reach, at - sentence),
                    // The end of a last word is known only by what follows.
                    Begin::Inside if source.tokens.is_edge(at + 1) => self.reach(1, Reach { cut: true, limited: true, ..reach }),
                    Begin::Inside => self.run(1, Place { source: number, at: at + 1 }, reach, at + 1 - sentence),
                    _ => {}
                }
            }
        }
        for phrase in &known.phrases {
            for place in 0..phrase.tokens.len() {
                let end = match self.begins(&phrase.tokens, place) {
                    Begin::With => self.phrase(0, phrase, place),
                    Begin::Inside => self.phrase(1, phrase, place + 1),
                    Begin::Not => None,
                };
                if let Some(end) = end {
                    self.reach_by_phrase(0, end, phrase, Reach { cut: true, ..reach });
                }
            }
        }
    }

    /// Whether the text begins with this token, or with the end of it.
    fn begins(&self, known: &Tokens, at: usize) -> Begin {
        let is_number = known.get(at).is_some_and(|token| token.kind == Kind::AnyNumber);
        if self.sent.hash(0) == known.hash(at) || (is_number && self.sent.get(0).is_some_and(|token| token.kind == Kind::Number))
        {
            return Begin::With;
        }
        // Compared as words only if the next token fits, because that is rare.
        let next = known.get(at + 1);
        let is_number = next.is_some_and(|next| next.kind == Kind::AnyNumber);
        let fits = known.is_edge(at + 1)
            || is_number
            || self.sent.hash(1).is_some_and(|hash| next.is_some_and(|next| hash == next.hash()));
        if fits && known.word(at).ends_with(&self.sent.word(0)) { Begin::Inside } else { Begin::Not }
    }
}

enum Begin {
    With,
    Inside,
    Not,
}
