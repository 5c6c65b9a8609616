//! Generates the table of events in `docs/audit.md` and the table of phases in `docs/hooks.md`. The rest of both files is hand-written.

use std::fmt::Write;

use anyhow::{Context, Result};
use base::EventKind;
use guard::HookPhase;

use crate::root;

/// Returns `docs/audit.md` with an up-to-date table of events.
pub(super) fn audit() -> Result<String> {
    let mut table = String::from("| event | when |\n|---|---|\n");
    for kind in EventKind::ALL {
        writeln!(table, "| `{}` | {} |", kind.word(), kind.when())?;
    }
    within("docs/audit.md", "events", &table)
}

/// Returns `docs/hooks.md` with an up-to-date table of phases.
pub(super) fn hooks() -> Result<String> {
    let mut table = String::from("| phase | when | adds |\n|---|---|---|\n");
    for phase in HookPhase::ALL {
        writeln!(table, "| `{}` | {} | {} |", phase.word(), phase.when(), phase.adds())?;
    }
    within("docs/hooks.md", "phases", &table)
}

/// Returns the document with `text` between its marks.
fn within(path: &str, mark: &str, text: &str) -> Result<String> {
    let document = std::fs::read_to_string(root().join(path))?;
    let (begin, end) =
        (format!("<!-- {mark}: generated from the code by `make generate` -->\n"), format!("<!-- end of {mark} -->\n"));
    let (before, rest) = document.split_once(&begin).with_context(|| format!("{path} has no mark `{mark}`"))?;
    let (_, after) = rest.split_once(&end).with_context(|| format!("{path} has no end of `{mark}`"))?;
    Ok(format!("{before}{begin}\n{text}\n{end}{after}"))
}
