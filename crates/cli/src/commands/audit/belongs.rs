//! Finds out whether a verification failed only because the keys or the checkpoint belong to another workspace. Such a failure says
//! nothing about the log.

use std::io::{self, BufRead, Read};

use ::audit::verify::Reason;
use ::audit::{Checkpoint, Jwks, Report};
use serde::Deserialize;

/// Longest part of a line that is read. Entries are shorter; a longer line is no entry.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// The input file that does not belong to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stranger {
    /// None of the log's entries names one of the keys.
    Keys,
    /// None of the log's entries belongs to a checkpoint's workspace.
    Checkpoint,
}

/// What the lines of a log have in common with the other files.
#[derive(Default)]
struct Seen {
    has_entry: bool,
    has_known_key: bool,
    has_checkpoint_workspace: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    workspace_id: String,
    kid: String,
}

/// The file that does not belong to the log, if the report failed at the first entry or before. `rest` has the lines that the
/// verifier did not read.
pub(super) fn stranger(
    report: &Report,
    keys: &Jwks,
    checkpoints: &[Checkpoint],
    rest: impl BufRead,
) -> io::Result<Option<Stranger>> {
    let Some(reason) = report.broken_at.as_ref().filter(|_| report.event_count == 0).map(|broken| broken.reason) else {
        return Ok(None);
    };
    if !matches!(reason, Reason::Checkpoint | Reason::UnknownKey | Reason::Workspace) {
        return Ok(None);
    }
    let seen = Seen::read(keys, checkpoints, rest)?;
    Ok(match reason {
        Reason::Checkpoint if seen.has_entry && !seen.has_checkpoint_workspace => Some(Stranger::Checkpoint),
        Reason::Checkpoint if seen.has_entry && !seen.has_known_key => Some(Stranger::Keys),
        Reason::Workspace if !seen.has_checkpoint_workspace => Some(Stranger::Checkpoint),
        Reason::UnknownKey if !seen.has_known_key => Some(Stranger::Keys),
        _ => None,
    })
}

impl Seen {
    fn read(keys: &Jwks, checkpoints: &[Checkpoint], mut lines: impl BufRead) -> io::Result<Self> {
        let (mut seen, mut line) = (Self::default(), Vec::new());
        while lines.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? > 0 {
            if let Ok(entry) = serde_json::from_slice::<Line>(&line) {
                seen.has_entry = true;
                seen.has_known_key |= keys.find(&entry.kid).is_some();
                seen.has_checkpoint_workspace |= checkpoints.iter().any(|one| one.workspace_id == entry.workspace_id);
            }
            line.clear();
        }
        Ok(seen)
    }
}
