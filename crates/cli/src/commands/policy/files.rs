//! Policy files: reads and checks them, and reports the location of errors.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use super::text;
use crate::client::ApiError;
use crate::output::sanitized;
use crate::workplace::Workplace;

/// The file name that means stdin.
const STDIN: &str = "-";

/// Reads a policy file.
pub(super) fn read(path: &Path) -> Result<String> {
    if path != Path::new(STDIN) {
        return std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the policy from stdin")?;
    Ok(text)
}

/// The name of a file in error messages.
pub(super) fn name(path: &Path) -> String {
    if path == Path::new(STDIN) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// Formats a finding as `file:line:column: message`, so that editors can jump to it.
pub(super) fn located(name: &str, finding: &Value) -> String {
    let number = |member: &str| finding.get(member).and_then(Value::as_u64).unwrap_or(1);
    sanitized(&format!("{name}:{}:{}: {}", number("line"), number("column"), text(finding, "/message")), false)
}

/// Adds the location of each finding to an error.
pub(super) fn with_places(error: anyhow::Error, name: &str) -> anyhow::Error {
    let findings = error.downcast_ref::<ApiError>().map(ApiError::findings).unwrap_or_default();
    if findings.is_empty() {
        return error;
    }
    let lines = findings.iter().map(|finding| format!("\n  {}", located(name, finding))).collect::<String>();
    anyhow!(
        "the policy is invalid and was not saved:{lines}\nhint: `toolcrib policy schema` shows the types and actions that policies can use"
    )
}

/// Checks files. Returns whether all are valid.
pub(super) async fn check(place: &Workplace, files: &[PathBuf]) -> Result<bool> {
    let (mut lines, mut checked, mut good) = (Vec::new(), Vec::new(), true);
    for file in files {
        let name = name(file);
        let asked = json!({ "cedar": read(file)? });
        let answer =
            place.api.post(&place.path("/policy/check"), &asked).await.with_context(|| format!("cannot check {name}"))?;
        let findings = answer.get("findings").and_then(Value::as_array).cloned().unwrap_or_default();
        if findings.is_empty() {
            lines.push(format!("{name}: ok"));
        }
        good &= findings.is_empty();
        lines.extend(findings.iter().map(|finding| located(&name, finding)));
        checked.push(json!({ "file": name, "findings": findings }));
    }
    place.print_as(&json!({ "files": checked }), || lines.join("\n"))?;
    Ok(good)
}

/// A policy to try instead of a stored one.
pub(super) struct Candidate {
    /// The id of the stored policy.
    pub(super) id: String,
    /// Its text.
    pub(super) cedar: String,
}

/// Reads `ID=FILE`, or `FILE`, whose name is then the id.
pub(super) fn candidates(arguments: &[String]) -> Result<Vec<Candidate>> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for argument in arguments {
        let candidate = candidate(argument)?;
        if candidates.iter().any(|other| other.id == candidate.id) {
            bail!("policy `{}` is given twice; use another id with --with ID=FILE", candidate.id);
        }
        candidates.push(candidate);
    }
    Ok(candidates)
}

fn candidate(argument: &str) -> Result<Candidate> {
    let (id, file) = match argument.split_once('=') {
        Some((id, file)) if !Path::new(argument).exists() => (Some(id.to_owned()), Path::new(file)),
        _ => (None, Path::new(argument)),
    };
    let id = id.or_else(|| Some(file.file_stem()?.to_str()?.to_owned())).filter(|id| !id.is_empty() && id != STDIN);
    let Some(id) = id else { bail!("`{argument}` names no policy to replace; write --with ID=FILE") };
    Ok(Candidate { id, cedar: read(file)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidate_id_comes_from_the_argument_or_the_file_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("readers.v2.cedar");
        std::fs::write(&file, "permit (principal, action, resource);").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(candidate(file).unwrap().id, "readers.v2");
        assert_eq!(candidate(&format!("starter={file}")).unwrap().id, "starter");
        assert!(candidate("-").err().unwrap().to_string().contains("--with ID=FILE"));
        assert!(candidate("/nowhere.cedar").err().unwrap().to_string().contains("cannot read `/nowhere.cedar`"));
        let twice = [file.to_owned(), format!("readers.v2={file}")];
        assert!(candidates(&twice).err().unwrap().to_string().contains("given twice"));
    }

    #[test]
    fn findings_have_file_line_and_column() {
        let finding = json!({ "line": 3, "column": 7, "message": "unexpected\u{1b} token" });
        assert_eq!(located("a.cedar", &finding), "a.cedar:3:7: unexpected\u{fffd} token");
    }
}
