//! Parses durations such as `90`, `90s`, `15m`, `8h` and `30d`.

/// Parses a duration into seconds.
pub(crate) fn parse_seconds(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let seconds: u64 = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err("not a duration; write seconds, or 15m, 8h, 30d".to_owned()),
    };
    let count: u64 = digits.parse().map_err(|_| "not a duration; write seconds, or 15m, 8h, 30d".to_owned())?;
    count.checked_mul(seconds).filter(|seconds| *seconds > 0).ok_or_else(|| "duration out of range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_and_bad_ones_refused() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("15m", 900), ("8h", 28_800), ("30d", 2_592_000)] {
            assert_eq!(parse_seconds(text), Ok(seconds));
        }
        for bad in ["", "h", "1w", "-1", "0", "1.5h", "99999999999999999999d", "9223372036854775807d"] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
    }
}
