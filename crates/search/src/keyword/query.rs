//! Runs one query over all parts of the index, with one set of statistics.

use std::collections::HashMap;

use tantivy::query::{Bm25StatisticsProvider, Bm25Weight, BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, TantivyError, Term};

use super::analysis::query_terms;
use super::cache::ID;
use super::tail::Tail;
use crate::top::{Hit, Top};

/// The maximum number of terms to search for, rarest first. They decide the ranking, and each costs a pass over its documents.
const TERMS_MAX: usize = 48;

/// The committed part during a query.
pub(super) struct Committed {
    pub(super) searcher: Searcher,
    pub(super) words: Field,
    totals: (u64, u64),
}

/// A term of the query with its weight for scoring.
pub(super) struct Weighted {
    pub(super) text: String,
    pub(super) bm25: Bm25Weight,
    weight: f32,
    frequency: u64,
}

impl Committed {
    pub(super) fn new(searcher: Searcher, words: Field) -> Result<Self, TantivyError> {
        let totals = (searcher.total_num_docs()?, searcher.total_num_tokens(words)?);
        Ok(Self { searcher, words, totals })
    }
}

/// The parts from new to old. An id in a newer part hides it in older ones.
pub(super) struct Parts<'a> {
    pub(super) tails: &'a [&'a Tail],
    pub(super) committed: &'a Committed,
}

impl Parts<'_> {
    pub(super) fn search(&self, text: &str, limit: usize, accept: &dyn Fn(u64) -> bool) -> Result<Vec<Hit>, TantivyError> {
        let mut top = Top::new(limit);
        let terms = self.weigh(query_terms(text))?;
        if limit == 0 || terms.is_empty() {
            return Ok(Vec::new());
        }
        for (newer, tail) in self.tails.iter().enumerate() {
            tail.score(&terms, &mut |id, score| {
                if score >= top.floor() && !self.is_void(id, newer) && accept(id) {
                    top.offer(Hit { id, score });
                }
            });
        }
        self.search_committed(&terms, &mut top, accept)?;
        Ok(top.into_hits())
    }

    /// Whether one of the `newer` first tails has the id.
    fn is_void(&self, id: u64, newer: usize) -> bool {
        self.tails.iter().take(newer).any(|tail| tail.touches(id))
    }

    /// The documents and words of all parts. Outdated versions are counted too, which makes no relevant difference.
    fn totals(&self) -> (u64, u64) {
        self.tails.iter().map(|tail| tail.totals()).fold(self.committed.totals, |all, tail| (all.0 + tail.0, all.1 + tail.1))
    }

    /// The rarest terms that occur at all.
    fn weigh(&self, terms: Vec<(String, f32)>) -> Result<Vec<Weighted>, TantivyError> {
        let (documents, words) = self.totals();
        let average = words as f32 / documents.max(1) as f32;
        let mut weighted = Vec::with_capacity(terms.len());
        for (text, weight) in terms {
            let committed = self.committed.searcher.doc_freq(&Term::from_field_text(self.committed.words, &text))?;
            let frequency = committed + self.tails.iter().map(|tail| tail.document_frequency(&text)).sum::<u64>();
            if frequency > 0 {
                let bm25 = Bm25Weight::for_one_term_without_explain(frequency, documents, average).boost_by(weight);
                weighted.push(Weighted { text, bm25, weight, frequency });
            }
        }
        weighted.sort_by_key(|term| term.frequency);
        weighted.truncate(TERMS_MAX);
        Ok(weighted)
    }

    /// The score that a text with every word of the query would have at most. A word that no text has counts as a rare one.
    pub(super) fn ceiling(&self, text: &str) -> Result<f32, TantivyError> {
        let (documents, words) = self.totals();
        let average = words as f32 / documents.max(1) as f32;
        let mut ceiling = 0.0;
        for (text, weight) in query_terms(text) {
            let committed = self.committed.searcher.doc_freq(&Term::from_field_text(self.committed.words, &text))?;
            let frequency = committed + self.tails.iter().map(|tail| tail.document_frequency(&text)).sum::<u64>();
            let bm25 = Bm25Weight::for_one_term_without_explain(frequency, documents, average).boost_by(weight);
            ceiling += bm25.max_score();
        }
        Ok(ceiling)
    }

    fn search_committed(&self, terms: &[Weighted], top: &mut Top, accept: &dyn Fn(u64) -> bool) -> Result<(), TantivyError> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::with_capacity(terms.len());
        let mut statistics = Statistics { totals: self.totals(), frequencies: HashMap::with_capacity(terms.len()) };
        for term in terms {
            let named = Term::from_field_text(self.committed.words, &term.text);
            statistics.frequencies.insert(named.clone(), term.frequency);
            let query = TermQuery::new(named, IndexRecordOption::WithFreqs);
            clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(query), term.weight))));
        }
        let searcher = &self.committed.searcher;
        let scoring = EnableScoring::enabled_from_statistics_provider(&statistics, searcher);
        let weight = BooleanQuery::new(clauses).weight(scoring)?;
        for segment in searcher.segment_readers() {
            let (ids, living) = (segment.fast_fields().u64(ID)?, segment.alive_bitset());
            // Tantivy skips a score that only equals the threshold, but among equal scores the smaller id must win. So the
            // threshold is set just below.
            weight.for_each_pruning(top.floor().next_down(), segment, &mut |document, score| {
                if living.is_none_or(|living| living.is_alive(document))
                    && let Some(id) = ids.first(document)
                    && !self.is_void(id, self.tails.len())
                    && accept(id)
                {
                    top.offer(Hit { id, score });
                }
                top.floor().next_down()
            })?;
        }
        Ok(())
    }
}

/// The statistics of all parts together, for scoring the committed one.
struct Statistics {
    totals: (u64, u64),
    frequencies: HashMap<Term, u64>,
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.totals.0)
    }

    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(self.totals.1)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.frequencies.get(term).copied().unwrap_or_default())
    }
}
