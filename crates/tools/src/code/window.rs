//! Time windows such as `15m`, `1h`, `1d` and `1w`.

use base::{Error, Result};

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
const WEEK_MS: i64 = 7 * DAY_MS;

/// The milliseconds of a window that ends now, at most `most_ms`. The error names the parameter.
pub(crate) fn window_ms(parameter: &str, text: &str, most_ms: i64) -> Result<i64> {
    let invalid = || {
        let message = format!("`{parameter}` must be a number and a unit (s, m, h, d or w), such as `15m`, `1h` or `1d`");
        Error::invalid(parameter, message)
    };
    let text = text.trim();
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(invalid)?;
    let unit = match unit {
        "s" => SECOND_MS,
        "m" => MINUTE_MS,
        "h" => HOUR_MS,
        "d" => DAY_MS,
        "w" => WEEK_MS,
        _ => return Err(invalid()),
    };
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid());
    }
    let window = number.parse::<i64>().ok().and_then(|number| number.checked_mul(unit)).filter(|window| *window > 0);
    let window = window.ok_or_else(invalid)?;
    if window > most_ms {
        return Err(Error::invalid(parameter, format!("`{parameter}` must be at most `{}d`", most_ms / DAY_MS)));
    }
    Ok(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_numbers_with_a_unit() {
        for (text, expected) in
            [("15m", 900_000), ("1h", 3_600_000), ("1d", 86_400_000), (" 1w ", 604_800_000), ("30s", 30_000), ("007s", 7_000)]
        {
            assert_eq!(window_ms("w", text, WEEK_MS).unwrap(), expected, "{text}");
        }
        for text in
            ["", "h", "0h", "-1h", "+1h", "1", "1y", "1 h", "1.5h", "1ü", "ü", "9223372036854775807w", "99999999999999999999s"]
        {
            let error = window_ms("time_window", text, WEEK_MS).unwrap_err();
            assert_eq!(error.data()["parameter"], "time_window", "{text}");
        }
        assert_eq!(window_ms("w", "8d", WEEK_MS).unwrap_err().message(), "`w` must be at most `7d`");
    }
}
