//! Answers a question: ranks, groups and pages.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use base::{Error, Kind, Result, Timestamp};
use search::embed::Embedding;

use super::calibration::{Calibration, RandomPairs};
use super::finder::{Finder, State};
use super::group::{Group, group};
use super::rank::{Asked, CodeWeights, Ranked, SearchTypes, Signals, Surroundings};

/// The maximum length of a query in bytes.
pub(crate) const QUERY_BYTES_MAX: usize = 8 * 1024;
/// The maximum number of hits on a page.
pub(crate) const HITS_MAX: usize = 100;

/// What is asked besides the words.
pub(crate) struct FindOptions<'a> {
    /// The signals to use.
    pub(crate) types: SearchTypes,
    /// A passage without a word of the query needs at least this similarity.
    pub(crate) semantic_threshold: f32,
    /// Only files that were changed within it, both ends included.
    pub(crate) changed_within: Option<(Timestamp, Timestamp)>,
    /// Which files may be found, if not all.
    pub(crate) accept: Option<&'a dyn Fn(u32) -> bool>,
    /// What the index knows about files.
    pub(crate) around: Surroundings<'a>,
    /// The number of hits before the page.
    pub(crate) offset: usize,
    /// The maximum number of hits.
    pub(crate) limit: usize,
    /// The time of the question.
    pub(crate) now: Timestamp,
    /// The weights.
    pub(crate) weights: CodeWeights,
}

/// A part of a file that was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CodeHit {
    /// The index's number of the file.
    pub(crate) file: u32,
    /// Its path.
    pub(crate) path: Arc<str>,
    /// The first line.
    pub(crate) start_line: u32,
    /// The last line, included.
    pub(crate) end_line: u32,
    /// The symbol of the best passage in it.
    pub(crate) symbol: Option<Arc<str>>,
    /// The sum of the signals.
    pub(crate) score: f32,
    /// What each signal adds.
    pub(crate) signals: Signals,
    /// The cosine with the query, if it has a vector.
    pub(crate) cosine: Option<f32>,
    /// The calibrated similarity, if it has a vector.
    pub(crate) similarity: Option<f32>,
}

/// A page of hits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// Best first.
    pub(crate) hits: Vec<CodeHit>,
    /// The number of hits on all pages.
    pub(crate) total: usize,
    /// The offset of the next page, if there is one.
    pub(crate) next: Option<usize>,
    /// Whether vectors were asked for but the model gave none, so that only words were searched.
    pub(crate) words_only: bool,
}

impl Finder {
    /// The passages that answer a query, best first. Call it on a blocking thread.
    pub(crate) fn find(&self, query: &str, options: &FindOptions<'_>) -> Result<Found> {
        check(query)?;
        let _question = self.questions.ask();
        let vector = if options.types.semantic { self.query_vector(query)? } else { None };
        let pairs = self.random_pairs(self.embedder.dimension());
        let state = self.state();
        let ranked = self.rank_accepted(&state, query, vector.as_ref(), options)?;
        let calibration = Calibration::of(self.embedder.model(), false, pairs);
        let similar =
            |ranked: &Ranked| ranked.cosine.is_some_and(|cosine| calibration.similarity(cosine) >= options.semantic_threshold);
        let ranked: Vec<Ranked> = ranked.into_iter().filter(|one| one.signals.is_named() || similar(one)).collect();
        let groups = group(&state.catalogue, &ranked);
        let limit = options.limit.min(HITS_MAX);
        let hits: Vec<CodeHit> =
            groups.iter().skip(options.offset).take(limit).filter_map(|group| hit(&state, group, &calibration)).collect();
        let end = options.offset.saturating_add(hits.len());
        let next = (end < groups.len() && !hits.is_empty()).then_some(end);
        Ok(Found { hits, total: groups.len(), next, words_only: options.types.semantic && vector.is_none() })
    }

    /// The ranking of a query before hits are grouped.
    pub(super) fn rank_accepted(
        &self,
        state: &State,
        query: &str,
        vector: Option<&Embedding>,
        options: &FindOptions<'_>,
    ) -> Result<Vec<Ranked>> {
        let asked_before: RefCell<HashMap<u32, bool>> = RefCell::default();
        let accept = |file: u32| {
            *asked_before.borrow_mut().entry(file).or_insert_with(|| {
                let in_time = options.changed_within.is_none_or(|(from, to)| {
                    (options.around.changed_at)(file).is_some_and(|changed| from <= changed && changed <= to)
                });
                in_time && options.accept.is_none_or(|accept| accept(file))
            })
        };
        let asked = Asked {
            text: query,
            vector,
            types: options.types,
            weights: options.weights,
            around: &options.around,
            accept: &accept,
            now: options.now,
        };
        self.rank(state, &asked)
    }

    /// The vector of a query; `None` if the model cannot be reached now.
    pub(super) fn query_vector(&self, query: &str) -> Result<Option<Embedding>> {
        match self.embedder.embed_query(query) {
            Ok(vector) if vector.len() == self.embedder.dimension() => Ok(Some(vector)),
            Ok(vector) => Err(Error::internal(format!("the vector of a query has {} dimensions", vector.len()))),
            Err(error) if error.kind() == Kind::Unavailable => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The cosines of random pairs of the project's passages.
    pub(super) fn random_pairs(&self, dimension: usize) -> RandomPairs {
        let known = self.state().vectors.known_pairs(dimension);
        known.unwrap_or_else(|| {
            self.with_state(|state| {
                let State { catalogue, vectors, .. } = state;
                vectors.measure_pairs(dimension, &|| catalogue.ids().collect())
            })
        })
    }
}

/// Refuses an empty or too long query.
pub(super) fn check(query: &str) -> Result<()> {
    if query.trim().is_empty() {
        return Err(Error::invalid("query", "the query is empty; say what to look for"));
    }
    if query.len() > QUERY_BYTES_MAX {
        return Err(Error::invalid("query", format!("the query has more than {QUERY_BYTES_MAX} bytes; shorten it")));
    }
    Ok(())
}

/// The hit of a group; `None` if its file is gone.
pub(super) fn hit(state: &State, group: &Group, calibration: &Calibration) -> Option<CodeHit> {
    let best = &group.best;
    Some(CodeHit {
        file: best.file,
        path: Arc::clone(&state.catalogue.file(best.file)?.path),
        start_line: group.start_line,
        end_line: group.end_line,
        symbol: state.catalogue.entry(best.id)?.symbol.clone(),
        score: best.signals.sum(),
        signals: best.signals,
        cosine: best.cosine,
        similarity: best.cosine.map(|cosine| calibration.similarity(cosine)),
    })
}
