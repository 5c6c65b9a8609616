//! Operations on rows of floats between the matrices of an encoder.
//!
//! Plain Rust that the compiler vectorises: sums use fixed lanes, and exponentials and rounding are our own arithmetic instead
//! of calls into a maths library. So they give the same result on every machine.

/// The number of parallel sums: two registers of eight.
const LANES: usize = 16;

vectorised! {
    /// Gives each row of `rows`, `weights.len()` long, mean 0 and variance 1, then applies its weights and biases.
    pub fn normalise(rows: &mut [f32], weights: &[f32], biases: &[f32]) {
        for row in rows.chunks_exact_mut(weights.len().max(1)) {
            normalise_row(row, weights, biases);
        }
    }
}

vectorised! {
    /// Adds `added` to `rows` and [normalises](normalise) them.
    pub fn add_and_normalise(rows: &mut [f32], added: &[f32], weights: &[f32], biases: &[f32]) {
        let length = weights.len().max(1);
        for (row, added) in rows.chunks_exact_mut(length).zip(added.chunks_exact(length)) {
            row.iter_mut().zip(added).for_each(|(value, added)| *value += added);
            normalise_row(row, weights, biases);
        }
    }
}

vectorised! {
    /// The Gaussian error linear unit of every value: `x` times the probability that a normal variable is below `x`.
    pub fn gelu(values: &mut [f32]) {
        for value in values {
            *value = 0.5 * *value * (1.0 + error_function(*value * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

/// The softmax of the first `length` values. The rest become 0.
#[inline(always)]
pub(crate) fn softmax(values: &mut [f32], length: usize) {
    let (values, rest) = values.split_at_mut(length.min(values.len()));
    rest.fill(0.0);
    let highest = fold(values, f32::MIN, |lane, value| if value > lane { value } else { lane });
    values.iter_mut().for_each(|value| *value = exponential(*value - highest));
    let share = 1.0 / fold(values, 0.0, |lane, value| lane + value);
    values.iter_mut().for_each(|value| *value *= share);
}

/// The largest absolute value.
#[inline(always)]
pub(crate) fn largest(values: &[f32]) -> f32 {
    fold(values, 0.0, |lane, value| if value.abs() > lane { value.abs() } else { lane })
}

/// The nearest whole number of a value between -2²² and 2²²: adding 1.5 × 2²³ leaves no bits for fractions.
#[inline(always)]
pub(crate) fn nearest(value: f32) -> i32 {
    const SHIFT: f32 = 12_582_912.0;
    ((value + SHIFT).to_bits() as i32).wrapping_sub(SHIFT.to_bits() as i32)
}

/// The minimum variance, so that a constant row does not divide by zero. The model was trained with it.
const VARIANCE_MIN: f32 = 1e-12;

#[inline(always)]
fn normalise_row(row: &mut [f32], weights: &[f32], biases: &[f32]) {
    let length = row.len() as f32;
    let mean = fold(row, 0.0, |lane, value| lane + value) / length;
    row.iter_mut().for_each(|value| *value -= mean);
    let variance = fold_squares(row) / length;
    let inverse = 1.0 / (variance + VARIANCE_MIN).sqrt();
    for ((value, weight), bias) in row.iter_mut().zip(weights).zip(biases) {
        *value = *value * inverse * weight + bias;
    }
}

/// Folds the values lane by lane, then the lanes one after another. Folding `start` twice must change nothing.
#[inline(always)]
fn fold(values: &[f32], start: f32, step: impl Fn(f32, f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [start; LANES];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane = step(*lane, *value));
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, value)| *lane = step(*lane, *value));
    lanes.into_iter().fold(start, step)
}

#[inline(always)]
fn fold_squares(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += value * value);
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, value)| *lane += value * value);
    lanes.into_iter().sum()
}

/// `e` to the power of a value, to seven digits. Beyond ±87 the value is clamped.
///
/// The power is split into a whole power of two, which becomes the float's exponent, and a rest of at most ln 2 / 2, for which
/// eight terms of the series are enough.
#[inline(always)]
fn exponential(value: f32) -> f32 {
    /// ln 2 in two parts: the first has so few digits that its multiples are exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let value = if value > -87.0 { value } else { -87.0 };
    let value = if value < 87.0 { value } else { 87.0 };
    let power = nearest(value * std::f32::consts::LOG2_E);
    let whole = power as f32;
    let rest = value - whole * LN_2_HIGH - whole * LN_2_LOW;
    let mut series = 1.0 / 5_040.0;
    for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = series * rest + factor;
    }
    series * f32::from_bits(((power + 127) << 23) as u32)
}

/// The error function to within 2 × 10⁻⁷: formula 7.1.26 of Abramowitz and Stegun, *Handbook of Mathematical Functions*.
#[inline(always)]
fn error_function(value: f32) -> f32 {
    let positive = value.abs();
    let inverse = 1.0 / (1.0 + 0.327_591_1 * positive);
    let mut series = 1.061_405_4;
    for factor in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6, 0.0] {
        series = series * inverse + factor;
    }
    (1.0 - series * exponential(-positive * positive)).copysign(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exponentials_are_accurate_to_seven_digits() {
        for step in -8_600..8_600 {
            let value = step as f32 / 100.0;
            let exact = f64::from(value).exp();
            assert!((f64::from(exponential(value)) / exact - 1.0).abs() < 3e-7, "{value}");
        }
        assert!(exponential(f32::MIN) < 1e-37 && exponential(f32::MAX) > 1e37);
    }

    #[test]
    fn the_error_function_has_its_known_values() {
        for (value, known) in [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (2.0, 0.995_322_3), (6.0, 1.0)] {
            assert!((error_function(value) - known).abs() < 3e-7, "{value}");
            assert!((error_function(-value) + known).abs() < 3e-7, "{value}");
        }
    }

    #[test]
    fn halves_round_to_even() {
        assert_eq!([0.5, 1.5, -0.5, -1.5, 8_190.6].map(nearest), [0, 2, 0, -2, 8_191]);
    }

    #[test]
    fn shares_sum_to_one() {
        let mut values = [1.0, 2.0, 3.0, 9.0];
        softmax(&mut values, 3);
        assert!((values.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!((values[2] - 0.665_240_94).abs() < 1e-6);
        assert_eq!(values[3], 0.0);
    }

    fn floats() -> impl Strategy<Value = Vec<f32>> {
        proptest::collection::vec(prop_oneof![-3.0_f32..3.0, -1e4_f32..1e4, Just(0.0)], 0..200)
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn both_versions_give_the_same_bits(values in floats(), added in floats()) {
            let (mut fast, mut slow) = (values.clone(), values.clone());
            gelu(&mut fast);
            gelu::portable(&mut slow);
            prop_assert_eq!(bits(&fast), bits(&slow));

            let (weights, biases) = (&values[..values.len() / 2], &values[values.len() / 2..]);
            add_and_normalise(&mut fast, &added, weights, biases);
            add_and_normalise::portable(&mut slow, &added, weights, biases);
            prop_assert_eq!(bits(&fast), bits(&slow));

            normalise(&mut fast, weights, biases);
            normalise::portable(&mut slow, weights, biases);
            prop_assert_eq!(bits(&fast), bits(&slow));
        }
    }
}
