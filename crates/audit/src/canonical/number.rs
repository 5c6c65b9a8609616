//! Numbers in the ECMAScript form that RFC 8785 requires. Rust's own formatting differs: if two shortest forms are equally
//! close, it takes the greater digit and ECMAScript takes the even one.

use serde_json::Number;

use super::{Fault, INTEGER_MAX};

/// From here on, ECMAScript writes an exponent instead of zeros.
const EXPONENT_FROM: f64 = 1e21;
/// [`INTEGER_MAX`] as a double.
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

pub(super) fn write(out: &mut String, number: &Number) -> Result<(), Fault> {
    if let Some(integer) = number.as_i64() {
        if integer.unsigned_abs() > INTEGER_MAX {
            return Err(Fault::IntegerTooLarge(integer.to_string()));
        }
        out.push_str(&integer.to_string());
        return Ok(());
    }
    // Anything else is a double, or an unsigned integer that is too large anyway.
    let double = number.as_f64().filter(|double| double.is_finite() && !is_large_integer(*double));
    let double = double.ok_or_else(|| Fault::IntegerTooLarge(number.to_string()))?;
    out.push_str(ryu_js::Buffer::new().format_finite(double));
    Ok(())
}

/// Whether a double would be written as an integer that a reader with exact integers takes for another number.
fn is_large_integer(double: f64) -> bool {
    double.abs() > LARGEST_EXACT && double.abs() < EXPONENT_FROM
}
