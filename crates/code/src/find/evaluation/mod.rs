//! Measures the ranking on questions with known answers, with the same code that answers agents.
//!
//! Two kinds of questions need no person to write them: doc comments, which must find their functions, and subjects of commits, which
//! must find the changed files. Weights are chosen on one half of the questions and reported on the other.
//!
//! What comes from outside of the passages is not measured: the graph, imports and times.

mod documented;
mod files;
mod history;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use base::{Result, Timestamp};
use search::background::Questions;
use search::embed::Embedder;
use search::evaluate::{recall_at, reciprocal_rank};
use serde::Serialize;

use super::finder::{Finder, FinderConfig};
use super::passage::{Passage, PassageSink};
use super::query::FindOptions;
use super::rank::{CodeWeights, SearchTypes, Surroundings};

/// The order of the questions depends on this number, and with it the choice of some of them and the halves.
const SEED: u64 = 0x5eed;

/// A tree of files and questions about it.
#[derive(Debug)]
pub struct EvaluationSet {
    /// Paths and passages.
    files: Vec<(String, Vec<Passage>)>,
    questions: Vec<EvaluationQuestion>,
    unit: Unit,
}

/// What an answer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// A file by its path.
    File,
    /// A symbol: `path#symbol`.
    Symbol,
}

/// A question and its answers, as the unit names them.
#[derive(Clone, Debug)]
struct EvaluationQuestion {
    text: String,
    relevant: HashSet<String>,
}

/// A half of the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The questions that may choose weights.
    Tune,
    /// The others.
    Report,
}

impl EvaluationSet {
    /// Reads the source files of a folder. Doc comments ask for their functions, and are removed from what is searched.
    pub fn documented(folder: &Path) -> Result<Self> {
        Ok(documented::documented(files::read(folder)?).shuffled())
    }

    /// Reads a git repository. Subjects of commits ask for the files that they changed, in the tree of the commit that is checked out.
    pub fn changed(folder: &Path) -> Result<Self> {
        Ok(history::read(folder)?.shuffled())
    }

    /// Keeps at most `count` questions, chosen by chance but always the same.
    pub fn choose(&mut self, count: usize) {
        self.questions.truncate(count);
    }

    /// Keeps one half of the questions. Choose the number of questions before.
    pub fn only(&mut self, half: Half) {
        let mut number = 0_usize;
        self.questions.retain(|_| {
            number += 1;
            (number % 2 == 1) == (half == Half::Tune)
        });
    }

    /// The number of questions.
    pub fn questions(&self) -> usize {
        self.questions.len()
    }

    fn shuffled(mut self) -> Self {
        shuffle(&mut self.questions, SEED);
        self
    }
}

fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed.max(1);
    for last in (1..items.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        items.swap(last, (state % (last as u64 + 1)) as usize);
    }
}

/// Quality as means over questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// The number of questions.
    pub questions: usize,
    /// One divided by the position of the first answer.
    pub mean_reciprocal_rank: f64,
    /// The share of the answers that the first hit is.
    pub recall_at_1: f64,
    /// The share of the answers among the first ten hits.
    pub recall_at_10: f64,
}

/// The results of a set.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The number of files that were searched.
    pub files: usize,
    /// The number of passages in them.
    pub passages: usize,
    /// By search: `keyword`, `vector`, `fused`.
    pub modes: BTreeMap<&'static str, Figures>,
}

/// A set in a search index, with all vectors.
pub struct Evaluation {
    finder: Finder,
    questions: Vec<EvaluationQuestion>,
    unit: Unit,
    files: usize,
}

impl Evaluation {
    /// Indexes a set and makes all vectors, which can take minutes. `progress` gets the number of passages with a vector and the number
    /// of all. Call it where blocking is allowed.
    pub fn prepare(set: EvaluationSet, embedder: Arc<dyn Embedder>, mut progress: impl FnMut(usize, usize)) -> Result<Self> {
        let config = FinderConfig { folder: None, embedder, pack: None, questions: Arc::new(Questions::default()) };
        let finder = Finder::open(config)?;
        let files = set.files.len();
        for (file, (path, passages)) in (0..).zip(set.files) {
            finder.put_file(file, &path, passages);
        }
        while finder.embed_some()? > 0 {
            let coverage = finder.coverage();
            progress(coverage.embedded, coverage.passages);
        }
        Ok(Self { finder, questions: set.questions, unit: set.unit, files })
    }

    /// The quality of each search. Call it where blocking is allowed.
    pub fn report(&self) -> Result<Report> {
        let none =
            CodeWeights { keyword: 0.0, vector: 0.0, identifier: 0.0, sibling: 0.0, graph: 0.0, dependency: 0.0, temporal: 0.0 };
        let modes = [
            ("keyword", CodeWeights { keyword: 1.0, ..none }),
            ("vector", CodeWeights { vector: 1.0, ..none }),
            ("fused", CodeWeights::default()),
        ];
        let modes = modes.into_iter().map(|(name, weights)| Ok((name, self.measure(&weights)?))).collect::<Result<_>>()?;
        Ok(Report { files: self.files, passages: self.finder.coverage().passages, modes })
    }

