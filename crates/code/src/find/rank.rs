//! Ranks passages: adds what each signal says about them.
//!
//! Words and vectors are fused as `search::fusion` does: each score is divided by its spread among the candidates of the query, so one
//! weight means the same in every project. The other signals are added in the same unit. Signals that come from other passages or
//! files raise a passage that was found by itself. They never find one.

use std::collections::{BTreeMap, HashMap};

use base::{Result, Timestamp};
use search::Hit;
use search::embed::Embedding;
use search::fusion::{Weights, fuse};
use search::vectors::Query;

use super::finder::{Finder, State, unusable};
use super::identifier::named;

/// The number of candidates that each search gives.
const CANDIDATES: usize = 200;
/// The number of best files that raise others.
const SEEDS: usize = 10;
/// The maximum number of neighbours of a file that are raised.
const NEIGHBOURS_MAX: usize = 256;
/// The time after which a change counts half.
const HALF_LIFE_MS: f32 = 7.0 * 24.0 * 60.0 * 60.0 * 1_000.0;

/// The weights of the signals. The evaluation in this folder chose them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CodeWeights {
    /// For words that cover the whole query.
    pub(crate) keyword: f32,
    /// For the cosine.
    pub(crate) vector: f32,
    /// For a rare name of the query that is the name of a symbol.
    pub(crate) identifier: f32,
    /// For the other good passages of the same file: a share of what the best of them has above the average.
    pub(crate) sibling: f32,
    /// For files that the graph connects with the best files: the same share.
    pub(crate) graph: f32,
    /// For files that import one of the best files or are imported by it: the same share.
    pub(crate) dependency: f32,
    /// For a change just now, as a share of the score.
    pub(crate) temporal: f32,
}

impl Default for CodeWeights {
    fn default() -> Self {
        Self { keyword: 1.4, vector: 1.0, identifier: 3.0, sibling: 0.15, graph: 0.1, dependency: 0.1, temporal: 0.1 }
    }
}

/// Which signals a search uses besides words and identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchTypes {
    /// Vectors.
    pub(crate) semantic: bool,
    /// Neighbours in the graph.
    pub(crate) graph: bool,
    /// Imports in both directions.
    pub(crate) dependency: bool,
    /// The time of the last change.
    pub(crate) temporal: bool,
}

/// What the index knows about files.
pub(crate) struct Surroundings<'a> {
    /// The files that the graph connects with a file, each with a weight from 0 to 1.
    pub(crate) neighbours_of: &'a dyn Fn(u32) -> Vec<(u32, f32)>,
    /// The files that import a file or that it imports.
    pub(crate) linked_with: &'a dyn Fn(u32) -> Vec<u32>,
    /// When a file was last changed.
    pub(crate) changed_at: &'a dyn Fn(u32) -> Option<Timestamp>,
}

impl Surroundings<'_> {
    /// Files without a graph and without times.
    pub(crate) fn none() -> Surroundings<'static> {
        Surroundings { neighbours_of: &|_| Vec::new(), linked_with: &|_| Vec::new(), changed_at: &|_| None }
    }
}

/// What each signal adds to the score of a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Signals {
    /// From words.
    pub(crate) keyword: f32,
    /// From the vector.
    pub(crate) vector: f32,
    /// From a name in the query.
    pub(crate) identifier: f32,
    /// From other passages of the file.
    pub(crate) sibling: f32,
    /// From neighbours in the graph.
    pub(crate) graph: f32,
    /// From imports.
    pub(crate) dependency: f32,
    /// From the time of the last change.
    pub(crate) temporal: f32,
}

impl Signals {
    /// The score: the sum of all.
    pub(crate) fn sum(&self) -> f32 {
        self.own() + self.sibling + self.graph + self.dependency + self.temporal
    }

    /// What the passage has by itself.
    fn own(&self) -> f32 {
        self.keyword + self.vector + self.identifier
    }

    /// Whether the words or names of the query found it.
    pub(super) fn is_named(&self) -> bool {
        self.keyword > 0.0 || self.identifier > 0.0
    }
}

/// A passage that was found.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    pub(super) id: u64,
    pub(super) file: u32,
    pub(super) signals: Signals,
    pub(super) cosine: Option<f32>,
}

/// What is asked of the ranking.
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    pub(super) vector: Option<&'a Embedding>,
    pub(super) types: SearchTypes,
    pub(super) weights: CodeWeights,
    pub(super) around: &'a Surroundings<'a>,
    /// Which files may be found.
    pub(super) accept: &'a dyn Fn(u32) -> bool,
    pub(super) now: Timestamp,
}

