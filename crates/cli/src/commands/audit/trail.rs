//! `toolcrib audit list`, `export` and `checkpoint`: read the trail.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base::Clock;
use serde_json::{Value, json};

use super::filter::FilterArgs;
use super::follow;
use crate::client::root_cause;
use crate::files::{self, Output, PRIVATE};
use crate::output::{self, Column, Unwritable};
use crate::workplace::{ClientArgs, Workplace};

pub(super) const LIST: &str = "\
Examples:
  toolcrib audit list --type call.refused --since 1h
  toolcrib audit list --entity bricks.create_draft --limit 20
  toolcrib audit list --actor ci-bot --json
  toolcrib audit list --type call.refused --follow

The newest entry is first. --json shows full entries with their payload. With
--follow, the oldest entry is first, and new entries are printed until Ctrl-C;
--json then prints one entry per line. If the server restarts, --follow waits
for it and continues where it was.";

pub(super) const EXPORT: &str = "\
Examples:
  toolcrib audit export --out audit.jsonl
  toolcrib audit export > audit.jsonl

Each line is one entry, oldest first. The last entry records the export itself.";

pub(super) const CHECKPOINT: &str = "\
Example:
  toolcrib audit checkpoint --out checkpoint.json

Keep it where the server's operator cannot change it. It later proves that the
trail was neither truncated nor rewritten.";

pub(super) const COLUMNS: [Column; 7] = [
    ("NO", "/sequenceNumber"),
    ("TIME", "/occurredAt"),
    ("EVENT", "/eventType"),
    ("ACTOR", "/actor"),
    ("ENTITY", "/entity"),
    ("WHY", "/why"),
    ("REQUEST", "/requestId"),
];

pub(super) async fn list(client: &ClientArgs, place: &Workplace, filter: &FilterArgs) -> Result<()> {
    let resolved = filter.resolve(place, Clock::system().now()).await?;
    if filter.follow {
        return follow::run(client, place, &resolved, filter.list.limit).await;
    }
    let mut answer = place.api.list(&resolved.path(place), "events", filter.list.limit).await?;
    if !client.json {
        for event in answer.get_mut("events").and_then(Value::as_array_mut).into_iter().flatten() {
            shorten(event);
        }
    }
    place.print_list(&answer, "events", &COLUMNS)
}

/// Adds the fields that the table shows.
pub(super) fn shorten(event: &mut Value) {
    let part = |name: &str| event.get(name).and_then(Value::as_str);
    let joined = |kind: Option<&str>, id: Option<&str>| match (kind, id) {
        // Most ids have a prefix that shows their kind.
        (Some(kind), Some(id)) if !id.contains('_') || kind == "tool" || kind == "policy" => json!(format!("{kind} {id}")),
        (_, Some(id)) => json!(id),
        (kind, None) => json!(kind),
    };
    let actor = joined(part("actorType"), part("actorId"));
    let entity = joined(part("entityType"), part("entityId"));
    let why = why(event.get("payload").unwrap_or(&Value::Null));
    if let Some(members) = event.as_object_mut() {
        members.insert("actor".to_owned(), actor);
        members.insert("entity".to_owned(), entity);
        members.insert("why".to_owned(), why);
    }
}

/// Why a call was refused or failed, and which policies refused it.
fn why(payload: &Value) -> Value {
    let Some(kind) = payload.pointer("/error/kind").and_then(Value::as_str) else {
        return payload
            .get("reason")
            .or_else(|| payload.get("outcome").filter(|outcome| *outcome != "completed"))
            .cloned()
            .unwrap_or_default();
    };
    let denied = payload.get("decision").filter(|decision| decision.get("allowed") == Some(&Value::Bool(false)));
    let Some(reason) = denied.and_then(|decision| decision.get("reason")).and_then(Value::as_str) else {
        return json!(kind);
    };
    let policies = denied.and_then(|decision| decision.get("policies")).and_then(Value::as_array).into_iter().flatten();
    let policies = policies.filter_map(Value::as_str).collect::<Vec<_>>();
    json!(if policies.is_empty() { format!("{kind}: {reason}") } else { format!("{kind}: {reason} by {}", policies.join(", ")) })
}

/// The destination of an export.
enum Sink {
    Stdout(io::Stdout),
    File(Output),
}

