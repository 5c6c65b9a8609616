//! Distances from many sources without sorting all nodes by distance.
//!
//! This is the bounded multi-source shortest path of Duan, Mao, Mao, Shu and Yin, "Breaking the Sorting Barrier for Directed
//! Single-Source Shortest Paths" (2025). Names in the paper: a search at a level is BMSSP, the smallest one is BaseCase,
//! `find_pivots` is FindPivots, [`Blocks`] is the data structure of Lemma 3.3. Four things differ from the paper:
//!
//! - **Its transformation to nodes of constant degree is not applied.** So its bound of O(m log^(2/3) n) does not hold for graphs
//!   with large degrees. The distances are exact all the same.
//! - FindPivots stops as soon as it has found too many nodes, not at the end of the round: a node can have many edges here.
//! - Searches also stop when they have found as many nodes as the caller wants.
//! - A node that moves up in a queue leaves its old key behind, which is dropped later.
//!
//! The paper assumes that no two paths have the same length. The order of [`Key`] provides for that.

use crate::Node;
use crate::blocks::Blocks;
use crate::distances::{Distances, Within};
use crate::heap::Heap;
use crate::labels::{Arc, Key, Labels};
use crate::pivots::Marks;
use crate::storage::Graph;

/// The most bits to shift by: no graph has so many nodes.
const SHIFT_MAX: u32 = 48;

/// The distances from `sources`, each with its start distance, by bounded multi-source shortest paths. It answers the same as
/// [`crate::dijkstra()`], with the same rules for weights, sources and limits.
///
/// It does fewer operations on ordered queues and compares fewer distances, but it tries every edge about three times. Which of the
/// two takes less time depends on the graph, and usually it is [`crate::dijkstra()`]: `examples/fre_operations.rs` shows both.
pub fn fre<E>(
    graph: &Graph<E>,
    sources: &[(Node, f64)],
    within: &Within,
    allow: impl Fn(&E) -> bool,
    weight: impl Fn(&E) -> f64,
) -> Distances {
    let mut labels = Labels::new(graph, within, allow, weight);
    let starts = labels.start(sources);
    let logarithm = (graph.node_count().max(2) as f64).log2();
    let width = (logarithm.powf(2.0 / 3.0) as u32).max(1);
    let mut search = Search {
        labels,
        steps: (logarithm.cbrt() as usize).max(1),
        width,
        wanted: within.nodes_max.saturating_add(1),
        done: 0,
        heap: Heap::default(),
        arcs: Vec::new(),
        lists: Vec::new(),
        marks: Marks::default(),
        round: Marks::default(),
    };
    let level = (logarithm / f64::from(width)).ceil() as u32;
    let (_, mut found) = search.level(level.max(1), Key::LAST, &starts);
    let truncated = found.len() > within.nodes_max;
    if truncated {
        // Everything that is nearer than the last node of the search is among the found nodes, but in no order.
        let labels = &search.labels;
        found.select_nth_unstable_by_key(within.nodes_max, |number| labels.key(*number));
        found.truncate(within.nodes_max);
    }
    search.labels.answer(&found, truncated)
}

pub(crate) struct Search<'a, E, A, W> {
    pub(crate) labels: Labels<'a, E, A, W>,
    /// The paper's k = ⌊log^(1/3) n⌋: how many steps FindPivots takes, and how many nodes the smallest search finds.
    pub(crate) steps: usize,
    /// The paper's t = ⌊log^(2/3) n⌋: a level has 2^t times the sources of the level below.
    width: u32,
    /// The search can stop when this many nodes are done.
    wanted: usize,
    done: usize,
    heap: Heap,
    /// The edges of all nodes whose edges were asked for. Edges are tried several times, so they are looked up only once.
    arcs: Vec<Arc>,
    /// For each node the start and the end of its edges in `arcs`.
    lists: Vec<Option<(usize, usize)>>,
    pub(crate) marks: Marks,
    pub(crate) round: Marks,
}

