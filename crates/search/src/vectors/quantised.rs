//! A unit vector with 16 bits per component: an upper plane of `i8` for scans, and a lower plane of `i8` for the rest.
//!
//! A component is `step × (upper + lower / 254)`. All dot products are sums of integers, so every machine and every insertion
//! order gives exactly the same cosine.

use simd::dot_i8;

use super::VectorError;

/// The number of steps of the lower plane within one step of the upper plane.
const FINE: i64 = 254;
/// Covers the rounding errors of the bound itself.
const ROUNDING: f32 = 1e-5;

/// A query vector. It can be used with every index of its dimension.
#[derive(Clone, Debug)]
pub struct Query(pub(super) Quantised);

#[derive(Clone, Debug)]
pub(super) struct Quantised {
    pub(super) upper: Vec<i8>,
    pub(super) lower: Vec<i8>,
    pub(super) step: f32,
    /// The length of the lower plane, which bounds the error of a scan of the upper plane.
    pub(super) slack: f32,
}

/// The same, as stored in an index.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) upper: &'a [i8],
    pub(super) lower: &'a [i8],
    pub(super) step: f32,
}

impl Query {
    /// Normalises and quantises a vector of any length.
    pub fn new(vector: &[f32]) -> Result<Self, VectorError> {
        Quantised::new(vector).map(Self)
    }

    /// The number of components.
    pub fn dimension(&self) -> usize {
        self.0.upper.len()
    }
}

impl Quantised {
    pub(super) fn new(vector: &[f32]) -> Result<Self, VectorError> {
        if vector.iter().any(|component| !component.is_finite()) {
            return Err(VectorError::NotFinite);
        }
        let largest = vector.iter().fold(0.0_f64, |largest, component| largest.max(f64::from(component.abs())));
        if largest == 0.0 {
            return Err(VectorError::Zero);
        }
        let mut upper = Vec::with_capacity(vector.len());
        let mut lower = Vec::with_capacity(vector.len());
        let (mut squares, mut fine_squares) = (0.0_f64, 0.0_f64);
        for component in vector {
            let steps = f64::from(*component) / largest * 127.0;
            let whole = steps.round();
            let fine = ((steps - whole) * FINE as f64).round();
            upper.push(whole as i8);
            lower.push(fine as i8);
            squares += (whole + fine / FINE as f64).powi(2);
            fine_squares += (fine / FINE as f64).powi(2);
        }
        // The length is one after rounding, so that a vector's cosine to itself is one.
        let step = 1.0 / squares.sqrt();
        Ok(Self { upper, lower, step: step as f32, slack: (fine_squares.sqrt() * step) as f32 })
    }

    pub(super) fn row(&self) -> Row<'_> {
        Row { upper: &self.upper, lower: &self.lower, step: self.step }
    }
}

/// The cosine of two vectors, with 16 bits per component.
pub(super) fn cosine(left: Row<'_>, right: Row<'_>) -> f32 {
    let coarse = i64::from(dot_i8(left.upper, right.upper));
    let mixed = i64::from(dot_i8(left.upper, right.lower)) + i64::from(dot_i8(left.lower, right.upper));
    let fine = i64::from(dot_i8(left.lower, right.lower));
    let sum = (coarse * FINE + mixed) * FINE + fine;
    (sum as f64 * f64::from(left.step) * f64::from(right.step) / (FINE * FINE) as f64) as f32
}

/// The components of a stored vector.
pub(super) fn components(row: Row<'_>) -> Vec<f32> {
    let component = |(upper, lower): (&i8, &i8)| row.step * (f32::from(*upper) + f32::from(*lower) / FINE as f32);
    row.upper.iter().zip(row.lower).map(component).collect()
}

/// The maximum distance of the upper planes' product from the cosine, as `fixed + factor × slack of the row`.
///
/// With `x = X + x'` and `q = Q + q'`, upper and lower parts, `x·q − X·Q = x'·q + X·q'`. By Cauchy-Schwarz this is at most
/// `|x'||q| + |X||q'|`, where `|q| = 1` and `|X| ≤ 1 + |x'|`.
pub(super) fn error_bound(query: &Quantised) -> (f32, f32) {
    (query.slack + ROUNDING, 1.0 + ROUNDING + query.slack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_without_direction_are_refused() {
        assert_eq!(Quantised::new(&[0.0, 0.0]).unwrap_err(), VectorError::Zero);
        assert_eq!(Quantised::new(&[]).unwrap_err(), VectorError::Zero);
        assert_eq!(Quantised::new(&[1.0, f32::NAN]).unwrap_err(), VectorError::NotFinite);
        assert_eq!(Quantised::new(&[f32::INFINITY, 1.0]).unwrap_err(), VectorError::NotFinite);
    }

    #[test]
    fn length_does_not_matter() {
        for scale in [f32::MIN_POSITIVE, 1e-20, 1.0, 1e20, f32::MAX / 4.0] {
            let left = Quantised::new(&[3.0 * scale, -4.0 * scale]).unwrap();
            let right = Quantised::new(&[0.6, -0.8]).unwrap();
            assert!((cosine(left.row(), right.row()) - 1.0).abs() < 1e-6, "{scale}");
        }
    }

    #[test]
    fn components_are_read_back() {
        let vector = [0.6, -0.8, 0.0];
        let back = components(Quantised::new(&vector).unwrap().row());
        assert!(back.iter().zip(vector).all(|(back, was)| (back - was).abs() < 1e-4), "{back:?}");
    }

    #[test]
    fn cosines_are_accurate_to_five_digits() {
        let mut random = crate::vectors::random::Random::new(1);
        for _ in 0..200 {
            let (left, right) = (random.vector(384), random.vector(384));
            let exact = crate::vectors::random::exact_cosine(&left, &right);
            let (left, right) = (Quantised::new(&left).unwrap(), Quantised::new(&right).unwrap());
            let found = cosine(left.row(), right.row());
            assert!((found - exact).abs() < 1e-5, "{found} for {exact}");
            let (fixed, factor) = error_bound(&right);
            let coarse = dot_i8(&left.upper, &right.upper) as f32 * left.step * right.step;
            assert!((coarse - found).abs() <= fixed + factor * left.slack);
        }
    }
}
