//! Generates `docs/limits.md` from `crates/base/src/limits.rs` and the files below it. Each doc comment there becomes a row of a table.

use std::fmt::Write;

use anyhow::{Context, Result};

use crate::root;

const HEAD: &str = "# Limits

<!-- Generated from the code by `make generate`; edit crates/base/src/limits.rs or crates/xtask/src/generate/limits.rs instead. -->

A request above a limit is refused with a reason, and changes nothing:

| limit on | answer above it |
|---|---|
| the size of a body | 413, after the credential was checked |
| the time a body takes to arrive | 408 |
| messages in a batch | one `-32600` for the whole batch |
| the nesting of JSON | `-32700` |
| the number of JSON values | `-32600`; 400 on the management API |
| the rate, or concurrent calls | 429 `Too many requests` with `Retry-After` in whole seconds. A batch is accepted or refused as a whole |
| bytes of bodies and answers in memory | 429 when the caller or its org has too many, 503 when all callers together have too many. A call fails with `unavailable` when its large result does not fit |
| computations that wait for a processor | the error `unavailable`; retry in a few seconds |
| the time for a call | the error `timeout` ([errors](errors.md)); unfinished changes are rolled back |
| the size of a result, or of all answers to a batch | the error `too_large`, with `bytes` and `limit` |
| a field, a list or a page | the error `invalid_params` (400 or 422 on the management API), which names it |
| all connections | new connections wait in the kernel's queue |
| connections from one address | 503, and the connection is closed |
| the time without reading an answer | the connection is closed |

## Rate limits

A tool call counts against the rate of its key or agent, and then against the rate of its org. All sessions of a key share the key's rate.
You can set a rate for one agent (`rate_limit.per_minute`).

Management calls have separate rates of the same size: one for each key and each person, and one for the org. Tool calls do not count
against them, so an agent that makes too many calls cannot lock out the people who want to stop it. The instance admin's calls are not
limited. Issuing an agent token counts against the agent's rate. A 403 at the session door counts against the key's rate.

A request counts against the rate and against the concurrent calls before its body is read. It stops counting as concurrent, and its
answer stops counting as bytes in memory, when the client has read the last byte or the connection closes.

On PostgreSQL all nodes share the rates. Each node leases a twentieth of a burst at a time. The rate per minute is therefore exact with any
number of nodes, and a burst can be off by a twentieth per node. Each node counts its own concurrent calls, connections and failed logins.

## Settings

Set a limit in section `[limits]` of `toolcrib.toml`, with `--limits-…` on the command line, or with `TOOLCRIB_LIMITS_…` in the
environment.

| key | default | meaning |
|---|---|---|
";

const FIXED: &str = "
## Fixed limits

| limit | value | meaning |
|---|---|---|
";

pub(super) fn reference() -> Result<String> {
    let source = std::fs::read_to_string(root().join("crates/base/src/limits.rs"))?;
    let (settings, rest) = source.split_once("impl Default for Limits").context("limits.rs has a struct and its defaults")?;
    let (defaults, constants) = rest.split_once("\n}\n").context("the defaults end")?;
    let mut text = HEAD.to_owned();
    for (comment, line) in documented(settings).filter(|(_, line)| line.starts_with("pub ") && line.ends_with(',')) {
        let name = line.trim_start_matches("pub ").split(':').next().unwrap_or_default();
        let value = defaults.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
        let value = value.with_context(|| format!("`{name}` has a default"))?.trim_end_matches(',');
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{name}` | {} | {comment} |", product(value));
    }
    text.push_str(FIXED);
    let code = std::fs::read_to_string(root().join("crates/base/src/limits/code.rs"))?;
    for (comment, line) in documented(constants).chain(documented(&code)) {
        let Some((name, rest)) = line.strip_prefix("pub const ").and_then(|rest| rest.split_once(':')) else {
            continue;
        };
        let value = rest.split_once('=').map_or("", |(_, value)| value).trim().trim_end_matches(';');
        let _ = writeln!(text, "| {} | {} | {comment} |", name.to_lowercase().replace('_', " "), product(value));
    }
    Ok(text)
}

/// Returns each line that has a doc comment, together with that comment joined to one line.
fn documented(source: &str) -> impl Iterator<Item = (String, &str)> {
    let mut comment = String::new();
    source.lines().map(str::trim).filter_map(move |line| match line.strip_prefix("///") {
        Some(words) => {
            comment.push_str(words);
            None
        }
        None => Some((std::mem::take(&mut comment).trim().to_owned(), line)).filter(|(comment, _)| !comment.is_empty()),
    })
}

/// Evaluates a value: products are multiplied out, and each half of a pair is evaluated.
fn product(value: &str) -> String {
    let factors: Option<Vec<u64>> = value.split('*').map(|factor| factor.trim().replace('_', "").parse().ok()).collect();
    match factors {
        Some(factors) => grouped(factors.iter().product()),
        None => {
            let parts = value.trim_matches(['(', ')']).split(", ").map(product);
            parts.collect::<Vec<_>>().join(", then ")
        }
    }
}

/// Formats a number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_evaluated_and_grouped() {
        for (value, written) in
            [("600", "600"), ("16 * 1024 * 1024", "16,777,216"), ("60_000", "60,000"), ("(60, 60 * 60)", "60, then 3,600")]
        {
            assert_eq!(product(value), written);
        }
    }
}