impl<E, A: Fn(&E) -> bool, W: Fn(&E) -> f64> Search<'_, E, A, W> {
    /// Finds nodes before `bound` that are reached through `starts`. Returns a key and all these nodes before that key. The key is
    /// the bound, unless there are more nodes than a search at this level is to find.
    ///
    /// Levels call lower levels. There are less than ten, however large the graph is.
    fn level(&mut self, level: u32, bound: Key, starts: &[u32]) -> (Key, Vec<u32>) {
        let Some(below) = level.checked_sub(1) else { return self.smallest(bound, starts) };
        let (pivots, near) = self.find_pivots(bound, starts);
        let mut queue = Blocks::new(1 << (below * self.width).min(SHIFT_MAX), bound);
        for pivot in pivots {
            if let Some(key) = self.labels.key(pivot) {
                self.insert(&mut queue, key);
            }
        }
        let most = self.steps.saturating_mul(1 << (level * self.width).min(SHIFT_MAX));
        let (mut end, mut found) = (bound, Vec::new());
        while found.len() < most && self.done < self.wanted {
            let Some((limit, starts)) = self.pull(&mut queue) else {
                end = bound;
                break;
            };
            let (inner_end, inner) = self.level(below, limit, &starts);
            end = inner_end;
            let mut batch = self.expand(&inner, &mut queue, inner_end, limit, bound);
            batch.extend(starts.iter().filter_map(|start| self.labels.key(*start)).filter(|key| *key >= inner_end));
            batch.retain(|key| self.labels.is_open(key));
            queue.prepend(batch, &mut self.labels.counters);
            found.extend(inner);
        }
        // What FindPivots has found is complete up to here, but not all of it was reached again through a pivot.
        for number in near {
            if self.labels.key(number).is_some_and(|key| key < end) && self.finish(number) {
                found.push(number);
            }
        }
        (end, found)
    }

    /// Tries all edges of nodes that a lower level has found. Ends from `limit` on are queued. Ends that the lower level left to
    /// us, from `inner_end` on, are returned.
    fn expand(&mut self, inner: &[u32], queue: &mut Blocks, inner_end: Key, limit: Key, bound: Key) -> Vec<Key> {
        let mut batch = Vec::new();
        for number in inner {
            let (start, end) = self.edges(*number);
            for place in start..end {
                let Some(key) = self.relax(*number, place) else { continue };
                if key >= limit {
                    if key < bound {
                        self.insert(queue, key);
                    }
                } else if key >= inner_end {
                    batch.push(key);
                }
            }
        }
        batch
    }

    /// The nearest nodes before `bound` from the only start, as many as the paper's k.
    fn smallest(&mut self, bound: Key, starts: &[u32]) -> (Key, Vec<u32>) {
        for start in starts {
            if let Some(key) = self.labels.key(*start) {
                self.heap.push(key, &mut self.labels.counters);
            }
        }
        let (mut end, mut found) = (bound, Vec::new());
        while let Some(key) = self.heap.pop(&mut self.labels.counters) {
            if found.len() >= self.steps {
                end = key;
                break;
            }
            self.finish(key.number);
            found.push(key.number);
            let (first, last) = self.edges(key.number);
            for place in first..last {
                if let Some(reached) = self.relax(key.number, place).filter(|reached| *reached < bound) {
                    self.heap.push(reached, &mut self.labels.counters);
                }
            }
        }
        self.heap.clear();
        (end, found)
    }

    /// The start and the end of a node's edges in `arcs`.
    pub(crate) fn edges(&mut self, number: u32) -> (usize, usize) {
        let place = number as usize;
        if place >= self.lists.len() {
            self.lists.resize(place + 1, None);
        }
        if let Some(Some(known)) = self.lists.get(place) {
            return *known;
        }
        let start = self.arcs.len();
        self.labels.arcs(number, &mut self.arcs);
        let list = (start, self.arcs.len());
        if let Some(slot) = self.lists.get_mut(place) {
            *slot = Some(list);
        }
        list
    }

    /// Tries an edge of a node, by its place in `arcs`.
    #[inline]
    pub(crate) fn relax(&mut self, from: u32, place: usize) -> Option<Key> {
        self.labels.relax(from, self.arcs.get(place)?)
    }

    fn finish(&mut self, number: u32) -> bool {
        let is_new = self.labels.finish(number);
        self.done += usize::from(is_new);
        is_new
    }

    fn insert(&mut self, queue: &mut Blocks, key: Key) {
        let mut counters = self.labels.counters;
        queue.insert(key, |key| self.labels.is_open(key), &mut counters);
        self.labels.counters = counters;
    }

    fn pull(&mut self, queue: &mut Blocks) -> Option<(Key, Vec<u32>)> {
        let (labels, marks) = (&self.labels, &mut self.marks);
        let mut counters = labels.counters;
        marks.clear();
        let pulled = queue.pull(|key| labels.is_open(key) && marks.insert(key.number, 0), &mut counters);
        self.labels.counters = counters;
        pulled.map(|(limit, keys)| (limit, keys.into_iter().map(|key| key.number).collect()))
    }
}
