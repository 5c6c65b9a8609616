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
| a rate, or calls under way at once | 429 `Too many requests` with `Retry-After` in whole seconds; a batch passes whole or not at all |
| the time for a call | the error `timeout` ([errors](errors.md)); what the call had not finished is undone |
| the size of a result | the error `too_large`, with `bytes` and `limit` |
| a field, a list or a page | the error `invalid_params` (on the management API 400 or 422) naming it |
| connections | they wait |

A call draws on the bucket of its key (shared by the key's sessions) or agent, and then on its org's. An agent's rate can be set for
it alone (`rate_limit.per_minute`). Management calls with a key draw on a second bucket of the same size, so that an agent that
calls too much does not lock out whoever would stop it, and then on one of the org's that no tool draws on; the instance admin's and
a person's draw on none. A token for an agent draws on the agent's bucket, and a 403 at a session's door on that of the key.

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
