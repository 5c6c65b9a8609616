//! `toolcrib audit list`, `export` and `checkpoint`: reading the trail.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base::Clock;
use serde_json::{Value, json};

use super::filter::FilterArgs;
use super::follow;
use crate::client::causes;
use crate::files::{self, PRIVATE};
use crate::output::{self, Column, Unwritable};
use crate::workplace::Workplace;

pub(super) const LIST: &str = "\
Examples:
  toolcrib audit list --type call.refused --since 1h
  toolcrib audit list --entity bricks.create_draft --limit 20
  toolcrib audit list --actor ci-bot --json
  toolcrib audit list --type call.refused --follow

Newest first. --json shows all of each entry, the payload too. With --follow:
oldest first, then new entries as they come, until Ctrl-C; --json prints one
entry a line.";

pub(super) const EXPORT: &str = "\
Examples:
  toolcrib audit export --out audit.jsonl
  toolcrib audit export > audit.jsonl

One entry a line, oldest first. The export itself is the last of them.";

pub(super) const CHECKPOINT: &str = "\
Example:
  toolcrib audit checkpoint --out checkpoint.json

Keep it where the server's operator cannot reach: later it shows that nothing
was cut off the trail and that none of it was written anew.";

pub(super) const COLUMNS: [Column; 7] = [
    ("NO", "/sequenceNumber"),
    ("TIME", "/occurredAt"),
    ("EVENT", "/eventType"),
    ("ACTOR", "/actor"),
    ("ENTITY", "/entity"),
    ("WHY", "/why"),
    ("REQUEST", "/requestId"),
];

pub(super) async fn list(place: &Workplace, filter: &FilterArgs, as_json: bool) -> Result<()> {
    let resolved = filter.resolve(place, Clock::system().now()).await?;
    if filter.follow {
        return follow::run(place, &resolved, filter.list.limit, as_json).await;
    }
    let mut answer = place.api.list(&resolved.path(place), "events", filter.list.limit).await?;
    if !as_json {
        for event in answer.get_mut("events").and_then(Value::as_array_mut).into_iter().flatten() {
            shorten(event);
        }
    }
    place.print_list(&answer, "events", &COLUMNS)
}

