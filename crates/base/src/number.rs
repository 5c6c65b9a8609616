//! Which floats are integers in JSON Schema.

/// Up to here, a float represents every whole number exactly: 2^53.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Converts `number` to an integer if it is whole and exact. To JSON Schema, `10.0` and `1e1` are the integer 10.
pub fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= EXACT_MAX).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_whole_numbers_are_integers() {
        for (number, integer) in [(10.0, 10), (-3.0, -3), (-0.0, 0), (EXACT_MAX, 1 << 53), (-EXACT_MAX, -(1 << 53))] {
            assert_eq!(whole(number), Some(integer), "{number}");
        }
        for number in [0.5, -1.25, EXACT_MAX + 2.0, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(whole(number), None, "{number}");
        }
    }
}
