//! The versions for processors with AVX2.
//!
//! Bytes are widened to 16 bits before multiplication. `maddubs` multiplies bytes directly but saturates its 16-bit sums. A
//! pair of widened products is at most 2 × 128 × 128 and is summed in 32 bits, so nothing here can saturate.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32, _mm256_add_epi32,
    _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_madd_epi16, _mm256_setzero_si256,
};

use super::portable;

/// The number of bytes in one widened register.
const STEP: usize = 16;
/// The number of rows that share one pass over the query.
const ROWS: usize = 4;

/// Sixteen bytes, each as 16 bits.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn widened(bytes: &[i8; STEP]) -> __m256i {
    // SAFETY: this reads an array of 16 bytes, and the load needs no alignment.
    let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>()) };
    _mm256_cvtepi8_epi16(bytes)
}

/// The sum of the eight 32-bit lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn sum(lanes: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two)))
}

#[target_feature(enable = "avx2")]
pub(crate) fn dot_i8(left: &[i8], right: &[i8]) -> i32 {
    let length = left.len().min(right.len());
    let (left, right) = (left.get(..length).unwrap_or(left), right.get(..length).unwrap_or(right));
    let (left_pairs, left_rest) = left.as_chunks::<{ 2 * STEP }>();
    let (right_pairs, right_rest) = right.as_chunks::<{ 2 * STEP }>();
    // Two sums, so that one addition does not wait for the other.
    let mut sums = [_mm256_setzero_si256(); 2];
    for (left, right) in left_pairs.iter().zip(right_pairs) {
        let halves = left.as_chunks::<STEP>().0.iter().zip(right.as_chunks::<STEP>().0);
        for (lanes, (left, right)) in sums.iter_mut().zip(halves) {
            *lanes = _mm256_add_epi32(*lanes, _mm256_madd_epi16(widened(left), widened(right)));
        }
    }
    let [even, odd] = sums;
    sum(_mm256_add_epi32(even, odd)).wrapping_add(portable::dot_i8(left_rest, right_rest))
}

#[target_feature(enable = "avx2")]
pub(crate) fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    let mut groups = rows.chunks_exact(query.len() * ROWS);
    let (out_groups, out_rest) = out.as_chunks_mut::<ROWS>();
    let mut done = 0;
    for (group, out) in groups.by_ref().zip(out_groups.iter_mut()) {
        *out = four_dots_i8(query, group);
        done += 1;
    }
    // The rest: fewer rows than a group, or fewer places than rows.
    let rest = rows.chunks_exact(query.len()).skip(done * ROWS);
    let places = out_groups.iter_mut().skip(done).flatten().chain(out_rest);
    for (row, out) in rest.zip(places) {
        *out = dot_i8(query, row);
    }
}

/// One query with four rows: each piece of the query is widened once for all four.
#[inline]
#[target_feature(enable = "avx2")]
fn four_dots_i8(query: &[i8], group: &[i8]) -> [i32; ROWS] {
    let (pieces, query_rest) = query.as_chunks::<STEP>();
    let mut rows = group.chunks_exact(query.len());
    let rows: [&[i8]; ROWS] = std::array::from_fn(|_| rows.next().unwrap_or_default());
    let [first, second, third, fourth] = rows.map(|row| row.as_chunks::<STEP>().0);
    let mut sums = [_mm256_setzero_si256(); ROWS];
    let columns = pieces.iter().zip(first).zip(second).zip(third).zip(fourth);
    for ((((piece, first), second), third), fourth) in columns {
        let piece = widened(piece);
        let products = [first, second, third, fourth];
        for (lanes, row) in sums.iter_mut().zip(products) {
            *lanes = _mm256_add_epi32(*lanes, _mm256_madd_epi16(piece, widened(row)));
        }
    }
    let mut out = [0; ROWS];
    for ((out, lanes), row) in out.iter_mut().zip(sums).zip(rows) {
        let row_rest = row.as_chunks::<STEP>().1;
        *out = sum(lanes).wrapping_add(portable::dot_i8(query_rest, row_rest));
    }
    out
}

/// The portable version, compiled for registers of eight floats. The order of additions is the same, so the bits are too.
#[target_feature(enable = "avx2")]
pub(crate) fn dot_f32(left: &[f32], right: &[f32]) -> f32 {
    portable::dot_f32(left, right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(length: usize) -> impl Strategy<Value = Vec<i8>> {
        let extremes = prop_oneof![Just(i8::MIN), Just(i8::MAX), Just(-127), any::<i8>()];
        proptest::collection::vec(extremes, length)
    }

    fn pair() -> impl Strategy<Value = (Vec<i8>, Vec<i8>)> {
        (0..800_usize).prop_flat_map(|length| (bytes(length), bytes(length)))
    }

    fn query_and_rows() -> impl Strategy<Value = (Vec<i8>, Vec<i8>, usize)> {
        (1..200_usize, 0..14_usize).prop_flat_map(|(length, rows)| (bytes(length), bytes(length * rows), Just(rows)))
    }

    proptest! {
        #[test]
        fn bytes_give_the_portable_sum((left, right) in pair()) {
            prop_assume!(crate::has_avx2());
            // SAFETY: the processor has AVX2.
            let fast = unsafe { dot_i8(&left, &right) };
            prop_assert_eq!(fast, portable::dot_i8(&left, &right));
            prop_assert_eq!(i64::from(fast), left.iter().zip(&right).map(|(&l, &r)| i64::from(l) * i64::from(r)).sum::<i64>());
        }

        #[test]
        fn many_rows_give_the_portable_sums((query, rows, count) in query_and_rows(), missing in 0..3_usize, more in 0..9_usize) {
            prop_assume!(crate::has_avx2());
            let places = count.saturating_sub(missing) + more;
            let (mut fast, mut slow) = (vec![7; places], vec![7; places]);
            // SAFETY: the processor has AVX2.
            unsafe { dots_i8(&query, &rows, &mut fast) };
            portable::dots_i8(&query, &rows, &mut slow);
            prop_assert_eq!(fast, slow);
        }

        #[test]
        fn floats_give_the_portable_bits(values in proptest::collection::vec((-1e3_f32..1e3, -1e3_f32..1e3), 0..500)) {
            prop_assume!(crate::has_avx2());
            let (left, right): (Vec<_>, Vec<_>) = values.into_iter().unzip();
            // SAFETY: the processor has AVX2.
            let fast = unsafe { dot_f32(&left, &right) };
            prop_assert_eq!(fast.to_bits(), portable::dot_f32(&left, &right).to_bits());
        }
    }

    #[test]
    fn the_longest_exact_sum_is_exact() {
        let lowest = vec![i8::MIN; 131_071];
        assert_eq!(crate::dot_i8(&lowest, &lowest), 131_071 * 16_384);
        assert_eq!(portable::dot_i8(&lowest, &lowest), 131_071 * 16_384);
    }
}
