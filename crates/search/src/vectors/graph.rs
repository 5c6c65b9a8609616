//! An HNSW graph over the upper planes, for indexes that are too large to scan.
//!
//! It stores only links between slots, so it can be dropped at any time and rebuilt from the rows. It gives candidates, which
//! the index measures with both planes. Removed rows stay in it as stepping stones.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use simd::dot_i8;

use super::quantised::Row;
use super::rows::Rows;

/// The maximum number of links of a node on the upper levels and on the lowest level, which has all nodes.
const LINKS: usize = 16;
const LINKS_BASE: usize = 32;
/// The number of candidates for a new node's links.
const BREADTH_LINKING: usize = 128;
/// No link. Slots never get that high: four billion rows do not fit into memory.
const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(super) struct Graph {
    /// The lowest level: a fixed number of link places per slot.
    base: Vec<u32>,
    /// The upper levels, for the few slots on them.
    upper: HashMap<u32, Vec<Vec<u32>>>,
    linked: Vec<bool>,
    entry: Option<u32>,
}

/// A slot and its dot product with the query: larger is nearer.
#[derive(Clone, Copy)]
pub(super) struct Near {
    pub(super) slot: u32,
    product: f32,
}

impl Graph {
    pub(super) fn is_linked(&self, slot: u32) -> bool {
        self.linked.get(slot as usize).copied().unwrap_or(false)
    }

    pub(super) fn bytes(&self) -> usize {
        let upper = self.upper.values().map(|levels| levels.len() * (LINKS * size_of::<u32>() + size_of::<Vec<u32>>()) + 64);
        self.base.capacity() * size_of::<u32>() + self.linked.capacity() + upper.sum::<usize>()
    }

    /// The nearest slots, about `breadth` of them, best first.
    pub(super) fn search(&self, rows: &Rows, query: Row<'_>, breadth: usize) -> Vec<Near> {
        let Some(entry) = self.entry else { return Vec::new() };
        let mut nearest = vec![measured(rows, entry, query)];
        for level in (1..=level_of(entry)).rev() {
            nearest = self.search_level(rows, query, &nearest, 1, level);
        }
        self.search_level(rows, query, &nearest, breadth, 0)
    }

    /// Links a slot into the graph.
    pub(super) fn link(&mut self, rows: &Rows, slot: u32) {
        let Some(row) = rows.row(slot) else { return };
        let own_level = level_of(slot);
        let places = (slot as usize + 1) * LINKS_BASE;
        if self.base.len() < places {
            self.base.resize(places, NONE);
            self.linked.resize(slot as usize + 1, false);
        }
        if own_level > 0 {
            self.upper.insert(slot, vec![Vec::new(); own_level]);
        }
        if let Some(entry) = self.entry {
            let mut nearest = vec![measured(rows, entry, row)];
            for level in (0..=level_of(entry)).rev() {
                if level > own_level {
                    nearest = self.search_level(rows, row, &nearest, 1, level);
                } else {
                    nearest = self.search_level(rows, row, &nearest, BREADTH_LINKING, level);
                    self.connect(rows, slot, &nearest, level);
                }
            }
        }
        if let Some(linked) = self.linked.get_mut(slot as usize) {
            *linked = true;
        }
        if self.entry.is_none_or(|entry| own_level > level_of(entry)) {
            self.entry = Some(slot);
        }
    }

    /// Links a new slot with the best of its neighbours in both directions.
    fn connect(&mut self, rows: &Rows, slot: u32, nearest: &[Near], level: usize) {
        let chosen = spread(rows, nearest, LINKS);
        self.set_links(slot, level, &chosen);
        let most = if level == 0 { LINKS_BASE } else { LINKS };
        for neighbour in chosen {
            let Some(row) = rows.row(neighbour.slot) else { continue };
            let links = self.links(neighbour.slot, level);
            let mut all: Vec<Near> = Vec::with_capacity(links.len() + 1);
            all.push(Near { slot, product: neighbour.product });
            all.extend(links.iter().map(|link| measured(rows, *link, row)));
            if all.len() > most {
                all.sort_unstable_by(|left, right| right.cmp(left));
                all = spread(rows, &all, most);
            }
            self.set_links(neighbour.slot, level, &all);
        }
    }

