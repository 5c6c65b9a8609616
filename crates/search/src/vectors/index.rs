//! The index: maps ids to slots and reuses free slots.

use std::collections::{HashMap, VecDeque};

use super::VectorError;
use super::graph::Graph;
use super::quantised::{Quantised, Query, components, cosine};
use super::rows::Rows;
use super::scan::scan;
use super::signs::scan_signs;
use crate::top::{Hit, Top};

/// The number of vectors from which a graph is worth its memory and time. Below that, a scan of signs takes about ten
/// milliseconds.
const GRAPH_FROM: usize = 2_000_000;
/// The number of vectors from which most are compared by their signs only. Below that, a full scan takes a few milliseconds and
/// is exact.
const SIGNS_FROM: usize = 200_000;
/// The maximum number of unlinked vectors to scan in addition to the graph.
const BACKLOG_MAX: usize = 8_192;
/// The minimum number of candidates from the graph.
const BREADTH_MIN: usize = 128;
/// Queries for more hits than this use a scan, because the graph walk would have to be too wide.
const GRAPH_LIMIT_MAX: usize = 200;
/// The number of ids to sample a filter on, and the share of accepted ids from which the graph is used.
const FILTER_SAMPLE: usize = 256;
const FILTER_SHARE_MIN: f32 = 0.25;

/// Vectors of one project, model and dimension.
pub struct VectorIndex {
    rows: Rows,
    /// The id in each slot. The id of a free slot has no meaning.
    ids: Vec<u64>,
    slots: HashMap<u64, u32>,
    free: Vec<u32>,
    signs_from: usize,
    graph_from: usize,
    graph: Option<Linked>,
}

/// A graph and its backlog.
#[derive(Default)]
struct Linked {
    graph: Graph,
    /// Slots that wait to be linked. Some may be free by now.
    backlog: VecDeque<u32>,
    /// Slots of removed vectors. They stay unused, because the graph leads through them.
    buried: Vec<u32>,
}

impl VectorIndex {
    /// An empty index for vectors of `dimension` components.
    pub fn new(dimension: usize) -> Self {
        Self::with_thresholds(dimension, SIGNS_FROM, GRAPH_FROM)
    }

    /// Same as [`VectorIndex::new`], with other thresholds for the comparison of signs and for the graph.
    pub fn with_thresholds(dimension: usize, signs_from: usize, graph_from: usize) -> Self {
        let (ids, slots, free) = (Vec::new(), HashMap::new(), Vec::new());
        Self { rows: Rows::new(dimension), ids, slots, free, signs_from, graph_from, graph: None }
    }

    /// Replaces the vector of `id`, if there is one.
    pub fn upsert(&mut self, id: u64, vector: &[f32]) -> Result<(), VectorError> {
        if vector.len() != self.dimension() {
            return Err(VectorError::Dimension { expected: self.dimension(), found: vector.len() });
        }
        let vector = Quantised::new(vector)?;
        if let Some(slot) = self.slots.get(&id).copied() {
            if !self.is_linked(slot) {
                self.rows.set(slot, &vector);
                return Ok(());
            }
            self.remove(id);
        }
        let slot = match self.free.pop() {
            Some(slot) => {
                self.rows.set(slot, &vector);
                slot
            }
            None => {
                self.rows.push(&vector);
                self.ids.push(id);
                self.rows.len() as u32 - 1
            }
        };
        if let Some(place) = self.ids.get_mut(slot as usize) {
            *place = id;
        }
        self.slots.insert(id, slot);
        if let Some(linked) = &mut self.graph {
            linked.backlog.push_back(slot);
        }
        Ok(())
    }

    /// Removes a vector. Its slot is reused at once, or when the graph that leads through it is dropped.
    pub fn remove(&mut self, id: u64) -> bool {
        let Some(slot) = self.slots.remove(&id) else { return false };
        self.rows.hide(slot);
        match &mut self.graph {
            Some(linked) if linked.graph.is_linked(slot) => linked.buried.push(slot),
            Some(linked) => {
                linked.backlog.retain(|waiting| *waiting != slot);
                self.free.push(slot);
            }
            None => self.free.push(slot),
        }
        true
    }

    /// The nearest `limit` vectors with their cosines, best first. Equal cosines are ordered by id.
    ///
    /// The filter is called only for ids that could be among the best. The next vector takes the place of a refused one. The
    /// result is exact, unless the index is large and the filter accepts most ids.
    pub fn search(&self, query: &Query, limit: usize, filter: Option<&dyn Fn(u64) -> bool>) -> Vec<Hit> {
        let by_graph = self.graph.as_ref().filter(|linked| linked.backlog.len() <= BACKLOG_MAX && limit <= GRAPH_LIMIT_MAX);
        if let Some(linked) = by_graph
            && query.dimension() == self.dimension()
            && let Some(breadth) = self.breadth(limit, filter)
        {
            let hits = self.walk(linked, query, limit, breadth, filter);
            // The filter may have hidden too many candidates from the walk.
            if hits.len() == limit {
                return hits;
            }
        }
        let accept = filter.unwrap_or(&|_| true);
        if self.rows.len() >= self.signs_from {
            let hits = scan_signs(&self.rows, &self.ids, &query.0, limit, accept);
            // The filter may have refused nearly all that were measured.
            if hits.len() == limit {
                return hits;
            }
        }
        scan(&self.rows, &self.ids, &query.0, limit, accept)
    }

