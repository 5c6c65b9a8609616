//! `toolcrib index`: asks the server to compare a project's files with its index, and shows the progress.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::Value;

use super::serve::Signals;
use crate::client::encode;
use crate::output;
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

/// How often the server is asked.
const EVERY: Duration = Duration::from_millis(300);
/// The width of the progress bar.
const BAR_CHARS: usize = 30;
/// Without progress for so many questions, the command gives up: the server does not work on this project.
const STUCK_MAX: u32 = 400;

/// Brings a project's index up to date, and waits until search covers every file.
#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    /// Go on showing changes until Ctrl-C
    #[arg(long)]
    watch: bool,
}

/// The counts of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    files: u64,
    indexed: u64,
    failed: u64,
    passages: u64,
    embedded: u64,
    complete: bool,
    fresh: bool,
}

impl Counts {
    fn of(answer: &Value) -> Self {
        let count = |member: &str| answer.get(member).and_then(Value::as_u64).unwrap_or(0);
        let is = |member: &str| answer.get(member) == Some(&Value::Bool(true));
        Self {
            files: count("files"),
            indexed: count("indexed"),
            failed: count("failed"),
            passages: count("passages"),
            embedded: count("embedded"),
            complete: is("complete"),
            fresh: is("fresh"),
        }
    }

    /// Whether the structure and the vectors of every file are there.
    fn is_done(&self) -> bool {
        self.complete && self.fresh && self.embedded >= self.passages
    }

    /// The same counts without what changes by itself.
    fn settled(self) -> Self {
        Self { fresh: true, ..self }
    }

    fn words(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let Self { files, indexed, passages, embedded, .. } = self;
        format!("{indexed} of {files} files indexed{failed}; {embedded} of {passages} passages have vectors")
    }

    /// A bar for both steps.
    fn bar(&self) -> String {
        let (done, all) = if self.complete { (self.embedded, self.passages) } else { (self.indexed, self.files) };
        let step = if self.complete { "vectors" } else { "files" };
        let filled = usize::try_from(done.min(all) * BAR_CHARS as u64 / all.max(1)).unwrap_or(0);
        format!("{step:7} [{}{}] {done}/{all}", "#".repeat(filled), "-".repeat(BAR_CHARS - filled))
    }
}

pub(crate) async fn run(args: IndexArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let path = place.path(&format!("/projects/{}/code/index", encode(&place.project(&args.project).await?.id)));
    let mut signals = Signals::listen()?;
    let work = async {
        let answer = finish(&place, &path).await?;
        if !args.watch {
            return place.print_as(&answer, || Counts::of(&answer).words());
        }
        watch(&place, &path, answer).await
    };
    tokio::select! {
        ended = work => ended,
        () = signals.wait() => {
            output::progress("");
            Ok(())
        }
    }
}

/// Asks for a comparison and waits until it is done. Without a terminal, it prints a line for each step.
async fn finish(place: &Workplace, path: &str) -> Result<Value> {
    let mut answer = place.api.post_nothing(path).await?;
    let (mut last, mut stuck, mut told) = (Counts::default(), 0, None);
    loop {
        let counts = Counts::of(&answer);
        if output::shows_progress() {
            output::progress(&counts.bar());
        } else if told != Some(counts.complete) && !place.is_json() {
            told = Some(counts.complete);
            output::tell(&counts.words());
        }
        if counts.is_done() {
            output::progress("");
            return Ok(answer);
        }
        stuck = if counts == last { stuck + 1 } else { 0 };
        if stuck > STUCK_MAX {
            output::progress("");
            bail!("the index makes no progress ({}); look at the server's log", counts.words());
        }
        last = counts;
        tokio::time::sleep(EVERY).await;
        answer = place.api.get(path).await?;
    }
}

/// Prints the counts whenever they change.
async fn watch(place: &Workplace, path: &str, mut answer: Value) -> Result<()> {
    let mut shown = None;
    loop {
        let counts = Counts::of(&answer).settled();
        if shown != Some(counts) {
            shown = Some(counts);
            match place.is_json() {
                true => output::print(&answer.to_string())?,
                false => output::print(&counts.words())?,
            }
        }
        tokio::time::sleep(EVERY).await;
        answer = place.api.get(path).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_bar_shows_files_and_then_vectors() {
        let counts = Counts::of(&json!({"files": 10, "indexed": 5, "passages": 4, "embedded": 0, "complete": false, "fresh": false}));
        assert_eq!(counts.bar(), format!("files   [{}{}] 5/10", "#".repeat(15), "-".repeat(15)));
        let counts = Counts { indexed: 10, embedded: 4, complete: true, ..counts };
        assert_eq!(counts.bar(), format!("vectors [{}] 4/4", "#".repeat(30)));
        assert!(!counts.is_done() && counts.settled().is_done());
        assert_eq!(Counts { passages: 0, embedded: 0, ..counts }.bar(), format!("vectors [{}] 0/0", "-".repeat(30)));
    }

    #[test]
    fn failed_files_are_mentioned() {
        let counts = Counts { files: 3, indexed: 3, failed: 1, passages: 2, embedded: 2, complete: true, fresh: true };
        assert_eq!(counts.words(), "3 of 3 files indexed, 1 failed; 2 of 2 passages have vectors");
    }
}