impl Sink {
    fn open(out: Option<&Path>) -> Result<Self> {
        match out.filter(|path| *path != Path::new("-")) {
            // The export contains sensitive data, so only its owner may read it.
            Some(path) => Output::open(path, Some(PRIVATE)).map(Self::File),
            None => Ok(Self::Stdout(io::stdout())),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(bytes).context(Unwritable),
            Self::File(output) => output.write(bytes),
        }
    }

    /// Completes the export. Returns the file's path.
    fn finish(self) -> Result<Option<PathBuf>> {
        match self {
            Self::Stdout(mut out) => out.flush().context(Unwritable).map(|()| None),
            Self::File(output) => {
                let path = output.path().to_owned();
                output.finish().map(|()| Some(path))
            }
        }
    }
}

/// How often the progress line is updated.
const TICK: Duration = Duration::from_millis(200);

/// Counts exported entries and shows progress on a terminal.
struct Progress {
    shown: bool,
    next: Instant,
    entries: u64,
    bytes: u64,
}

impl Progress {
    fn new(to_file: bool) -> Self {
        // Progress would mix with entries that are printed to the same terminal.
        let shown = io::stderr().is_terminal() && (to_file || !io::stdout().is_terminal());
        Self { shown, next: Instant::now() + TICK, entries: 0, bytes: 0 }
    }

    fn add(&mut self, chunk: &[u8]) {
        self.entries += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.bytes += chunk.len() as u64;
        if self.shown && Instant::now() >= self.next {
            self.next = Instant::now() + TICK;
            output::progress(&format!("{} entries, {} MB", self.entries, self.bytes / 1_000_000));
        }
    }

    fn clear(&self) {
        if self.shown {
            output::progress("");
        }
    }
}

pub(super) async fn export(place: &Workplace, out: Option<&Path>, as_json: bool) -> Result<()> {
    let mut sink = Sink::open(out)?;
    let mut response = place.api.stream(&place.query("/api/audit/export")).await?;
    let mut progress = Progress::new(matches!(sink, Sink::File(_)));
    let copied = async {
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    sink.write(&chunk)?;
                    progress.add(&chunk);
                }
                Ok(None) => return sink.finish(),
                Err(error) => bail!("export interrupted after {} entries ({}); try again", progress.entries, root_cause(&error)),
            }
        }
    }
    .await;
    progress.clear();
    let Some(path) = copied? else { return Ok(()) };
    let (entries, bytes) = (progress.entries, progress.bytes);
    let report = json!({ "file": path.display().to_string(), "entries": entries, "bytes": bytes });
    if as_json { output::print_json(&report) } else { output::print(&format!("{} written: {entries} entries", path.display())) }
}

pub(super) async fn checkpoint(place: &Workplace, out: Option<&Path>) -> Result<()> {
    let answer = place.api.get(&place.query("/api/audit/checkpoint")).await?;
    document(place, &answer, out)
}

/// Prints a JSON document, or writes it to a file.
pub(super) fn document(place: &Workplace, answer: &Value, out: Option<&Path>) -> Result<()> {
    let Some(path) = out.filter(|path| *path != Path::new("-")) else { return output::print_json(answer) };
    files::write(path, &format!("{}\n", serde_json::to_string_pretty(answer)?), None)?;
    let file = path.display().to_string();
    place.print_as(&json!({ "file": file }), || format!("{file} written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_column_shows_reason_and_policies() {
        let reason = |payload: Value| why(&payload);
        assert_eq!(reason(json!({ "outcome": "completed" })), Value::Null);
        assert_eq!(reason(json!({ "outcome": "tool_error" })), "tool_error");
        assert_eq!(reason(json!({ "reason": "ended" })), "ended");
        assert_eq!(reason(json!({ "error": { "kind": "invalid" }, "decision": { "allowed": true } })), "invalid");
        let denied = |policies: Value| {
            reason(
                json!({ "error": { "kind": "denied" }, "decision": { "allowed": false, "reason": "forbidden", "policies": policies } }),
            )
        };
        assert_eq!(denied(json!(["a", "b#2"])), "denied: forbidden by a, b#2");
        assert_eq!(denied(json!([])), "denied: forbidden");
    }
}
