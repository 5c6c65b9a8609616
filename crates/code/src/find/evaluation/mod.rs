//! Measures the ranking on questions with known answers, with the same code that answers agents.
//!
//! Two kinds of questions need no person to write them: doc comments, which must find their functions, and messages of changes, which
//! must find the changed files. Weights are chosen on the questions with even numbers and reported on the others.

mod documented;
mod history;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use base::{Result, Timestamp};
use search::background::Questions;
use search::embed::Embedder;
use search::evaluate::{recall_at, reciprocal_rank};
use serde::Serialize;

use super::finder::{Finder, FinderConfig};
use super::pack::VectorPack;
use super::passage::{Passage, PassageSink};
use super::query::FindOptions;
use super::rank::{CodeWeights, SearchTypes, Surroundings};

pub(crate) use documented::{documented, passages_of};
pub(crate) use history::{RecordedChange, changed};

/// A tree of files and questions about it.
pub(crate) struct EvaluationSet {
    /// Paths and passages.
    pub(crate) files: Vec<(String, Vec<Passage>)>,
    /// What is asked.
    pub(crate) questions: Vec<EvaluationQuestion>,
    /// What an answer names.
    pub(crate) unit: Unit,
    /// For each file, the places of the files that import it or that it imports. Empty if that is not known.
    pub(crate) links: Vec<Vec<u32>>,
}

/// What an answer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A file by its path.
    File,
    /// A symbol: `path#symbol`.
    Symbol,
}

/// A question and its answers.
#[derive(Clone, Debug)]
pub(crate) struct EvaluationQuestion {
    /// The query.
    pub(crate) text: String,
    /// The answers, as the unit names them.
    pub(crate) relevant: HashSet<String>,
}

/// Quality as means over questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct CodeFigures {
    /// The number of questions.
    pub(crate) questions: usize,
    /// One divided by the position of the first answer.
    pub(crate) mean_reciprocal_rank: f64,
    /// The share of questions whose first hit is an answer.
    pub(crate) first: f64,
    /// The share of the answers among the first ten.
    pub(crate) recall_at_10: f64,
}

/// Figures by search: `keyword`, `vector`, `fused`.
pub(crate) type Modes = BTreeMap<&'static str, CodeFigures>;

/// The figures of a set: the questions that may choose weights, and the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct CodeReport {
    /// The questions with even numbers.
    pub(crate) tune: Modes,
    /// The others.
    pub(crate) report: Modes,
}

/// A set in a finder, with all vectors.
pub(crate) struct CodeEvaluation {
    finder: Finder,
    questions: Vec<EvaluationQuestion>,
    unit: Unit,
    links: Vec<Vec<u32>>,
}

impl CodeEvaluation {
    /// Indexes a set and makes all vectors. `progress` gets the number of passages with a vector and the number of all.
    pub(crate) fn prepare(
        set: EvaluationSet,
        embedder: Arc<dyn Embedder>,
        pack: Option<Arc<VectorPack>>,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self> {
        let questions = Arc::new(Questions::default());
        let finder = Finder::open(FinderConfig { folder: None, embedder, pack, questions })?;
        for (file, (path, passages)) in (0..).zip(set.files) {
            finder.put_file(file, &path, passages);
        }
        while finder.embed_some()? > 0 {
            let coverage = finder.coverage();
            progress(coverage.embedded, coverage.passages);
        }
        Ok(Self { finder, questions: set.questions, unit: set.unit, links: set.links })
    }

    /// The quality of each search on both halves of the questions.
    pub(crate) fn report(&self, weights: &CodeWeights) -> Result<CodeReport> {
        Ok(CodeReport {
            tune: self.measure(weights, |number| number % 2 == 0)?,
            report: self.measure(weights, |number| number % 2 == 1)?,
        })
    }

    /// The quality of each search: `keyword`, `vector` and `fused`. `is_asked` chooses questions by their number.
    pub(crate) fn measure(&self, weights: &CodeWeights, is_asked: impl Fn(usize) -> bool) -> Result<Modes> {
        let none =
            CodeWeights { keyword: 0.0, vector: 0.0, identifier: 0.0, sibling: 0.0, graph: 0.0, dependency: 0.0, temporal: 0.0 };
        let modes = [
            ("keyword", CodeWeights { keyword: 1.0, ..none }),
            ("vector", CodeWeights { vector: 1.0, ..none }),
            ("fused", *weights),
        ];
        modes.into_iter().map(|(name, weights)| Ok((name, self.measure_one(&weights, &is_asked)?))).collect()
    }

    /// The quality with some weights.
    pub(crate) fn measure_one(&self, weights: &CodeWeights, is_asked: &dyn Fn(usize) -> bool) -> Result<CodeFigures> {
        let mut figures = CodeFigures::default();
        for (_, question) in self.questions.iter().enumerate().filter(|(number, _)| is_asked(*number)) {
            let ranking = self.ranking(&question.text, weights)?;
            figures.questions += 1;
            figures.mean_reciprocal_rank += reciprocal_rank(&ranking, &question.relevant);
            figures.first += f64::from(u8::from(ranking.first().is_some_and(|first| question.relevant.contains(first))));
            figures.recall_at_10 += recall_at(&ranking, &question.relevant, 10);
        }
        let count = figures.questions.max(1) as f64;
        figures.mean_reciprocal_rank /= count;
        figures.first /= count;
        figures.recall_at_10 /= count;
        Ok(figures)
    }

    /// What a query finds, as the unit names it, without repeats.
    fn ranking(&self, query: &str, weights: &CodeWeights) -> Result<Vec<String>> {
        let types = SearchTypes { semantic: weights.vector > 0.0, graph: true, dependency: true, temporal: false };
        let linked_with = |file: u32| self.links.get(file as usize).cloned().unwrap_or_default();
        let options = FindOptions {
            types,
            semantic_threshold: 0.0,
            changed_within: None,
            accept: None,
            around: Surroundings { neighbours_of: &|_| Vec::new(), linked_with: &linked_with, changed_at: &|_| None },
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
        let files = vec![
            file("a.py", "drop", "delete old rows"),
            file("b.py", "listen", "open a socket"),
            file("c.py", "noise", "cheese and wood"),
        ];
        let question =
            |text: &str, answer: &str| EvaluationQuestion { text: text.to_owned(), relevant: HashSet::from([answer.to_owned()]) };
        let questions = vec![question("erase", "a.py#drop"), question("socket", "b.py#listen"), question("wood", "a.py#drop")];
        let set = EvaluationSet { files, questions, unit: Unit::Symbol, links: Vec::new() };
        let mut seen = 0;
        let evaluation = CodeEvaluation::prepare(set, Arc::new(Words::default()), None, |embedded, _| seen = embedded).unwrap();
        assert_eq!(seen, 3);
        let report = evaluation.report(&CodeWeights::default()).unwrap();
        assert_eq!((report.tune["fused"].questions, report.report["fused"].questions), (2, 1));
        assert_eq!(report.tune["keyword"].mean_reciprocal_rank, 0.0, "no word of either question leads to its answer");
        assert!(report.tune["vector"].first >= 0.5 && report.tune["fused"].first >= 0.5);
        assert_eq!((report.report["keyword"].first, report.report["fused"].recall_at_10), (1.0, 1.0));
    }
}