/// Adds what the table shows of an entry's parts.
pub(super) fn shorten(event: &mut Value) {
    let part = |name: &str| event.get(name).and_then(Value::as_str);
    let joined = |kind: Option<&str>, id: Option<&str>| match (kind, id) {
        // An id says what kind of thing it names.
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

/// Why a call was refused or failed, and which policy was it.
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

/// Where the export goes.
enum Sink {
    Stdout(io::Stdout),
    /// Beside the file until it is whole.
    File {
        part: File,
        part_path: PathBuf,
        path: PathBuf,
    },
}

impl Sink {
    fn open(out: Option<&Path>) -> Result<Self> {
        let Some(path) = out.filter(|path| *path != Path::new("-")) else { return Ok(Self::Stdout(io::stdout())) };
        let mut part_path = path.as_os_str().to_owned();
        part_path.push(".part");
        let part_path = PathBuf::from(part_path);
        // It names everybody and everything they did.
        let part = OpenOptions::new().create(true).write(true).truncate(true).mode(PRIVATE).open(&part_path);
        let part = part.with_context(|| format!("cannot write {}", part_path.display()))?;
        Ok(Self::File { part, part_path, path: path.to_owned() })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(bytes).context(Unwritable),
            Self::File { part, part_path, .. } => {
                part.write_all(bytes).with_context(|| format!("cannot write {}", part_path.display()))
            }
        }
    }

    fn finish(&mut self) -> Result<()> {
        match self {
            Self::Stdout(out) => out.flush().context(Unwritable),
            Self::File { part, part_path, path } => {
                let moved = part.sync_all().and_then(|()| fs::rename(part_path, &*path));
                moved.with_context(|| format!("cannot write {}", path.display()))
            }
        }
    }

    fn discard(&self) {
        if let Self::File { part_path, .. } = self {
            // What is half an export is none; the error that led here is told.
            let _ = fs::remove_file(part_path);
        }
    }
}

/// How often the count on the terminal is renewed.
const TICK: Duration = Duration::from_millis(200);

/// What has come so far, on a terminal that somebody looks at.
struct Progress {
    shown: bool,
    next: Instant,
    entries: u64,
    bytes: u64,
}

impl Progress {
    fn new(to_file: bool) -> Self {
        // Where the entries themselves run over the terminal, a count would only get between them.
        let shown = io::stderr().is_terminal() && (to_file || !io::stdout().is_terminal());
        Self { shown, next: Instant::now() + TICK, entries: 0, bytes: 0 }
    }

    fn add(&mut self, chunk: &[u8]) {
        self.entries += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.bytes += chunk.len() as u64;
        if self.shown && Instant::now() >= self.next {
            self.next = Instant::now() + TICK;
            eprint!("\r{} entries, {} MB ", self.entries, self.bytes / 1_000_000);
        }
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}

pub(super) async fn export(place: &Workplace, out: Option<&Path>, as_json: bool) -> Result<()> {
    let mut response = place.api.stream(&place.query("/api/audit/export")).await?;
    let mut sink = Sink::open(out)?;
    let mut progress = Progress::new(matches!(sink, Sink::File { .. }));
    let copied = async {
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    sink.write(&chunk)?;
                    progress.add(&chunk);
                }
                Ok(None) => return sink.finish(),
                Err(error) => bail!("the export broke off after {} entries ({}): try again", progress.entries, causes(&error)),
            }
        }
    }
    .await;
    progress.clear();
    if let Err(error) = copied {
        sink.discard();
        return Err(error);
    }
    let Sink::File { path, .. } = &sink else { return Ok(()) };
    let (entries, bytes) = (progress.entries, progress.bytes);
    let report = json!({ "file": path.display().to_string(), "entries": entries, "bytes": bytes });
    if as_json { output::print_json(&report) } else { output::print(&format!("{} written: {entries} entries", path.display())) }
}

pub(super) async fn checkpoint(place: &Workplace, out: Option<&Path>) -> Result<()> {
    let answer = place.api.get(&place.query("/api/audit/checkpoint")).await?;
    document(place, &answer, out)
}

/// Prints a document that programs read, or writes it to a file.
pub(super) fn document(place: &Workplace, answer: &Value, out: Option<&Path>) -> Result<()> {
    let Some(path) = out.filter(|path| *path != Path::new("-")) else { return output::print_json(answer) };
    files::replace(path, &format!("{}\n", serde_json::to_string_pretty(answer)?), None)?;
    let file = path.display().to_string();
    place.print_as(&json!({ "file": file }), || format!("{file} written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_why() {
        let said = |payload: Value| why(&payload);
        assert_eq!(said(json!({ "outcome": "completed" })), Value::Null);
        assert_eq!(said(json!({ "outcome": "tool_error" })), "tool_error");
        assert_eq!(said(json!({ "reason": "ended" })), "ended");
        assert_eq!(said(json!({ "error": { "kind": "invalid" }, "decision": { "allowed": true } })), "invalid");
        let denied = |policies: Value| {
            said(
                json!({ "error": { "kind": "denied" }, "decision": { "allowed": false, "reason": "forbidden", "policies": policies } }),
            )
        };
        assert_eq!(denied(json!(["a", "b#2"])), "denied: forbidden by a, b#2");
        assert_eq!(denied(json!([])), "denied: forbidden");
    }

    #[test]
    fn a_discarded_export_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        fs::write(&path, "the one before").unwrap();
        let mut sink = Sink::open(Some(&path)).unwrap();
        sink.write(b"half").unwrap();
        sink.discard();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut sink = Sink::open(Some(&path)).unwrap();
        sink.write(b"whole").unwrap();
        sink.finish().unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), fs::read_dir(folder.path()).unwrap().count()), ("whole", 1));
    }
}
