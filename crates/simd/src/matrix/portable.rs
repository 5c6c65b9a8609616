//! One step in plain Rust. The fast version must give exactly these bits.

use super::{PANEL, Results, Step, TILE};

pub(super) fn run(step: &Step<'_>) -> Results {
    let size = step.scales.len();
    let mut sums = [[0_i32; PANEL]; TILE];
    for (line, group) in step.lines.iter().zip(step.pairs.chunks_exact(size.max(1))) {
        for (sums, pair) in sums.iter_mut().zip(group) {
            // The low half and the high half: the cast drops the upper bits.
            let (first, second) = (i32::from(*pair as i16), pair >> 16);
            for (sum, weights) in sums.iter_mut().zip(line.as_flattened().as_chunks::<2>().0) {
                let [left, right] = weights.map(i32::from);
                *sum = sum.wrapping_add(first * left + second * right);
            }
        }
    }
    let mut results = [[0.0; PANEL]; TILE];
    let (output_scales, biases) = step.outputs;
    for ((results, sums), scale) in results.iter_mut().zip(sums).zip(step.scales) {
        for (((result, sum), output_scale), bias) in results.iter_mut().zip(sums).zip(output_scales).zip(biases) {
            *result = sum as f32 * scale * output_scale + bias;
        }
    }
    results
}
