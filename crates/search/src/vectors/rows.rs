//! The memory of the planes: blocks of rows, with each plane of a block contiguous.
//!
//! The memory of a full block never moves, so a growing index is never in memory twice.

use super::quantised::{Quantised, Row};
use super::signs::{WORD, signs};

/// The number of rows in a block: large enough for fast scans, small enough for cheap growth.
pub(super) const BLOCK_ROWS: usize = 1_024;

pub(super) struct Rows {
    dimension: usize,
    blocks: Vec<Block>,
    len: usize,
}

/// Rows of consecutive slots.
pub(super) struct Block {
    pub(super) upper: Vec<i8>,
    lower: Vec<i8>,
    pub(super) steps: Vec<f32>,
    /// Minus infinity marks a removed row: no bound computed from it is ever among the best.
    pub(super) slacks: Vec<f32>,
    /// The signs of a full block, else nothing: the first word of every row, then the second of every row, and so on.
    pub(super) signs: Vec<u64>,
}

impl Block {
    fn new() -> Self {
        Self { upper: Vec::new(), lower: Vec::new(), steps: Vec::new(), slacks: Vec::new(), signs: Vec::new() }
    }

    /// The upper plane of a row, its step and its slack.
    pub(super) fn upper_of(&self, row: usize, dimension: usize) -> Option<(&[i8], f32, f32)> {
        let upper = self.upper.get(row * dimension..(row + 1) * dimension)?;
        Some((upper, *self.steps.get(row)?, *self.slacks.get(row)?))
    }

    fn set_signs(&mut self, row: usize, upper: &[i8]) {
        for (column, word) in self.signs.chunks_mut(BLOCK_ROWS).zip(signs(upper)) {
            if let Some(place) = column.get_mut(row) {
                *place = word;
            }
        }
    }

    /// Adds the signs of all rows.
    fn add_signs(&mut self, dimension: usize) {
        self.signs = vec![0; dimension.div_ceil(WORD) * BLOCK_ROWS];
        let upper = std::mem::take(&mut self.upper);
        for (row, upper) in upper.chunks(dimension.max(1)).enumerate() {
            self.set_signs(row, upper);
        }
        self.upper = upper;
    }
}

impl Rows {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, blocks: Vec::new(), len: 0 }
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Appends a row.
    pub(super) fn push(&mut self, vector: &Quantised) {
        if self.len.is_multiple_of(BLOCK_ROWS) {
            self.blocks.push(Block::new());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.upper.extend_from_slice(&vector.upper);
            block.lower.extend_from_slice(&vector.lower);
            block.steps.push(vector.step);
            block.slacks.push(vector.slack);
            self.len += 1;
            if block.steps.len() == BLOCK_ROWS {
                block.add_signs(self.dimension);
            }
        }
    }

    /// Overwrites a row.
    pub(super) fn set(&mut self, slot: u32, vector: &Quantised) {
        let (dimension, row) = (self.dimension, slot as usize % BLOCK_ROWS);
        let Some(block) = self.blocks.get_mut(slot as usize / BLOCK_ROWS) else { return };
        for (plane, source) in [(&mut block.upper, &vector.upper), (&mut block.lower, &vector.lower)] {
            if let Some(target) = plane.get_mut(row * dimension..(row + 1) * dimension) {
                target.copy_from_slice(source);
            }
        }
        if let (Some(step), Some(slack)) = (block.steps.get_mut(row), block.slacks.get_mut(row)) {
            (*step, *slack) = (vector.step, vector.slack);
        }
        block.set_signs(row, &vector.upper);
    }

    /// Removes a row from every scan.
    pub(super) fn hide(&mut self, slot: u32) {
        let block = self.blocks.get_mut(slot as usize / BLOCK_ROWS);
        if let Some(slack) = block.and_then(|block| block.slacks.get_mut(slot as usize % BLOCK_ROWS)) {
            *slack = f32::NEG_INFINITY;
        }
    }

    pub(super) fn row(&self, slot: u32) -> Option<Row<'_>> {
        let row = slot as usize % BLOCK_ROWS;
        let range = row * self.dimension..(row + 1) * self.dimension;
        let block = self.blocks.get(slot as usize / BLOCK_ROWS)?;
        Some(Row { upper: block.upper.get(range.clone())?, lower: block.lower.get(range)?, step: *block.steps.get(row)? })
    }

    pub(super) fn bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(|block| {
            let planes = block.upper.capacity() + block.lower.capacity() + block.signs.capacity() * size_of::<u64>();
            planes + 4 * (block.steps.capacity() + block.slacks.capacity())
        });
        blocks.sum::<usize>() + self.blocks.capacity() * size_of::<Block>()
    }
}
