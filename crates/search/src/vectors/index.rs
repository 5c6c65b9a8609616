//! The index: which slot holds which id, and what happens to slots that are free again.

use std::collections::{HashMap, VecDeque};

use super::VectorError;
use super::graph::Graph;
use super::quantised::{Quantised, Query, cosine};
use super::rows::Rows;
use super::scan::scan;
use crate::top::{Hit, Top};

/// Vectors from which on a graph is worth its memory and the linking: below, a scan takes few milliseconds and is exact.
const GRAPH_FROM: usize = 200_000;
/// Most vectors that are scanned beside the graph, because they are not linked yet.
const BACKLOG_MAX: usize = 8_192;
/// Candidates that the graph is asked for, at least.
const BREADTH_MIN: usize = 128;
/// More hits than this are scanned for: the graph would have to be walked through widely.
const GRAPH_LIMIT_MAX: usize = 200;
/// Ids that a filter is tried on, to learn how many it lets through, and the share from which on the graph is walked.
const FILTER_SAMPLE: usize = 256;
const FILTER_SHARE_MIN: f32 = 0.25;

/// Vectors of one project, model and dimension.
pub struct VectorIndex {
    rows: Rows,
    /// The id in each slot. That of a free slot means nothing.
    ids: Vec<u64>,
    slots: HashMap<u64, u32>,
    free: Vec<u32>,
    graph_from: usize,
    graph: Option<Linked>,
}

/// A graph and what it does not know yet.
#[derive(Default)]
struct Linked {
    graph: Graph,
    /// Slots that wait to be linked. Some may have been freed since.
    backlog: VecDeque<u32>,
    /// Slots whose vector is gone, and which stay unused because the graph leads through them.
    buried: Vec<u32>,
}

impl VectorIndex {
    /// An empty index for vectors of `dimension` components.
    pub fn new(dimension: usize) -> Self {
        Self::with_graph_from(dimension, GRAPH_FROM)
    }

    /// As [`VectorIndex::new`], with another number of vectors from which on a graph is linked.
    pub fn with_graph_from(dimension: usize, vectors: usize) -> Self {
        let (ids, slots, free) = (Vec::new(), HashMap::new(), Vec::new());
        Self { rows: Rows::new(dimension), ids, slots, free, graph_from: vectors, graph: None }
    }

    /// Puts a vector in place of the one that `id` had, if any.
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

    /// Forgets a vector. Its slot is used again: at once, or when the graph that leads through it is given up.
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

    /// The nearest `limit` vectors with their cosines, best first; of equal ones the smaller id first.
    ///
    /// A filter is asked only about ids that could be among the best, and what it refuses makes room for the next. The answer
    /// is exact, unless the index is so large that it has a graph and the filter lets most ids through.
    pub fn search(&self, query: &Query, limit: usize, filter: Option<&dyn Fn(u64) -> bool>) -> Vec<Hit> {
        let by_graph = self.graph.as_ref().filter(|linked| linked.backlog.len() <= BACKLOG_MAX && limit <= GRAPH_LIMIT_MAX);
        if let Some(linked) = by_graph
            && query.dimension() == self.dimension()
            && let Some(breadth) = self.breadth(limit, filter)
        {
            let hits = self.walk(linked, query, limit, breadth, filter);
            // A filter may have kept the walk from seeing enough.
            if hits.len() == limit {
                return hits;
            }
        }
        scan(&self.rows, &self.ids, &query.0, limit, filter.unwrap_or(&|_| true))
    }

    /// How many candidates to walk to, or none when so few pass the filter that a scan is better.
    fn breadth(&self, limit: usize, filter: Option<&dyn Fn(u64) -> bool>) -> Option<usize> {
        let breadth = BREADTH_MIN.max(2 * limit);
        let Some(filter) = filter else { return Some(breadth) };
        let sample = self.ids.iter().step_by((self.ids.len() / FILTER_SAMPLE).max(1));
        let (asked, passed) = sample.fold((0, 0), |(asked, passed), id| (asked + 1, passed + usize::from(filter(*id))));
        let share = passed as f32 / asked.max(1) as f32;
        (share >= FILTER_SHARE_MIN).then(|| (breadth as f32 / share) as usize)
    }

    /// The best of what the graph leads to, and of what waits to be linked.
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

    /// Brings the graph nearer to completion by linking at most `budget` vectors, and says how many still wait.
    ///
    /// A small index has no graph, and this does nothing. Linking takes some tenths of a millisecond a vector; until it is done
    /// queries are answered by scans. Call it now and then from a thread that may take its time.
    pub fn link(&mut self, budget: usize) -> usize {
        self.begin_or_end_graph();
        let Some(linked) = &mut self.graph else { return 0 };
        for _ in 0..budget {
            let Some(slot) = linked.backlog.pop_front() else { break };
            linked.graph.link(&self.rows, slot);
        }
        linked.backlog.len()
    }

    /// Drops a graph that the index has become too small for, or that leads through too much that is gone. Begins one when it is due.
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

    /// The cosine of one item to the query: none when it has no vector here, or the query another dimension.
    pub fn similarity(&self, id: u64, query: &Query) -> Option<f32> {
        let row = self.rows.row(*self.slots.get(&id)?)?;
        (query.dimension() == self.dimension()).then(|| cosine(row, query.0.row()))
    }

    /// Whether `id` has a vector here.
    pub fn contains(&self, id: u64) -> bool {
        self.slots.contains_key(&id)
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Components of each vector.
    pub fn dimension(&self) -> usize {
        self.rows.dimension()
    }

    /// Memory held, give or take the map's own bookkeeping.
    pub fn bytes(&self) -> usize {
        // A map of this kind spends one byte more than the pair on each place.
        let map = self.slots.capacity() * (size_of::<(u64, u32)>() + 1);
        let lists = self.ids.capacity() * size_of::<u64>() + self.free.capacity() * size_of::<u32>();
        let graph = self
            .graph
            .as_ref()
            .map_or(0, |linked| linked.graph.bytes() + (linked.backlog.capacity() + linked.buried.capacity()) * size_of::<u32>());
        self.rows.bytes() + lists + map + graph
    }
}