    /// The quality with some weights.
    fn measure(&self, weights: &CodeWeights) -> Result<Figures> {
        let mut figures = Figures { questions: self.questions.len(), ..Figures::default() };
        for question in &self.questions {
            let ranking = self.ranking(&question.text, weights)?;
            figures.mean_reciprocal_rank += reciprocal_rank(&ranking, &question.relevant);
            figures.recall_at_1 += recall_at(&ranking, &question.relevant, 1);
            figures.recall_at_10 += recall_at(&ranking, &question.relevant, 10);
        }
        let count = self.questions.len().max(1) as f64;
        figures.mean_reciprocal_rank /= count;
        figures.recall_at_1 /= count;
        figures.recall_at_10 /= count;
        Ok(figures)
    }

    /// What a query finds, as the unit names it, without repeats.
    fn ranking(&self, query: &str, weights: &CodeWeights) -> Result<Vec<String>> {
        let types = SearchTypes { semantic: weights.vector > 0.0, graph: false, dependency: false, temporal: false };
        let options = FindOptions {
            types,
            semantic_threshold: 0.0,
            changed_within: None,
            accept: None,
            around: Surroundings::none(),
            offset: 0,
            limit: usize::MAX,
            now: Timestamp::from_ms(0),
            weights: *weights,
        };
        let vector = if types.semantic { self.finder.query_vector(query)? } else { None };
        let state = self.finder.state();
        let ranked = self.finder.rank_accepted(&state, query, vector.as_ref(), &options)?;
        let mut seen = HashSet::new();
        let names = ranked.iter().filter(|one| one.signals.sum() > 0.0).filter_map(|one| {
            let path = &state.catalogue.file(one.file)?.path;
            match (self.unit, &state.catalogue.entry(one.id)?.symbol) {
                (Unit::File, _) => Some(path.to_string()),
                (Unit::Symbol, Some(symbol)) => Some(format!("{path}#{symbol}")),
                (Unit::Symbol, None) => None,
            }
        });
        Ok(names.filter(|name| seen.insert(name.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Words, passage};
    use super::*;

    #[test]
    fn figures_say_what_was_found() {
        let file = |path: &str, symbol: &str, text: &str| (path.to_owned(), vec![passage(text, Some(symbol))]);
        let set = |asked: &[(&str, &str)]| EvaluationSet {
            files: vec![
                file("a.py", "drop", "delete old rows"),
                file("b.py", "listen", "open a socket"),
                file("c.py", "noise", "cheese and wood"),
            ],
            questions: asked
                .iter()
                .map(|(text, answer)| EvaluationQuestion {
                    text: (*text).to_owned(),
                    relevant: HashSet::from([(*answer).to_owned()]),
                })
                .collect(),
            unit: Unit::Symbol,
        };
        let report = |asked: &[(&str, &str)]| {
            let mut seen = 0;
            let prepared = Evaluation::prepare(set(asked), Arc::new(Words::default()), |embedded, _| seen = embedded).unwrap();
            assert_eq!(seen, 3);
            prepared.report().unwrap()
        };
        let hard = report(&[("erase", "a.py#drop"), ("wood", "a.py#drop")]);
        assert_eq!((hard.files, hard.passages, hard.modes["fused"].questions), (3, 3, 2));
        assert_eq!(hard.modes["keyword"].mean_reciprocal_rank, 0.0, "no word of either question leads to its answer");
        assert!(hard.modes["vector"].recall_at_1 >= 0.5 && hard.modes["fused"].recall_at_1 >= 0.5);
        let easy = report(&[("socket", "b.py#listen")]);
        assert_eq!((easy.modes["keyword"].recall_at_1, easy.modes["fused"].recall_at_10), (1.0, 1.0));
    }

    #[test]
    fn the_choice_and_the_halves_are_always_the_same() {
        let order = |seed: u64| {
            let mut items: Vec<u32> = (0..50).collect();
            shuffle(&mut items, seed);
            items
        };
        assert!(order(1) == order(1) && order(1) != order(2));
        let mut sorted = order(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        let half = |half: Half| {
            let question = |number: usize| EvaluationQuestion { text: number.to_string(), relevant: HashSet::new() };
            let questions = (0..9).map(question).collect();
            let mut set = EvaluationSet { files: Vec::new(), questions, unit: Unit::File }.shuffled();
            set.choose(7);
            set.only(half);
            set.questions.into_iter().map(|question| question.text).collect::<HashSet<_>>()
        };
        let (tune, report) = (half(Half::Tune), half(Half::Report));
        assert!((tune.len(), report.len()) == (4, 3) && tune.is_disjoint(&report));
        assert_eq!(tune, half(Half::Tune));
    }
}
