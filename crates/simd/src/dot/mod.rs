//! Dot products: of two slices, and of one with many.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

/// The dot product of two slices of equal length. Of slices that differ, the common beginning counts.
///
/// Exact for up to 131,071 components, whatever they are; beyond that the sum may wrap.
#[inline]
pub fn dot_i8(left: &[i8], right: &[i8]) -> i32 {
    fastest!(dot_i8(left, right))
}

/// The dot products of one query with many rows that lie one after another, each as long as the query.
///
/// `out` gets one product per row. Should rows or places be missing, the ones that both have are computed; a query without
/// components leaves `out` as it was.
pub fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    if query.is_empty() {
        return;
    }
    fastest!(dots_i8(query, rows, out));
}

/// The dot product of two slices of equal length. Of slices that differ, the common beginning counts.
///
/// The additions have one fixed order, so the result is the same on every machine, though not the one of a plain loop.
#[inline]
pub fn dot_f32(left: &[f32], right: &[f32]) -> f32 {
    fastest!(dot_f32(left, right))
}
