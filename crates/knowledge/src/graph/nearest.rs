//! The names that an unknown one was probably meant to be: with a typing mistake, or else of similar meaning.
//!
//! The work does not grow with the graph. Every spelling with one mistake is looked up, and names that start like the unknown
//! one are compared with it.

use std::collections::BTreeSet;

use base::near::mistakes;
use base::{ProjectId, Result};
use search::fusion::Weights;
use store::{AsParam, OrgStore, OrgTx, Param, Row, params};

use super::{KnowledgeGraph, name, sql};
use crate::index::{Indexes, Wanted};
use crate::memory::Mode;
use crate::{Asked, Error};

/// The number of names to suggest.
const SUGGESTED_MAX: usize = 3;
/// The length of a name up to which every spelling with one mistake is looked up.
const SPELLED_CHARS_MAX: usize = 24;
/// The number of names before and after the unknown one to compare with.
const AROUND: u32 = 32;
/// The maximum part of a name that an error repeats.
const SHOWN_CHARS_MAX: usize = 100;
/// The minimum similarity of a name that shares no word.
const COSINE_MIN: f32 = 0.3;

impl<R: AsRef<OrgStore>> KnowledgeGraph<R> {
    /// The error for an unknown name, with the most similar names.
    pub(super) async fn no_such_entity(&self, indexes: &Indexes, called: &str, asked: Asked) -> Error {
        let near = self.nearest_names(indexes, called).await.unwrap_or_default();
        no_entity_called(called, asked, near)
    }

    async fn nearest_names(&self, indexes: &Indexes, called: &str) -> Result<Vec<String>> {
        let (project, asked) = (self.project, called.to_owned());
        let spelled = self.rows().read(move |tx| misspelled(tx, &project, &asked)).await?;
        if spelled.is_empty() { self.similar_names(indexes, called).await } else { Ok(spelled) }
    }

    /// Names that keywords or meaning find.
    async fn similar_names(&self, indexes: &Indexes, called: &str) -> Result<Vec<String>> {
        let texts = indexes.graph_texts(self.rows(), &self.project).await?;
        let facts = indexes.facts(self.rows(), &self.project).await?;
        let (vector, query) = (indexes.query_vector(self.rows().org(), called, Mode::Fused).await?, called.to_owned());
        let work = move || {
            let facts = facts.read();
            let is_entity = |number: u64| facts.is_entity(number.cast_signed());
            let weights = Weights::default();
            let wanted =
                Wanted { query: &query, vector: vector.as_ref(), mode: Mode::Fused, weights: &weights, filter: Some(&is_entity) };
            let hits = texts.texts.find(&wanted)?.hits.into_iter().filter(|hit| hit.is_hit(COSINE_MIN));
            let mut near: Vec<i64> = Vec::new();
            for entity in hits.map(|hit| facts.representative(hit.id.cast_signed())) {
                if !near.contains(&entity) && near.len() < SUGGESTED_MAX {
                    near.push(entity);
                }
            }
            Ok::<_, base::Error>(near)
        };
        let near = store::compute(self.rows().org(), work).await??;
        let mut known = self.entities(near.iter().copied()).await?;
        Ok(near.iter().filter_map(|entity| known.remove(entity)).map(|entity| entity.name).collect())
    }
}

/// The error for an unknown name, with the suggested names.
pub(super) fn no_entity_called(called: &str, asked: Asked, near: Vec<String>) -> Error {
    Error::NoEntityCalled { asked, called: called.chars().take(SHOWN_CHARS_MAX).collect(), near }
}

/// Names that differ from an unknown one by few typing mistakes, fewest first.
pub(super) fn misspelled(tx: &mut OrgTx<'_, '_>, project: &ProjectId, called: &str) -> Result<Vec<String>> {
    let named = |row: &Row<'_>| Ok((row.get::<String>("folded")?, row.get::<String>("name")?));
    let mut near: BTreeSet<(usize, String)> = BTreeSet::new();
    for form in name::forms(&name::cleaned(called)) {
        let mut found = tx.query(sql::NAMES_FROM, &params![project, form, AROUND], named)?;
        found.extend(tx.query(sql::NAMES_BEFORE, &params![project, form, AROUND], named)?);
        let spellings = spellings(&form);
        for some in spellings.chunks(sql::NUMBERS_AT_ONCE) {
            // No name has an empty form.
            let filled = some.iter().map(String::as_str).chain(std::iter::repeat("")).take(sql::NUMBERS_AT_ONCE);
            let asked: Vec<Param<'_>> = std::iter::once(project.as_param()).chain(filled.map(Param::Text)).collect();
            found.extend(tx.query(sql::NAMED_MANY, &asked, named)?);
        }
        near.extend(found.into_iter().filter_map(|(folded, name)| Some((mistakes(&form, &folded)?, name))));
    }
    let mut names: Vec<String> = Vec::new();
    for (_, name) in near {
        if !names.contains(&name) && names.len() < SUGGESTED_MAX {
            names.push(name);
        }
    }
    Ok(names)
}

/// Every form with one mistake: a letter too many, one too few, another one, or two swapped.
fn spellings(form: &str) -> Vec<String> {
    let letters: Vec<char> = form.chars().collect();
    if letters.len() > SPELLED_CHARS_MAX {
        return Vec::new();
    }
    let own = letters.iter().copied().filter(|letter| !letter.is_ascii());
    let alphabet: BTreeSet<char> = ('a'..='z').chain('0'..='9').chain([' ']).chain(own).collect();
    let joined =
        |before: &[char], middle: &[char], after: &[char]| [before, middle, after].concat().into_iter().collect::<String>();
    let mut spellings = Vec::new();
    for place in 0..=letters.len() {
        let (before, after) = letters.split_at(place);
        spellings.extend(alphabet.iter().map(|letter| joined(before, &[*letter], after)));
        if let [first, rest @ ..] = after {
            spellings.push(joined(before, &[], rest));
            spellings.extend(alphabet.iter().map(|letter| joined(before, &[*letter], rest)));
            if let [second, rest @ ..] = rest {
                spellings.push(joined(before, &[*second, *first], rest));
            }
        }
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mistake_is_always_found() {
        let spellings = spellings("redis");
        for known in ["redis1", "xredis", "re dis", "edis", "redi", "rdeis", "reids", "rebis", "sedis"] {
            assert!(spellings.iter().any(|spelling| spelling == known), "{known}");
        }
        assert!(spellings.len() < 600, "{}", spellings.len());
        assert_eq!(super::spellings(&"x".repeat(SPELLED_CHARS_MAX + 1)), Vec::<String>::new());
    }
}
