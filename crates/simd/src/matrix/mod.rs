//! Multiplies a matrix of bytes with rows of activations, which takes most of the encoder's time.
//!
//! Weights are bytes with one scale per output. Activations are 14-bit integers with one scale per row. They are not bytes, because
//! the AVX2 instruction that cannot saturate multiplies 16-bit numbers anyway. So the finer steps cost nothing, and only the weights
//! lose precision.
//! Sums are exact in 32 bits for up to [`COLUMNS_MAX`] columns: 2,048 × 128 × 8,191 < 2³¹.
//!
//! Weights are stored in the order in which the kernel reads them ([`pack`]): panels of [`PANEL`] outputs, in each panel one
//! line of 32 bytes per pair of inputs, and in each line one pair of weights per output. Activations are stored in tiles of up
//! to [`TILE`] rows, in each tile one group per pair of inputs, and in each group one pair per row. So both sides are read
//! sequentially.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;
mod quantise;

use std::ops::Range;

use quantise::quantise;

/// The number of outputs in a panel: two registers of sums.
pub const PANEL: usize = 16;
/// The maximum number of inputs of a matrix.
pub const COLUMNS_MAX: usize = 2_048;
/// The maximum number of rows in a tile: with two registers of sums each, as many as fit into sixteen registers.
const TILE: usize = 6;
/// The number of tiles that pass through all panels together, so that they stay in the L2 cache.
const BLOCK: usize = 8;
/// The largest activation.
const ACTIVATION_MAX: f32 = 8_191.0;

/// Two adjacent activations of one row, 16 bits each, the first in the low half.
type Pair = i32;
/// The weights of a panel for one pair of inputs: two per output, eight outputs in each half.
type Line = [[i8; PANEL]; 2];

/// The result of a step: sixteen outputs for each of its rows. Missing rows of the tile are zeros.
type Results = [[f32; PANEL]; TILE];

/// One step of a multiplication: the rows of one tile times one panel.
struct Step<'a> {
    /// The tile's activations, with a group of `scales.len()` pairs per line.
    pairs: &'a [Pair],
    /// The scales of the tile's rows.
    scales: &'a [f32],
    lines: &'a [Line],
    /// The scales and biases of the panel's outputs.
    outputs: (&'a [f32; PANEL], &'a [f32; PANEL]),
}

/// Rows of activations, each quantised with its own scale and laid out for the kernel. Reused between calls.
#[derive(Debug, Default)]
pub struct Activations {
    columns: usize,
    scales: Vec<f32>,
    pairs: Vec<Pair>,
}

impl Activations {
    /// Quantises rows of `columns` floats each. If the number of columns is odd or too large, or the floats fill no row, there
    /// are no rows.
    pub fn quantise(&mut self, rows: &[f32], columns: usize) {
        let columns = if columns.is_multiple_of(2) && columns <= COLUMNS_MAX { columns } else { 0 };
        let count = rows.len().checked_div(columns).unwrap_or(0);
        self.columns = columns;
        self.scales.clear();
        self.scales.resize(count, 0.0);
        self.pairs.clear();
        self.pairs.resize(count * columns / 2, 0);
        if count > 0 {
            self.quantise_tiles(rows);
        }
    }

    fn quantise_tiles(&mut self, rows: &[f32]) {
        let (columns, count) = (self.columns, self.scales.len());
        for tile in (0..count.div_ceil(TILE)).map(|tile| tile_of(count, tile)) {
            let values = rows.get(tile.start * columns..tile.end * columns);
            let pairs = self.pairs.get_mut(tile.start * columns / 2..tile.end * columns / 2);
            let scales = self.scales.get_mut(tile);
            if let (Some(values), Some(pairs), Some(scales)) = (values, pairs, scales) {
                quantise(values, columns, scales, pairs);
            }
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.scales.len()
    }
}

/// A matrix of bytes with a scale and a bias per output, borrowed from its storage.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    columns: usize,
    lines: &'a [Line],
    scales: &'a [[f32; PANEL]],
    biases: &'a [[f32; PANEL]],
}

