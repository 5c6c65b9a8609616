//! Search, with the lines that were found.

use std::collections::HashMap;
use std::sync::Arc;

use base::limits::CODE_SNIPPET_LINES_MAX;
use base::{Result, Timestamp};
use store::OrgStore;

use super::{CodeCoverage, Codebase};
use crate::files::Read;
use crate::find::{CodeWeights, FindOptions, SearchTypes, Surroundings};
use crate::path::CodePath;

/// The largest file that a snippet is cut from.
const SNIPPET_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest line of a snippet, in characters.
const LINE_CHARS_MAX: usize = 300;

/// A search that joins several signals.
#[derive(Clone, Debug)]
pub struct HybridQuery {
    /// What to look for.
    pub query: String,
    /// Whether meaning counts.
    pub semantic: bool,
    /// Whether neighbours in the graph count.
    pub graph: bool,
    /// Whether imports count.
    pub dependency: bool,
    /// Whether recent changes count.
    pub temporal: bool,
    /// The minimum similarity of a hit that only meaning finds.
    pub threshold: f32,
    /// Only files that changed since this time.
    pub changed_since: Option<Timestamp>,
    /// The number of hits before the page.
    pub offset: usize,
    /// The maximum number of hits.
    pub limit: usize,
}

/// The hits of a search.
#[derive(Clone, Debug)]
pub struct HybridResults {
    /// Best first.
    pub hits: Vec<CodeHit>,
    /// The offset of the next page, if there is one.
    pub next: Option<usize>,
    /// Whether the query got no vector.
    pub words_only: bool,
    /// How much was searched.
    pub coverage: CodeCoverage,
}

/// A search by meaning alone.
#[derive(Clone, Debug)]
pub struct SemanticQuery {
    /// What to look for.
    pub query: String,
    /// The number of dimensions to compare.
    pub dimension: usize,
    /// The minimum similarity.
    pub threshold: f32,
    /// The number of hits before the page.
    pub offset: usize,
    /// The maximum number of hits.
    pub limit: usize,
}

/// The hits of a search by meaning.
#[derive(Clone, Debug)]
pub struct SemanticResults {
    /// Most similar first.
    pub hits: Vec<CodeHit>,
    /// The offset of the next page, if there is one.
    pub next: Option<usize>,
    /// The number of dimensions that were compared.
    pub dimension: usize,
    /// How much was searched.
    pub coverage: CodeCoverage,
}

/// Lines of a file that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeHit {
    /// The file.
    pub path: Arc<str>,
    /// The first line.
    pub start_line: u32,
    /// The last line, included.
    pub end_line: u32,
    /// The definition that they belong to.
    pub symbol: Option<Arc<str>>,
    /// The first of these lines, as they are now.
    pub snippet: String,
    /// The sum of the signals.
    pub score: f32,
    /// What each signal adds.
    pub signals: Signals,
    /// The raw cosine with the query.
    pub cosine: Option<f32>,
    /// The calibrated similarity with the query.
    pub similarity: Option<f32>,
}

/// The parts of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// From words, also in other passages of the same file.
    pub keyword: f32,
    /// From a name in the query.
    pub identifier: f32,
    /// From the meaning.
    pub semantic: f32,
    /// From neighbours in the graph.
    pub graph: f32,
    /// From imports.
    pub dependency: f32,
    /// From the time of the last change.
    pub temporal: f32,
}

