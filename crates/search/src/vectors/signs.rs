//! The search of a large index: the signs of all components first, then a closer look at the rows that agree in most of them.
//!
//! The signs of a row are one bit per component, so reading those of a million rows takes a few milliseconds. This is not
//! exact: a row with many small components of the other sign may be missed. So many more rows are measured than are wanted.

use simd::{add_differing_bits, dot_i8};

use super::quantised::{Quantised, error_bound};
use super::rows::{BLOCK_ROWS, Rows};
use super::scan::{Candidate, Candidates, measure, scan_blocks};
use crate::top::Hit;

/// The minimum number of rows to measure, and the minimum for each wanted one.
const MEASURED_MIN: usize = 8_192;
const MEASURED_EACH: usize = 64;

/// The number of bits in a word of signs.
pub(super) const WORD: usize = u64::BITS as usize;

/// The signs of a vector, one bit per component.
pub(super) fn signs(upper: &[i8]) -> impl Iterator<Item = u64> {
    upper.chunks(WORD).map(|part| part.iter().rev().fold(0, |word, component| word << 1 | u64::from(*component < 0)))
}

/// About the best `limit` rows with an accepted id, or fewer if the filter accepts only few of the rows that agree most.
pub(super) fn scan_signs(rows: &Rows, ids: &[u64], query: &Quantised, limit: usize, accept: &dyn Fn(u64) -> bool) -> Vec<Hit> {
    if limit == 0 || query.upper.len() != rows.dimension() {
        return Vec::new();
    }
    let words: Vec<u64> = signs(&query.upper).collect();
    // The last block has no signs until it is full.
    let full = rows.len() / BLOCK_ROWS;
    let mut counts = vec![0_u32; full * BLOCK_ROWS];
    let mut histogram = vec![0_usize; rows.dimension() + 1];
    for (counts, block) in counts.chunks_mut(BLOCK_ROWS).zip(rows.blocks()) {
        for (word, column) in words.iter().zip(block.signs.chunks(BLOCK_ROWS)) {
            add_differing_bits(*word, column, counts);
        }
        for count in counts.iter() {
            if let Some(rows) = histogram.get_mut(*count as usize) {
                *rows += 1;
            }
        }
    }
    let wanted = MEASURED_MIN.max(limit.saturating_mul(MEASURED_EACH));
    let sums = histogram.iter().scan(0, |sum: &mut usize, rows| {
        *sum += rows;
        Some(*sum)
    });
    let most = sums.take_while(|sum| *sum < wanted).count() as u32;
    let (fixed, factor) = error_bound(query);
    let mut candidates = Candidates::new(limit);
    for ((counts, block), first) in counts.chunks(BLOCK_ROWS).zip(rows.blocks()).zip((0_u32..).step_by(BLOCK_ROWS)) {
        let near = counts.iter().enumerate().filter(|(_, count)| **count <= most);
        for (row, _) in near {
            let slot = first + row as u32;
            let Some((upper, step, slack)) = block.upper_of(row, rows.dimension()) else { continue };
            let (coarse, error) = (dot_i8(&query.upper, upper) as f32 * (step * query.step), fixed + factor * slack);
            if coarse + error >= candidates.floor
                && slack >= 0.0
                && let Some(id) = ids.get(slot as usize)
                && accept(*id)
            {
                candidates.push(Candidate { slot, least: coarse - error, most: coarse + error });
            }
        }
    }
    scan_blocks(rows, ids, query, full, accept, &mut candidates);
    measure(rows, ids, query, candidates.finish(), limit)
}
