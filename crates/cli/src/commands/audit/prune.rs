//! `toolcrib audit prune`: permanently removes the oldest entries.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Result, bail};
use base::Clock;
use clap::Args;
use serde_json::{Value, json};

use super::filter::parse_past;
use crate::workplace::Workplace;

pub(super) const HELP: &str = "\
Examples:
  toolcrib audit prune --before 365d
  toolcrib audit prune --before 2026-01-01 --yes

Removed entries cannot be restored. Export them first, and keep a checkpoint
with the export. A signed entry records up to which point entries were removed,
so the rest still verifies. Entries that a webhook has not delivered yet stay.

Pruning needs the instance admin's key, which the command finds on the server's
machine. No other key can prune a trail. An owner can prune through the API.
Without a terminal, pass --yes. Entries of the last 30 days cannot be removed;
`toolcrib serve --audit-keep-days-min` changes this number.";

/// Selects the entries to remove.
#[derive(Args, Debug)]
pub(super) struct PruneArgs {
    /// Remove entries before this time: 90d ago, a date, or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    before: String,
    /// Skip confirmation
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(place: &Workplace, args: &PruneArgs) -> Result<()> {
    let before = parse_past(&args.before, Clock::system().now())?;
    if !args.yes && !is_confirmed(&before)? {
        bail!("nothing was removed");
    }
    let answer = place.api.post(&place.query("/api/audit/prune"), &json!({ "before": before })).await?;
    place.print_as(&answer, || summary(&answer))
}

/// Asks for confirmation at the terminal.
fn is_confirmed(before: &str) -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("this permanently removes entries; pass --yes to confirm");
    }
    let mut terminal = io::stderr();
    write!(terminal, "Permanently remove every entry before {before}? [y/N] ").and_then(|()| terminal.flush())?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn summary(answer: &Value) -> String {
    let number = |name: &str| answer.get(name).and_then(Value::as_u64);
    let mut text = match number("removed").unwrap_or_default() {
        0 => "nothing to remove".to_owned(),
        1 => "removed 1 entry".to_owned(),
        removed => format!("removed {removed} entries"),
    };
    if let Some(first) = number("firstSequence") {
        text.push_str(&format!("; the trail begins at {first}"));
    }
    if let Some(holder) = answer.get("heldBy").and_then(Value::as_str) {
        text.push_str(&format!("; `{holder}` has not read the rest yet, try again later"));
    }
    text
}
