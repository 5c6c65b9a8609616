//! `docs/limits.md`, from `crates/base/src/limits.rs`, the one file that has limits: a line of comment is a line of the table.

use std::fmt::Write;

use anyhow::{Context, Result};

use crate::root;

const HEAD: &str = "# Limits

<!-- Generated from the code by `make generate`; edit crates/base/src/limits.rs or crates/xtask/src/generate/limits.rs instead. -->

What goes beyond a limit is refused with a reason, and changes nothing:

| beyond | answer |
|---|---|
| the size of a body | 413, after the credential was checked |
| how long a body takes to arrive | 408 |
| messages in a batch | one `-32600` for the whole batch |
| the nesting of JSON | `-32700` |
| the number of JSON values | `-32600`, on the management API 400 |
| a rate, or calls under way at once | 429 `Too many requests` with `Retry-After` in whole seconds; a batch passes whole or not at all |
| bytes of bodies and answers in memory | 429 when the caller or its org has too many, 503 when all callers together have; a call whose large result no longer fits fails with `unavailable` |
| computations that wait for a processor | the error `unavailable`; try again in a few seconds |
| the time for a call | the error `timeout` ([errors](errors.md)); what the call had not finished is undone |
| the size of a result, or of all answers to a batch | the error `too_large`, with `bytes` and `limit` |
| a field, a list or a page | the error `invalid_params` (on the management API 400 or 422) naming it |
| connections in all | they wait in the kernel's queue |
| connections of one address | 503, and the connection is closed |
| the time a client takes nothing of its answer | the connection is closed |

A call draws on the bucket of its key (shared by the key's sessions) or agent, and then on its org's. An agent's rate can be set for
it alone (`rate_limit.per_minute`). Management calls draw on a second bucket of the same size for each key and each person, and then on
one of the org's that no tool draws on, so that an agent that calls too much does not lock out the people who would stop it. The
instance admin's calls draw on no rate. A token for an agent draws on the agent's bucket, and a 403 at a session's door on the key's.

A request takes one call of its rate and a place among those under way before its body is read. It keeps the place, and its answer's
bytes count, until the client has taken the last byte or the connection is closed.

On PostgreSQL all nodes draw on the same buckets. Each leases a twentieth of a burst at a time and spends it by itself, so the
rate per minute is exact however many nodes there are, and a burst is off by at most a twentieth for each node. Calls under way,
connections and failed logins are counted by each node.

## What an operator may change

The key in section `[limits]` of `toolcrib.toml`; `--limits-…` on the command line, `TOOLCRIB_LIMITS_…` in the environment.

| key | default | what and why |
|---|---|---|
";

const FIXED: &str = "
## What is fixed

| limit | value | what and why |
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
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| `{name}` | {} | {comment} |", product(value));
    }
    text.push_str(FIXED);
    for (comment, line) in documented(constants) {
        let Some((name, rest)) = line.strip_prefix("pub const ").and_then(|rest| rest.split_once(':')) else {
            continue;
        };
        let value = rest.split_once('=').map_or("", |(_, value)| value).trim().trim_end_matches(';');
        let _ = writeln!(text, "| {} | {} | {comment} |", name.to_lowercase().replace('_', " "), product(value));
    }
    Ok(text)
}

/// Each line that has a comment before it, with that comment as one line.
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

/// What a value comes to: products are multiplied out, pairs keep their form.
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

/// Thousands apart, for people.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_for_people() {
        for (value, written) in
            [("600", "600"), ("16 * 1024 * 1024", "16,777,216"), ("60_000", "60,000"), ("(60, 60 * 60)", "60, then 3,600")]
        {
            assert_eq!(product(value), written);
        }
    }
}