impl<'a> Matrix<'a> {
    /// A matrix with `columns` inputs and one output per scale. `None` if the sizes do not match.
    pub fn new(columns: usize, packed: &'a [i8], scales: &'a [f32], biases: &'a [f32]) -> Option<Self> {
        let fits = columns > 0
            && columns <= COLUMNS_MAX
            && columns.is_multiple_of(2)
            && scales.len().is_multiple_of(PANEL)
            && scales.len() == biases.len()
            && Some(packed.len()) == scales.len().checked_mul(columns);
        let lines = packed.as_chunks().0.as_chunks().0;
        let (scales, biases) = (scales.as_chunks().0, biases.as_chunks().0);
        fits.then_some(Self { columns, lines, scales, biases })
    }

    /// The number of outputs per row.
    pub fn outputs(&self) -> usize {
        self.scales.len() * PANEL
    }

    /// Multiplies every row of activations with this matrix and adds the biases. The results are written row by row into `out`,
    /// which is resized. Activations with another number of columns give no rows.
    pub fn multiply(&self, activations: &Activations, out: &mut Vec<f32>) {
        let rows = if activations.columns == self.columns { activations.rows() } else { 0 };
        // The content is overwritten, so only new elements need zeros.
        out.resize(rows * self.outputs(), 0.0);
        if !out.is_empty() {
            self.multiply_into(activations, out);
        }
    }

    fn multiply_into(&self, activations: &Activations, out: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if crate::has_avx2() {
            // SAFETY: the processor has AVX2.
            return self.steps(activations, out, |step| unsafe { avx2::run(step) });
        }
        self.steps(activations, out, portable::run);
    }

    /// Passes every tile through every panel, a block of tiles at a time.
    fn steps(&self, activations: &Activations, out: &mut [f32], run: impl Fn(&Step<'_>) -> Results) {
        let (half, outputs) = (self.columns / 2, self.outputs());
        for block in blocks(activations.rows()) {
            for (panel, lines) in self.lines.chunks_exact(half).enumerate() {
                for tile in block.clone().map(|tile| tile_of(activations.rows(), tile)) {
                    let pairs = activations.pairs.get(tile.start * half..tile.end * half);
                    let scales = activations.scales.get(tile.clone());
                    let of_panel = self.scales.get(panel).zip(self.biases.get(panel));
                    let places = out.get_mut(tile.start * outputs..tile.end * outputs);
                    let (Some(pairs), Some(scales), Some(of_panel), Some(places)) = (pairs, scales, of_panel, places) else {
                        continue;
                    };
                    let results = run(&Step { pairs, scales, lines, outputs: of_panel });
                    for (row, result) in places.chunks_exact_mut(outputs).zip(results) {
                        if let Some(place) = row.as_chunks_mut().0.get_mut(panel) {
                            *place = result;
                        }
                    }
                }
            }
        }
    }
}

/// The tiles by number, in blocks.
fn blocks(rows: usize) -> impl Iterator<Item = Range<usize>> {
    let tiles = rows.div_ceil(TILE);
    (0..tiles).step_by(BLOCK).map(move |first| first..tiles.min(first + BLOCK))
}

/// The rows of a tile. There are as few tiles as possible, of nearly equal size.
fn tile_of(rows: usize, tile: usize) -> Range<usize> {
    let tiles = rows.div_ceil(TILE).max(1);
    tile * rows / tiles..(tile + 1) * rows / tiles
}

/// A row-major matrix in the layout of [`Matrix`]. `None` if the number of columns is odd, or the number of rows is not a
/// multiple of [`PANEL`].
pub fn pack(columns: usize, weights: &[i8]) -> Option<Vec<i8>> {
    if columns == 0 || !columns.is_multiple_of(2) || !weights.len().is_multiple_of(columns * PANEL) {
        return None;
    }
    let mut packed = Vec::with_capacity(weights.len());
    for panel in weights.chunks_exact(columns * PANEL) {
        for pair in 0..columns / 2 {
            let of_pair = panel.chunks_exact(columns).flat_map(|row| row.iter().skip(2 * pair).take(2));
            packed.extend(of_pair);
        }
    }
    Some(packed)
}

#[cfg(test)]
mod tests;
