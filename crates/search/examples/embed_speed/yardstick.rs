//! The yardstick: the same passes in f32, with a good matrix library and otherwise plain loops. Its weights are arbitrary,
//! because only the time counts.

use ndarray::{Array2, Axis, Slice};

const LAYERS: usize = 6;
const WIDTH: usize = 384;
const INNER: usize = 1_536;
const HEAD: usize = 32;

/// Weights of all layers in f32, 42 MB: for queries, keys and values, for the attention output, and for the inner part and
/// back.
pub(crate) struct Yardstick {
    layers: Vec<[Array2<f32>; 4]>,
}

impl Yardstick {
    pub(crate) fn new() -> Self {
        let number = |(row, column)| ((row * 7_919 + column * 104_729) % 1_000) as f32 / 25_000.0 - 0.02;
        let shapes = [(WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, INNER), (INNER, WIDTH)];
        Self { layers: (0..LAYERS).map(|_| shapes.map(|shape| Array2::from_shape_fn(shape, number))).collect() }
    }

    pub(crate) fn run(&self, rows: usize) -> Array2<f32> {
        let mut state = Array2::from_shape_fn((rows, WIDTH), |(row, column)| ((row + column) % 13) as f32 / 13.0);
        for [looks, seen, inner, outer] in &self.layers {
            let looked = attention(&state.dot(looks));
            add_and_normalise(&mut state, &looked.dot(seen));
            let mut wide = state.dot(inner);
            // The usual tanh approximation. The exact function is slower.
            wide.mapv_inplace(|x| x * 0.5 * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh()));
            add_and_normalise(&mut state, &wide.dot(outer));
        }
        state
    }
}

fn attention(rows: &Array2<f32>) -> Array2<f32> {
    let mut out = Array2::zeros((rows.nrows(), WIDTH));
    for head in (0..WIDTH).step_by(HEAD) {
        let columns = |part: usize| Slice::from(part + head..part + head + HEAD);
        let [queries, keys, values] = [0, WIDTH, 2 * WIDTH].map(|part| rows.slice_axis(Axis(1), columns(part)));
        let mut scores = queries.dot(&keys.t());
        for mut row in scores.axis_iter_mut(Axis(0)) {
            let highest = row.fold(f32::MIN, |highest, score| highest.max(*score));
            row.mapv_inplace(|score| ((score - highest) * 0.176_776_7).exp());
            let sum = row.sum();
            row /= sum;
        }
        out.slice_axis_mut(Axis(1), columns(0)).assign(&scores.dot(&values));
    }
    out
}

fn add_and_normalise(state: &mut Array2<f32>, change: &Array2<f32>) {
    *state += change;
    for mut row in state.axis_iter_mut(Axis(0)) {
        let mean = row.sum() / WIDTH as f32;
        let variance = row.fold(0.0, |sum, value| sum + (value - mean) * (value - mean)) / WIDTH as f32;
        row.mapv_inplace(|value| (value - mean) / (variance + 1e-12).sqrt());
    }
}
