//! Runs one query over all parts of the index, with one set of statistics.

use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::Field;
use tantivy::{Searcher, TantivyError, Term};

use super::analysis::query_terms;
use super::cache::{Fields, ID};
use super::committed::{Scorer, documents_of};
use super::tail::Tail;
use crate::top::{Hit, Top, best_first};

/// The maximum number of terms to search for, rarest first. They decide the ranking, and each costs a pass over its documents.
const TERMS_MAX: usize = 48;

/// The committed part during a query.
pub(super) struct Committed {
    pub(super) searcher: Searcher,
    id: Field,
    pub(super) words: Field,
    totals: (u64, u64),
}

/// A term of the query with its weight for scoring.
pub(super) struct Weighted {
    pub(super) text: String,
    pub(super) bm25: Bm25Weight,
    frequency: u64,
}

impl Committed {
    pub(super) fn new(searcher: Searcher, Fields { id, words }: Fields) -> Result<Self, TantivyError> {
        let totals = (searcher.total_num_docs()?, searcher.total_num_tokens(words)?);
        Ok(Self { searcher, id, words, totals })
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
                let hit = Hit { id, score };
                if top.wants(&hit) && !self.is_void(id, newer) && accept(id) {
                    top.offer(hit);
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
                weighted.push(Weighted { text, bm25, frequency });
            }
        }
        weighted.sort_by_key(|term| term.frequency);
        weighted.truncate(TERMS_MAX);
        // The order in which the scores of a text are added up.
        weighted.sort_by(|left, right| right.bm25.max_score().total_cmp(&left.bm25.max_score()));
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
        for segment in self.committed.searcher.segment_readers() {
            let (ids, living) = (segment.fast_fields().u64(ID)?, segment.alive_bitset());
            let Some(scorer) = Scorer::new(segment, self.committed.words, terms)? else { continue };
            scorer.search(top.floor(), |document, score| {
                if living.is_none_or(|living| living.is_alive(document))
                    && let Some(hit) = ids.first(document).map(|id| Hit { id, score })
                    && top.wants(&hit)
                    && !self.is_void(hit.id, self.tails.len())
                    && accept(hit.id)
                {
                    top.offer(hit);
                }
                top.floor()
            });
        }
        Ok(())
    }

    /// The scores of these items, best first. Items without a word of the query are left out.
    pub(super) fn scores(&self, text: &str, ids: &[u64]) -> Result<Vec<Hit>, TantivyError> {
        let terms = self.weigh(query_terms(text))?;
        let mut hits = Vec::with_capacity(ids.len());
        let mut committed = Vec::with_capacity(ids.len());
        for id in ids.iter().copied() {
            match self.tails.iter().find(|tail| tail.touches(id)) {
                Some(tail) => hits.push(Hit { id, score: tail.score_of(id, &terms) }),
                None => committed.push(id),
            }
        }
        for segment in self.committed.searcher.segment_readers() {
            let Some(mut scorer) = Scorer::new(segment, self.committed.words, &terms)? else { continue };
            let documents = documents_of(segment, self.committed.id, &committed)?;
            hits.extend(documents.into_iter().map(|(document, id)| Hit { id, score: scorer.score(document) }));
        }
        hits.retain(|hit| hit.score > 0.0);
        hits.sort_unstable_by(best_first);
        Ok(hits)
    }
}
