//! Dot products of two slices, and of one slice with many.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::widened;

/// The dot product of two slices of equal length. If the lengths differ, only the common prefix counts.
///
/// Exact for up to 131,071 components of any value. Beyond that, the sum may wrap.
#[inline]
pub fn dot_i8(left: &[i8], right: &[i8]) -> i32 {
    fastest!(dot_i8(left, right))
}

/// The dot products of one query with many consecutive rows, each as long as the query.
///
/// `out` gets one product per row. If rows or places are missing, only the common ones are computed. An empty query leaves
/// `out` unchanged.
pub fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    if query.is_empty() {
        return;
    }
    fastest!(dots_i8(query, rows, out));
}

/// The dot product of two slices of equal length. If the lengths differ, only the common prefix counts.
///
/// The order of additions is fixed, so the result is the same on every machine, but may differ from that of a plain loop.
#[inline]
pub fn dot_f32(left: &[f32], right: &[f32]) -> f32 {
    fastest!(dot_f32(left, right))
}
