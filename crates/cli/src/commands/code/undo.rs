//! `toolcrib code restore` and `rollback`: undo changes of files.

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use crate::commands::{Author, request_body};
use crate::output::{self, Column};
use crate::workplace::Workplace;

const OUTCOME_COLUMNS: [Column; 4] =
    [("OUTCOME", "/outcome"), ("FILE", "/path"), ("VERSION", "/version/version"), ("ERROR", "/error")];

/// Restores a version of a file.
pub(super) async fn restore(place: &Workplace, base: &str, path: &str, version: u64, reason: Option<String>) -> Result<()> {
    let body = request_body([
        ("path", Some(json!(path))),
        ("version", Some(json!(version))),
        ("reason", reason.map(|reason| json!(reason))),
    ]);
    let answer = place.api.post(&format!("{base}/restore"), &body).await?;
    place.print_as(&answer, || match answer.pointer("/version/version") {
        Some(new) => format!("restored version {version} of {path} as version {new}"),
        None => format!("{path} already has the content of version {version}"),
    })
}

/// Undoes what an agent or a session wrote. It repeats the request until nothing is left, because the server rolls back in batches.
pub(super) async fn roll_back(
    place: &Workplace,
    base: &str,
    author: Author,
    reason: Option<String>,
    yes: bool,
) -> Result<()> {
    if author.is_anyone() {
        bail!("no writes selected; pass --agent or --session");
    }
    if !yes {
        bail!("this undoes all writes of the agent or session; check them with `toolcrib code history`, then pass --yes");
    }
    let Value::Object(mut body) = author.roll_back_body(place, None).await? else { bail!("no writes selected") };
    if body.len() > 1 {
        bail!("pass either --agent or --session, not both");
    }
    body.extend(reason.map(|reason| ("reason".to_owned(), json!(reason))));
    let mut files: Vec<Value> = Vec::new();
    loop {
        let mut answer = place.api.post(&format!("{base}/rollback"), &Value::Object(body.clone())).await?;
        if let Some(Value::Array(more)) = answer.get_mut("files").map(Value::take) {
            files.extend(more);
        }
        match answer.get_mut("nextAfter").map(Value::take) {
            Some(Value::String(after)) if body.get("after").and_then(Value::as_str) != Some(&after) => {
                body.insert("after".to_owned(), Value::String(after));
            }
            _ => break,
        }
    }
    let changed = files.iter().filter(|file| is_one_of(file, &["restored", "reverted"])).count();
    let left = files.iter().filter(|file| is_one_of(file, &["conflict", "not_kept", "failed"])).count();
    let mut answer = Map::new();
    answer.insert("files".to_owned(), Value::Array(files.clone()));
    place.print_as(&Value::Object(answer), || {
        let table = output::table(&files, &OUTCOME_COLUMNS, "no files");
        format!("{table}\nundid the writes in {changed} file(s), left {left} alone")
    })
}

fn is_one_of(file: &Value, words: &[&str]) -> bool {
    file.get("outcome").and_then(Value::as_str).is_some_and(|outcome| words.contains(&outcome))
}
