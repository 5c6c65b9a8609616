//! Uncommitted writes: a small inverted index in memory, and the ids whose committed version is outdated.

use std::collections::HashMap;

use tantivy::fieldnorm::FieldNormReader;

use super::analysis::Terms;
use super::query::Weighted;

/// Writes in order of arrival. Only the last one of each id counts.
#[derive(Default)]
pub(super) struct Tail {
    dictionary: HashMap<Box<str>, u32>,
    /// For each term its documents, by slot, with the number of occurrences.
    postings: Vec<Vec<(u32, u32)>>,
    documents: Vec<Document>,
    /// Every id written since the last commit, with its slot, or none if it was removed.
    touched: HashMap<u64, Option<u32>>,
    living: u64,
    words: u64,
    writes: usize,
    weight: usize,
    position: u64,
}

struct Document {
    id: u64,
    length: u32,
    /// Cleared when a later write replaces the document.
    terms: Box<[(u32, u32)]>,
}

impl Tail {
    pub(super) fn upsert(&mut self, id: u64, terms: Terms, position: u64) {
        let length = terms.length;
        let terms: Box<[_]> = terms.counts.into_iter().map(|(term, count)| (self.number(term), count)).collect();
        self.put(id, terms, length);
        self.position = position;
    }

    pub(super) fn remove(&mut self, id: u64, position: u64) {
        self.withdraw(id);
        self.touched.insert(id, None);
        self.writes += 1;
        self.position = position;
    }

    /// Appends later writes.
    pub(super) fn absorb(&mut self, later: Tail) {
        if later.is_empty() {
            return;
        }
        let mut names = vec![""; later.postings.len()];
        for (name, number) in &later.dictionary {
            if let Some(place) = names.get_mut(*number as usize) {
                *place = name;
            }
        }
        for (id, slot) in &later.touched {
            let document = slot.and_then(|slot| later.documents.get(slot as usize));
            let Some(document) = document else {
                self.remove(*id, later.position);
                continue;
            };
            let terms = document.terms.iter().filter_map(|(term, count)| {
                let name = names.get(*term as usize)?;
                Some((self.number((*name).to_owned()), *count))
            });
            let terms = terms.collect();
            self.put(*id, terms, document.length);
        }
        self.position = later.position;
    }

    fn number(&mut self, term: String) -> u32 {
        let next = self.postings.len() as u32;
        let number = *self.dictionary.entry(term.into_boxed_str()).or_insert(next);
        if number == next {
            self.postings.push(Vec::new());
        }
        number
    }

    fn put(&mut self, id: u64, terms: Box<[(u32, u32)]>, length: u32) {
        self.withdraw(id);
        let slot = self.documents.len() as u32;
        for (term, count) in &terms {
            if let Some(postings) = self.postings.get_mut(*term as usize) {
                postings.push((slot, *count));
            }
        }
        self.touched.insert(id, Some(slot));
        self.living += 1;
        self.words += u64::from(length);
        self.writes += 1;
        self.weight += terms.len();
        self.documents.push(Document { id, length, terms });
    }

    /// Removes the version of a document in this tail.
    fn withdraw(&mut self, id: u64) {
        let Some(Some(slot)) = self.touched.get(&id) else { return };
        let Some(document) = self.documents.get_mut(*slot as usize) else { return };
        for (term, _) in std::mem::take(&mut document.terms) {
            if let Some(postings) = self.postings.get_mut(term as usize)
                && let Ok(place) = postings.binary_search_by_key(slot, |(slot, _)| *slot)
            {
                postings.remove(place);
            }
        }
        self.living -= 1;
        self.words -= u64::from(document.length);
    }

    /// Whether this tail has a write of an id, which hides older versions.
    pub(super) fn touches(&self, id: u64) -> bool {
        self.touched.contains_key(&id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    /// The number of writes and terms, for the limits.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.writes, self.weight)
    }

    /// The position of the last write.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Documents and words, for the statistics.
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.living, self.words)
    }

    pub(super) fn document_frequency(&self, term: &str) -> u64 {
        self.postings_of(term).len() as u64
    }

    fn postings_of(&self, term: &str) -> &[(u32, u32)] {
        let postings = self.dictionary.get(term).and_then(|number| self.postings.get(*number as usize));
        postings.map(Vec::as_slice).unwrap_or_default()
    }

    /// Calls `found` with the id and score of every document that holds one of the terms.
    pub(super) fn score(&self, terms: &[Weighted], found: &mut dyn FnMut(u64, f32)) {
        let mut scores = vec![0.0_f32; self.documents.len()];
        for term in terms {
            for (slot, count) in self.postings_of(&term.text) {
                if let (Some(score), Some(document)) = (scores.get_mut(*slot as usize), self.documents.get(*slot as usize)) {
                    // The committed part stores lengths in one byte. The same rounding here keeps the scores comparable.
                    *score += term.bm25.score(FieldNormReader::fieldnorm_to_id(document.length), *count);
                }
            }
        }
        for (document, score) in self.documents.iter().zip(scores) {
            if score > 0.0 {
                found(document.id, score);
            }
        }
    }

    /// The score of one id; zero if it was removed or holds none of the terms.
    pub(super) fn score_of(&self, id: u64, terms: &[Weighted]) -> f32 {
        let Some(Some(slot)) = self.touched.get(&id) else { return 0.0 };
        let Some(document) = self.documents.get(*slot as usize) else { return 0.0 };
        let length = FieldNormReader::fieldnorm_to_id(document.length);
        let count = |term: &Weighted| {
            let postings = self.postings_of(&term.text);
            let place = postings.binary_search_by_key(slot, |(slot, _)| *slot).ok()?;
            postings.get(place).map(|(_, count)| *count)
        };
        terms.iter().filter_map(|term| Some(term.bm25.score(length, count(term)?))).fold(0.0, |sum, score| sum + score)
    }

    /// Every written id with its words, each as often as it occurs, or none if it was removed.
    pub(super) fn for_each_write<E>(&self, mut write: impl FnMut(u64, Option<String>) -> Result<(), E>) -> Result<(), E> {
        let mut names = vec![""; self.postings.len()];
        for (name, number) in &self.dictionary {
            if let Some(place) = names.get_mut(*number as usize) {
                *place = name;
            }
        }
        // Sorted by id, so that the same writes always give the same segment.
        let mut ids: Vec<_> = self.touched.iter().collect();
        ids.sort_unstable();
        for (id, slot) in ids {
            let document = slot.and_then(|slot| self.documents.get(slot as usize));
            let words = document.map(|document| {
                let mut words = String::new();
                for (term, count) in &document.terms {
                    for _ in 0..*count {
                        words.push_str(names.get(*term as usize).copied().unwrap_or_default());
                        words.push(' ');
                    }
                }
                words
            });
            write(*id, words)?;
        }
        Ok(())
    }
}
