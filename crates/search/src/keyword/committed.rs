//! Scores the committed part. Every score is the sum over the terms in one fixed order, so a search, a look-up and the tail
//! give the same bits for the same text.
//!
//! A search goes through the documents in windows. Terms come in order of their greatest possible score. The first ones are
//! added up for a whole window at once. The last ones, which together cannot lift a document into the result, are looked up
//! only for documents that have one of the first and could still reach it. So the time is bounded by the number of postings,
//! even if very many documents have the same score.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::Bm25Weight;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError, Term};

use super::query::Weighted;

/// The number of documents whose scores are added up at once. Their sums fit into the processor's cache.
const WINDOW: usize = 1 << 14;
/// The number of sums that are compared with the threshold at once.
const STRIDE: usize = 16;
/// Covers rounding in the sum of the greatest scores.
const ROUNDING: f32 = 1.0 + 1e-5;

/// The terms of a query in one segment.
pub(super) struct Scorer {
    lists: Vec<List>,
    /// For each list, the sum of the greatest scores of it and all after it. One more at the end is zero.
    rest: Vec<f32>,
    lengths: FieldNormReader,
}

/// The documents of one term.
struct List {
    postings: BlockSegmentPostings,
    bm25: Bm25Weight,
    /// The next place in the current block.
    place: usize,
}

impl Scorer {
    /// The terms must be in descending order of their greatest scores. Returns `None` if the segment has none of them.
    pub(super) fn new(segment: &SegmentReader, words: Field, terms: &[Weighted]) -> Result<Option<Self>, TantivyError> {
        let index = segment.inverted_index(words)?;
        let mut lists = Vec::with_capacity(terms.len());
        for term in terms {
            let named = Term::from_field_text(words, &term.text);
            if let Some(postings) = index.read_block_postings(&named, IndexRecordOption::WithFreqs)? {
                lists.push(List { postings, bm25: term.bm25.clone(), place: 0 });
            }
        }
        if lists.is_empty() {
            return Ok(None);
        }
        let greatest = lists.iter().rev().scan(0.0, |sum, list| {
            *sum += list.bm25.max_score() * ROUNDING;
            Some(*sum)
        });
        let mut rest: Vec<f32> = std::iter::once(0.0).chain(greatest).collect();
        rest.reverse();
        Ok(Some(Self { lists, rest, lengths: segment.get_fieldnorms_reader(words)? }))
    }

    /// Calls `offer` with every document that may reach the threshold, and its score, in ascending order. `offer` returns the
    /// threshold from then on. It must not sink.
    pub(super) fn search(mut self, floor: f32, mut offer: impl FnMut(DocId, f32) -> f32) {
        let mut floor = floor;
        let mut sums = vec![0.0_f32; WINDOW];
        loop {
            // A document without any of the first `summed` terms cannot reach the threshold.
            let summed = self.rest.iter().position(|rest| *rest < floor).unwrap_or(self.lists.len()).min(self.lists.len());
            let Some((first, others)) = self.lists.split_at_mut_checked(summed) else { return };
            let Some(start) = first.iter().filter_map(List::next).min() else { return };
            let end = start.saturating_add(WINDOW as u32);
            first.iter_mut().for_each(|list| list.add_up_to(end, start, &mut sums, &self.lengths));
            let rest = self.rest.get(summed..).unwrap_or_default();
            for (stride, base) in sums.chunks_mut(STRIDE).zip((start..).step_by(STRIDE)) {
                let most = stride.iter().copied().fold(0.0, f32::max);
                if most > 0.0 && could_reach(most, rest, floor) {
                    for (sum, document) in stride.iter().zip(base..) {
                        if *sum > 0.0
                            && let Some(score) = completed(*sum, document, others, rest, floor, &self.lengths)
                        {
                            floor = offer(document, score);
                        }
                    }
                }
                stride.fill(0.0);
            }
        }
    }

    /// The score of a document; zero if it has none of the terms. Documents must come in ascending order.
    pub(super) fn score(&mut self, document: DocId) -> f32 {
        self.lists.iter_mut().map(|list| list.score_of(document, &self.lengths)).fold(0.0, |sum, score| sum + score)
    }
}

/// Adds the scores of the remaining lists, unless the document cannot reach the threshold.
fn completed(sum: f32, document: DocId, others: &mut [List], rest: &[f32], floor: f32, lengths: &FieldNormReader) -> Option<f32> {
    let mut sum = sum;
    for (list, rest) in others.iter_mut().zip(rest) {
        if sum + rest < floor {
            return None;
        }
        sum += list.score_of(document, lengths);
    }
    (sum >= floor).then_some(sum)
}

fn could_reach(sum: f32, rest: &[f32], floor: f32) -> bool {
    sum + rest.first().copied().unwrap_or_default() >= floor
}

impl List {
    /// The next document that was not added up.
    fn next(&self) -> Option<DocId> {
        self.postings.docs().get(self.place).copied()
    }

    /// Adds the scores of all documents before `end` to their sums. The first sum belongs to document `start`.
    fn add_up_to(&mut self, end: DocId, start: DocId, sums: &mut [f32], lengths: &FieldNormReader) {
        loop {
            let (documents, counts) = (self.postings.docs(), self.postings.freqs());
            if documents.is_empty() {
                return;
            }
            let left = documents.iter().zip(counts).skip(self.place);
            let mut added = 0;
            for (document, count) in left.take_while(|(document, _)| **document < end) {
                if let Some(sum) = document.checked_sub(start).and_then(|place| sums.get_mut(place as usize)) {
                    *sum += self.bm25.score(lengths.fieldnorm_id(*document), *count);
                }
                added += 1;
            }
            self.place += added;
            if self.place < documents.len() {
                return;
            }
            self.postings.advance();
            self.place = 0;
        }
    }

    /// The score of one document. Its number must not be smaller than that of an earlier call.
    fn score_of(&mut self, document: DocId, lengths: &FieldNormReader) -> f32 {
        if self.postings.docs().is_empty() {
            return 0.0;
        }
        let place = self.postings.seek(document);
        if self.postings.docs().get(place) == Some(&document) {
            self.bm25.score(lengths.fieldnorm_id(document), self.postings.freq(place))
        } else {
            0.0
        }
    }
}

/// The living documents of some ids, in ascending order of the documents.
pub(super) fn documents_of(segment: &SegmentReader, id: Field, ids: &[u64]) -> Result<Vec<(DocId, u64)>, TantivyError> {
    let index = segment.inverted_index(id)?;
    let mut found = Vec::with_capacity(ids.len());
    for wanted in ids {
        // An earlier version of the text may be in the same segment, deleted.
        if let Some(mut postings) = index.read_postings(&Term::from_field_u64(id, *wanted), IndexRecordOption::Basic)? {
            let mut document = postings.doc();
            while document != TERMINATED {
                if segment.alive_bitset().is_none_or(|living| living.is_alive(document)) {
                    found.push((document, *wanted));
                }
                document = postings.advance();
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}