    /// The best nodes of one level that are reachable from `from`, best first.
    fn search_level(&self, rows: &Rows, query: Row<'_>, from: &[Near], breadth: usize, level: usize) -> Vec<Near> {
        let mut seen = Seen::new(rows.len());
        let mut open: BinaryHeap<Near> = BinaryHeap::new();
        let mut found: BinaryHeap<Reverse<Near>> = BinaryHeap::new();
        for near in from {
            if seen.insert(near.slot) {
                open.push(*near);
                found.push(Reverse(*near));
            }
        }
        while let Some(nearest) = open.pop() {
            if found.len() >= breadth && found.peek().is_some_and(|worst| nearest < worst.0) {
                break;
            }
            for link in self.links(nearest.slot, level) {
                if !seen.insert(*link) {
                    continue;
                }
                let near = measured(rows, *link, query);
                if found.len() < breadth || found.peek().is_some_and(|worst| near > worst.0) {
                    open.push(near);
                    found.push(Reverse(near));
                    if found.len() > breadth {
                        found.pop();
                    }
                }
            }
        }
        let mut found: Vec<Near> = found.into_iter().map(|near| near.0).collect();
        found.sort_unstable_by(|left, right| right.cmp(left));
        found
    }

    fn links(&self, slot: u32, level: usize) -> &[u32] {
        if level > 0 {
            return self.upper.get(&slot).and_then(|levels| levels.get(level - 1)).map(Vec::as_slice).unwrap_or_default();
        }
        let places = self.base.get(slot as usize * LINKS_BASE..(slot as usize + 1) * LINKS_BASE).unwrap_or_default();
        let used = places.iter().position(|link| *link == NONE).unwrap_or(places.len());
        places.get(..used).unwrap_or_default()
    }

    fn set_links(&mut self, slot: u32, level: usize, links: &[Near]) {
        if level > 0 {
            if let Some(place) = self.upper.get_mut(&slot).and_then(|levels| levels.get_mut(level - 1)) {
                *place = links.iter().map(|near| near.slot).collect();
            }
        } else if let Some(places) = self.base.get_mut(slot as usize * LINKS_BASE..(slot as usize + 1) * LINKS_BASE) {
            let links = links.iter().map(|near| near.slot).chain(std::iter::repeat(NONE));
            places.iter_mut().zip(links).for_each(|(place, link)| *place = link);
        }
    }
}

fn measured(rows: &Rows, slot: u32, query: Row<'_>) -> Near {
    let product = rows.row(slot).map_or(f32::NEG_INFINITY, |row| product(row, query));
    Near { slot, product }
}

fn product(left: Row<'_>, right: Row<'_>) -> f32 {
    dot_i8(left.upper, right.upper) as f32 * (left.step * right.step)
}

/// Selects candidates, best first, that lead in different directions: one that is nearer to a selected candidate than to the
/// centre is reachable through it. Free places go to the best of the rest, so that dense clusters stay well connected.
fn spread(rows: &Rows, candidates: &[Near], most: usize) -> Vec<Near> {
    let (mut chosen, mut rest): (Vec<(Near, Row<'_>)>, Vec<Near>) = (Vec::with_capacity(most), Vec::new());
    for candidate in candidates {
        let Some(row) = rows.row(candidate.slot) else { continue };
        if chosen.len() >= most {
            break;
        }
        if chosen.iter().all(|(_, other)| product(row, *other) < candidate.product) {
            chosen.push((*candidate, row));
        } else {
            rest.push(*candidate);
        }
    }
    let free = most - chosen.len();
    chosen.into_iter().map(|(near, _)| near).chain(rest.into_iter().take(free)).collect()
}

/// The highest level of a slot: one in sixteen is on the next level. It depends only on the slot, so equal histories give equal
/// graphs.
fn level_of(slot: u32) -> usize {
    let mut mixed = (u64::from(slot) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ (mixed >> 29)).trailing_zeros() / LINKS.ilog2()) as usize
}

/// A set of slots.
struct Seen(Vec<u64>);

impl Seen {
    fn new(slots: usize) -> Self {
        Self(vec![0; slots.div_ceil(64)])
    }

    /// False if it was already in the set.
    fn insert(&mut self, slot: u32) -> bool {
        let Some(word) = self.0.get_mut(slot as usize / 64) else { return false };
        let before = *word;
        *word |= 1 << (slot % 64);
        before != *word
    }
}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> Ordering {
        self.product.total_cmp(&other.product).then(other.slot.cmp(&self.slot))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Near {}