impl Finder {
    /// The candidates of a query, best first. Equal scores are ordered by path and line.
    pub(super) fn rank(&self, state: &State, asked: &Asked<'_>) -> Result<Vec<Ranked>> {
        let accept = |id: u64| state.catalogue.entry(id).is_some_and(|entry| (asked.accept)(entry.file));
        let query = asked.vector.and_then(|vector| Query::new(vector).ok());
        let mut words = self.keyword.search(asked.text, CANDIDATES, Some(&accept)).map_err(unusable)?;
        let vectors = state.vectors.whole();
        let near = query.as_ref().map(|query| vectors.search(query, CANDIDATES, Some(&accept))).unwrap_or_default();
        let mut names = named(&state.catalogue, asked.text);
        names.retain(|id, _| accept(*id));
        let known: std::collections::HashSet<u64> = words.iter().map(|hit| hit.id).collect();
        let others: Vec<u64> =
            near.iter().map(|hit| hit.id).chain(names.keys().copied()).filter(|id| !known.contains(id)).collect();
        words.extend(self.keyword.scores(asked.text, &others).map_err(unusable)?);
        let ceiling = self.keyword.ceiling(asked.text).map_err(unusable)?;
        let cosine_of = |id: u64| query.as_ref().and_then(|query| vectors.similarity(id, query));
        let weights =
            Weights { keyword: asked.weights.keyword, vector: asked.weights.vector, neighbours: [0.0; 2], alike_max: 1.0 };
        let fused = fuse(&without_repeats(words), ceiling, &near, &cosine_of, &weights);
        let mut ranked: Vec<Ranked> = fused
            .hits
            .iter()
            .filter_map(|hit| {
                let identifier = asked.weights.identifier * names.get(&hit.id).copied().unwrap_or_default();
                let signals = Signals { keyword: hit.keyword, vector: hit.vector, identifier, ..Signals::default() };
                Some(Ranked { id: hit.id, file: state.catalogue.entry(hit.id)?.file, signals, cosine: hit.cosine })
            })
            .collect();
        lift(&mut ranked, asked);
        let place = |ranked: &Ranked| {
            let line = state.catalogue.entry(ranked.id).map(|entry| entry.start_line);
            (state.catalogue.file(ranked.file).map(|file| &file.path), line, ranked.id)
        };
        ranked.sort_by(|left, right| {
            right.signals.sum().total_cmp(&left.signals.sum()).then_with(|| place(left).cmp(&place(right)))
        });
        Ok(ranked)
    }
}

fn without_repeats(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| hit.id);
    hits.dedup_by_key(|hit| hit.id);
    hits
}

/// Adds the signals that come from other passages, from other files and from time. Only what passages have by themselves counts, so the
/// result does not depend on an order, and a gain does not spread on.
fn lift(ranked: &mut [Ranked], asked: &Asked<'_>) {
    let CodeWeights { sibling, graph, dependency, temporal, .. } = asked.weights;
    let average = ranked.iter().map(|one| one.signals.own()).sum::<f32>() / ranked.len().max(1) as f32;
    // The two best passages of each file.
    let mut files: BTreeMap<u32, [(f32, u64); 2]> = BTreeMap::new();
    for one in ranked.iter() {
        let [first, second] = files.entry(one.file).or_insert([(f32::NEG_INFINITY, 0); 2]);
        let own = (one.signals.own(), one.id);
        if own.0 > first.0 {
            (*first, *second) = (own, *first);
        } else if own.0 > second.0 {
            *second = own;
        }
    }
    let mut seeds: Vec<(f32, u32)> = files.iter().map(|(file, [first, _])| (first.0 - average, *file)).collect();
    seeds.retain(|(above, _)| *above > 0.0);
    seeds.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    seeds.truncate(SEEDS);
    let gains = |weight: f32, neighbours: &dyn Fn(u32) -> Vec<(u32, f32)>| {
        let mut gains: HashMap<u32, f32> = HashMap::new();
        for (above, seed) in seeds.iter().filter(|_| weight > 0.0) {
            for (file, share) in neighbours(*seed).into_iter().take(NEIGHBOURS_MAX).filter(|(file, _)| file != seed) {
                let gain = gains.entry(file).or_default();
                *gain = gain.max(weight * share.clamp(0.0, 1.0) * above);
            }
        }
        gains
    };
    let by_graph = if asked.types.graph { gains(graph, asked.around.neighbours_of) } else { HashMap::new() };
    let linked = |file: u32| (asked.around.linked_with)(file).into_iter().map(|file| (file, 1.0)).collect();
    let by_import = if asked.types.dependency { gains(dependency, &linked) } else { HashMap::new() };
    for one in ranked {
        if let Some([first, second]) = files.get(&one.file) {
            let best_other = if first.1 == one.id { second.0 } else { first.0 };
            one.signals.sibling = if best_other > average { sibling * (best_other - average) } else { 0.0 };
        }
        one.signals.graph = by_graph.get(&one.file).copied().unwrap_or_default();
        one.signals.dependency = by_import.get(&one.file).copied().unwrap_or_default();
        if asked.types.temporal
            && let Some(changed) = (asked.around.changed_at)(one.file)
        {
            let age = asked.now.ms().saturating_sub(changed.ms()).max(0) as f32;
            one.signals.temporal = temporal * one.signals.own().max(0.0) * (-age / HALF_LIFE_MS).exp2();
        }
    }
}
