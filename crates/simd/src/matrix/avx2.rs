//! One step for processors with AVX2: the sums of a tile stay in registers from the first input to the last.

use std::arch::x86_64::{
    __m256, _mm256_add_epi32, _mm256_add_ps, _mm256_cvtepi32_ps, _mm256_loadu_ps, _mm256_madd_epi16, _mm256_mul_ps,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_si256, _mm256_storeu_ps,
};

use super::{PANEL, Results, Step, TILE};
use crate::dot::widened;

/// The number of outputs in one register.
const HALF: usize = PANEL / 2;

#[target_feature(enable = "avx2")]
pub(super) fn run(step: &Step<'_>) -> Results {
    match step.scales.len() {
        1 => rows::<1>(step),
        2 => rows::<2>(step),
        3 => rows::<3>(step),
        4 => rows::<4>(step),
        5 => rows::<5>(step),
        _ => rows::<TILE>(step),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn rows<const ROWS: usize>(step: &Step<'_>) -> Results {
    let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
    for ([left, right], group) in step.lines.iter().zip(step.pairs.as_chunks::<ROWS>().0) {
        let (left, right) = (widened(left), widened(right));
        for ([left_sum, right_sum], pair) in sums.iter_mut().zip(group) {
            let pair = _mm256_set1_epi32(*pair);
            *left_sum = _mm256_add_epi32(*left_sum, _mm256_madd_epi16(left, pair));
            *right_sum = _mm256_add_epi32(*right_sum, _mm256_madd_epi16(right, pair));
        }
    }
    let mut results = [[0.0; PANEL]; TILE];
    let (output_scales, biases) = step.outputs;
    for ((result, sums), scale) in results.iter_mut().zip(sums).zip(step.scales) {
        let of_outputs = output_scales.as_chunks().0.iter().zip(biases.as_chunks().0);
        for ((place, sums), (output_scale, bias)) in result.as_chunks_mut().0.iter_mut().zip(sums).zip(of_outputs) {
            let scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_set1_ps(*scale));
            store(place, _mm256_add_ps(_mm256_mul_ps(scaled, load(output_scale)), load(bias)));
        }
    }
    results
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(floats: &[f32; HALF]) -> __m256 {
    // SAFETY: this reads an array of eight floats, and the load needs no alignment.
    unsafe { _mm256_loadu_ps(floats.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(place: &mut [f32; HALF], floats: __m256) {
    // SAFETY: this writes an array of eight floats, and the store needs no alignment.
    unsafe { _mm256_storeu_ps(place.as_mut_ptr(), floats) }
}
