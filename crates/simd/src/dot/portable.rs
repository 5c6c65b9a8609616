//! The same sums for any processor, in plain Rust. The fast versions must give exactly these bits.

/// The number of parallel sums of a float product: four registers of eight.
const LANES: usize = 32;

#[inline]
pub(crate) fn dot_i8(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).fold(0, |sum: i32, (&left, &right)| sum.wrapping_add(i32::from(left) * i32::from(right)))
}

pub(crate) fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    for (row, out) in rows.chunks_exact(query.len()).zip(out) {
        *out = dot_i8(query, row);
    }
}

/// Lane `i` sums the products at `i`, `i + 32`, `i + 64` and so on. Then the lanes are folded in half until one is left.
#[inline(always)]
pub(crate) fn dot_f32(left: &[f32], right: &[f32]) -> f32 {
    let length = left.len().min(right.len());
    let (left, right) = (left.get(..length).unwrap_or(left), right.get(..length).unwrap_or(right));
    let (left_chunks, left_rest) = left.as_chunks::<LANES>();
    let (right_chunks, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (left, right) in left_chunks.iter().zip(right_chunks) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    for (sum, (left, right)) in sums.iter_mut().zip(left_rest.iter().zip(right_rest)) {
        *sum += left * right;
    }
    fold(sums)
}

/// Adds the lanes in a tree.
#[inline(always)]
fn fold(mut sums: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        let (low, high) = sums.split_at_mut(width);
        low.iter_mut().zip(high).for_each(|(low, high)| *low += *high);
        width /= 2;
    }
    let [sum, ..] = sums;
    sum
}
