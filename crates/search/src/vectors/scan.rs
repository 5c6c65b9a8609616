//! The flat scan: exact, and fast because the upper plane alone rules out most rows.

use simd::dots_i8;

use super::quantised::{Quantised, cosine, error_bound};
use super::rows::{BLOCK_ROWS, Rows};
use crate::top::{Hit, Top};

/// The number of candidates before the first pruning.
const CANDIDATES_MIN: usize = 256;

/// A row that may be among the best. Its cosine is between the two bounds.
pub(super) struct Candidate {
    pub(super) slot: u32,
    pub(super) least: f32,
    pub(super) most: f32,
}

/// The best `limit` rows with an accepted id. `ids` has the id of each slot.
pub(super) fn scan(rows: &Rows, ids: &[u64], query: &Quantised, limit: usize, accept: &dyn Fn(u64) -> bool) -> Vec<Hit> {
    if limit == 0 || query.upper.len() != rows.dimension() {
        return Vec::new();
    }
    let mut candidates = Candidates::new(limit);
    scan_blocks(rows, ids, query, 0, accept, &mut candidates);
    measure(rows, ids, query, candidates.finish(), limit)
}

/// Collects the rows from block number `from` on that may be among the best.
pub(super) fn scan_blocks(
    rows: &Rows,
    ids: &[u64],
    query: &Quantised,
    from: usize,
    accept: &dyn Fn(u64) -> bool,
    candidates: &mut Candidates,
) {
    let (fixed, factor) = error_bound(query);
    let mut products = [0_i32; BLOCK_ROWS];
    let blocks = rows.blocks().iter().zip(ids.chunks(BLOCK_ROWS)).zip((0_u32..).step_by(BLOCK_ROWS));
    for ((block, ids), first) in blocks.skip(from) {
        let Some(products) = products.get_mut(..block.steps.len()) else { continue };
        dots_i8(&query.upper, &block.upper, products);
        let bounds = products.iter().zip(&block.steps).zip(&block.slacks);
        for ((((product, step), slack), id), slot) in bounds.zip(ids).zip(first..) {
            let (coarse, error) = (*product as f32 * (step * query.step), fixed + factor * slack);
            if coarse + error >= candidates.floor && *slack >= 0.0 && accept(*id) {
                candidates.push(Candidate { slot, least: coarse - error, most: coarse + error });
            }
        }
    }
}

/// Measures candidates from the best bound down, until the rest cannot be among the best.
pub(super) fn measure(rows: &Rows, ids: &[u64], query: &Quantised, candidates: Vec<Candidate>, limit: usize) -> Vec<Hit> {
    let mut top = Top::new(limit);
    for candidate in candidates {
        if candidate.most < top.floor() {
            break;
        }
        if let (Some(row), Some(id)) = (rows.row(candidate.slot), ids.get(candidate.slot as usize)) {
            top.offer(Hit { id: *id, score: cosine(row, query.row()) });
        }
    }
    top.into_hits()
}

/// Candidates, pruned whenever there are too many.
pub(super) struct Candidates {
    limit: usize,
    kept: Vec<Candidate>,
    /// The minimum of the `limit` best. A row that cannot reach it is skipped.
    pub(super) floor: f32,
    full: usize,
}

impl Candidates {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), floor: f32::NEG_INFINITY, full: CANDIDATES_MIN.max(2 * limit) }
    }

    pub(super) fn push(&mut self, candidate: Candidate) {
        self.kept.push(candidate);
        if self.kept.len() >= self.full {
            self.thin_out();
            self.full = CANDIDATES_MIN.max(2 * self.kept.len());
        }
    }

    fn thin_out(&mut self) {
        if self.kept.len() > self.limit {
            let (_, at_limit, _) =
                self.kept.select_nth_unstable_by(self.limit - 1, |left, right| right.least.total_cmp(&left.least));
            self.floor = self.floor.max(at_limit.least);
            let floor = self.floor;
            self.kept.retain(|candidate| candidate.most >= floor);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Candidate> {
        self.thin_out();
        self.kept.sort_unstable_by(|left, right| right.most.total_cmp(&left.most));
        self.kept
    }
}