    /// The number of candidates for the walk, or `None` if a scan is better because few ids pass the filter.
    fn breadth(&self, limit: usize, filter: Option<&dyn Fn(u64) -> bool>) -> Option<usize> {
        let breadth = BREADTH_MIN.max(2 * limit);
        let Some(filter) = filter else { return Some(breadth) };
        let sample = self.ids.iter().step_by((self.ids.len() / FILTER_SAMPLE).max(1));
        let (asked, passed) = sample.fold((0, 0), |(asked, passed), id| (asked + 1, passed + usize::from(filter(*id))));
        let share = passed as f32 / asked.max(1) as f32;
        (share >= FILTER_SHARE_MIN).then(|| (breadth as f32 / share) as usize)
    }

    /// The best of the graph's candidates and of the unlinked vectors.
    fn walk(
        &self,
        linked: &Linked,
        query: &Query,
        limit: usize,
        breadth: usize,
        filter: Option<&dyn Fn(u64) -> bool>,
    ) -> Vec<Hit> {
        let mut top = Top::new(limit);
        let near = linked.graph.search(&self.rows, query.0.row(), breadth);
        for slot in near.iter().map(|near| near.slot).chain(linked.backlog.iter().copied()) {
            if let (Some(row), Some(id)) = (self.rows.row(slot), self.ids.get(slot as usize).copied())
                && self.slots.get(&id) == Some(&slot)
                && filter.is_none_or(|filter| filter(id))
            {
                top.offer(Hit { id, score: cosine(row, query.0.row()) });
            }
        }
        top.into_hits()
    }

    /// Links at most `budget` vectors into the graph, and returns how many still wait.
    ///
    /// A small index has no graph, so this does nothing. Linking takes a few tenths of a millisecond per vector. Until it is
    /// done, scans answer queries. Call it at intervals on a blocking thread.
    pub fn link(&mut self, budget: usize) -> usize {
        self.begin_or_end_graph();
        let Some(linked) = &mut self.graph else { return 0 };
        for _ in 0..budget {
            let Some(slot) = linked.backlog.pop_front() else { break };
            linked.graph.link(&self.rows, slot);
        }
        linked.backlog.len()
    }

    /// Drops a graph if the index is too small for it or too many of its slots are removed. Starts one if it is due.
    fn begin_or_end_graph(&mut self) {
        let (vectors, from) = (self.slots.len(), self.graph_from);
        let outlived = |linked: &mut Linked| vectors < from / 2 || linked.buried.len() > vectors / 4;
        if let Some(linked) = self.graph.take_if(outlived) {
            self.free.extend(linked.buried);
        }
        if self.graph.is_none() && vectors >= from {
            let mut backlog: Vec<u32> = self.slots.values().copied().collect();
            backlog.sort_unstable();
            self.graph = Some(Linked { backlog: backlog.into(), ..Linked::default() });
        }
    }

    fn is_linked(&self, slot: u32) -> bool {
        self.graph.as_ref().is_some_and(|linked| linked.graph.is_linked(slot))
    }

    /// The cosine of one item and the query; `None` if it has no vector or the dimensions differ.
    pub fn similarity(&self, id: u64, query: &Query) -> Option<f32> {
        let row = self.rows.row(*self.slots.get(&id)?)?;
        (query.dimension() == self.dimension()).then(|| cosine(row, query.0.row()))
    }

    /// The cosine of two vectors of the index.
    pub fn similarity_of(&self, one: u64, other: u64) -> Option<f32> {
        let row = |id: u64| self.rows.row(*self.slots.get(&id)?);
        Some(cosine(row(one)?, row(other)?))
    }

    /// The vector of an item, of length one.
    pub fn vector(&self, id: u64) -> Option<Vec<f32>> {
        self.rows.row(*self.slots.get(&id)?).map(components)
    }

    /// Whether `id` has a vector here.
    pub fn contains(&self, id: u64) -> bool {
        self.slots.contains_key(&id)
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The number of components of each vector.
    pub fn dimension(&self) -> usize {
        self.rows.dimension()
    }

    /// The approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        // Such a map uses one extra byte per place.
        let map = self.slots.capacity() * (size_of::<(u64, u32)>() + 1);
        let lists = self.ids.capacity() * size_of::<u64>() + self.free.capacity() * size_of::<u32>();
        let graph = self
            .graph
            .as_ref()
            .map_or(0, |linked| linked.graph.bytes() + (linked.backlog.capacity() + linked.buried.capacity()) * size_of::<u32>());
        self.rows.bytes() + lists + map + graph
    }
}