impl<R: AsRef<OrgStore> + Clone> Codebase<R> {
    /// Finds passages by all signals that are asked for.
    pub async fn hybrid(&self, asked: HybridQuery) -> Result<HybridResults> {
        let (finder, snapshot, now) = (Arc::clone(&self.place.finder), self.index.snapshot(), self.clock.now());
        let work = move || {
            let around = Surroundings {
                neighbours_of: &|file| snapshot.file_neighbours(file),
                linked_with: &|file| snapshot.linked_files(file),
                changed_at: &|file| snapshot.changed_at(file),
            };
            let types = SearchTypes {
                semantic: asked.semantic,
                graph: asked.graph,
                dependency: asked.dependency,
                temporal: asked.temporal,
            };
            let options = FindOptions {
                types,
                semantic_threshold: asked.threshold,
                changed_within: asked.changed_since.map(|since| (since, now)),
                accept: None,
                around,
                offset: asked.offset,
                limit: asked.limit,
                now,
                weights: CodeWeights::default(),
            };
            finder.find(&asked.query, &options)
        };
        let found = store::compute(self.rows().org(), work).await??;
        let hits = self.shown(found.hits).await;
        Ok(HybridResults { hits, next: found.next, words_only: found.words_only, coverage: self.coverage() })
    }

    /// Finds passages by meaning alone.
    pub async fn semantic(&self, asked: SemanticQuery) -> Result<SemanticResults> {
        let finder = Arc::clone(&self.place.finder);
        let work = move || finder.semantic(&asked.query, Some(asked.dimension), asked.threshold, asked.offset, asked.limit);
        let found = store::compute(self.rows().org(), work).await??;
        let hits = self.shown(found.hits).await;
        Ok(SemanticResults { hits, next: found.next, dimension: found.dimension, coverage: self.coverage() })
    }

    /// The name of the model that makes vectors here.
    pub fn model(&self) -> String {
        self.place.finder.model().to_owned()
    }

    /// Adds the lines to hits. A file that is gone by now has none.
    async fn shown(&self, hits: Vec<crate::find::CodeHit>) -> Vec<CodeHit> {
        let mut texts: HashMap<Arc<str>, String> = HashMap::new();
        for hit in &hits {
            if !texts.contains_key(&hit.path) {
                texts.insert(Arc::clone(&hit.path), self.text_of(&hit.path).await);
            }
        }
        let show = |hit: crate::find::CodeHit| {
            let text = texts.get(&hit.path).map_or("", String::as_str);
            CodeHit {
                snippet: snippet(text, hit.start_line, hit.end_line),
                path: hit.path,
                start_line: hit.start_line,
                end_line: hit.end_line,
                symbol: hit.symbol,
                score: hit.score,
                signals: Signals {
                    keyword: hit.signals.keyword + hit.signals.sibling,
                    identifier: hit.signals.identifier,
                    semantic: hit.signals.vector,
                    graph: hit.signals.graph,
                    dependency: hit.signals.dependency,
                    temporal: hit.signals.temporal,
                },
                cosine: hit.cosine,
                similarity: hit.similarity,
            }
        };
        hits.into_iter().map(show).collect()
    }

    async fn text_of(&self, path: &str) -> String {
        let Ok(path) = CodePath::parse(path) else { return String::new() };
        match self.place.files.read(self.rows(), &self.project, &path, SNIPPET_FILE_BYTES_MAX).await {
            Ok(Read::File { bytes, .. }) => String::from_utf8_lossy(&bytes).into_owned(),
            _ => String::new(),
        }
    }
}

/// Some lines of a text. Long lines are cut.
fn snippet(text: &str, start_line: u32, end_line: u32) -> String {
    let count = (end_line.saturating_sub(start_line) as usize + 1).min(CODE_SNIPPET_LINES_MAX);
    let lines = text.lines().skip(start_line.saturating_sub(1) as usize).take(count);
    let cut = |line: &str| -> String { line.chars().take(LINE_CHARS_MAX).collect() };
    lines.map(cut).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_has_the_first_lines() {
        let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
        assert_eq!(snippet(&text, 2, 3), "line 2\nline 3");
        assert_eq!(snippet(&text, 1, 40).lines().count(), CODE_SNIPPET_LINES_MAX);
        assert_eq!(snippet(&text, 41, 50), "");
        assert_eq!(snippet(&"x".repeat(1_000), 1, 1).len(), LINE_CHARS_MAX);
    }
}
