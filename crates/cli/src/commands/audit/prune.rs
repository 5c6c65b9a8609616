//! `toolcrib audit prune`: removing the oldest entries for good.

use std::io::{self, BufRead, IsTerminal};

use anyhow::{Result, bail};
use base::Clock;
use clap::Args;
use serde_json::{Value, json};

use super::filter::moment;
use crate::workplace::Workplace;

pub(super) const HELP: &str = "\
Examples:
  toolcrib audit prune --before 365d
  toolcrib audit prune --before 2026-01-01 --yes

They are gone for good: export them first, and keep a checkpoint with the
export. An entry of its own says, signed, up to where entries were removed, so
what is left verifies. What a webhook has yet to deliver stays.

This takes the instance admin's key, which the command finds on the server's
machine. No other key may prune a trail; an owner may, in the console. Entries of
the last 30 days stay: `toolcrib serve --audit-keep-days-min` says how many.";

/// What is to go.
#[derive(Args, Debug)]
pub(super) struct PruneArgs {
    /// Entries from before this time: 90d ago, a date, or a time in RFC 3339
    #[arg(long, value_name = "TIME")]
    before: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(place: &Workplace, args: &PruneArgs) -> Result<()> {
    let before = moment(&args.before, Clock::system().now())?;
    if !args.yes && !is_meant(&before)? {
        bail!("nothing was removed");
    }
    let answer = place.api.post(&place.query("/api/audit/prune"), &json!({ "before": before })).await?;
    place.print_as(&answer, || told(&answer))
}

/// Asks whoever sits at the terminal.
fn is_meant(before: &str) -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("this removes entries for good: say --yes if that is meant");
    }
    eprint!("Remove every entry from before {before} for good? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn told(answer: &Value) -> String {
    let number = |name: &str| answer.get(name).and_then(Value::as_u64);
    let mut words = match number("removed").unwrap_or_default() {
        0 => "nothing to remove".to_owned(),
        1 => "removed 1 entry".to_owned(),
        removed => format!("removed {removed} entries"),
    };
    if let Some(first) = number("firstSequence") {
        words.push_str(&format!("; the trail begins at {first}"));
    }
    if let Some(holder) = answer.get("heldBy").and_then(Value::as_str) {
        words.push_str(&format!("; `{holder}` has yet to read the rest: try again later"));
    }
    words
}
