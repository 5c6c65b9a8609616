//! The watcher: a small process of its own that outlives a `toolcrib run` that is killed outright. It holds one end of a pipe
//! whose other end lives in `run`; when that closes without a goodbye, it ends the agent, removes the config file and ends
//! the session. What it needs, the operator's key too, comes through that pipe: it is never an argument or a file.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::{agent, config_file};
use crate::client::Api;
use crate::find::Found;
use crate::opening::Outcome;
use crate::workplace::Workplace;

/// The hidden command that is the watcher.
pub(crate) const COMMAND: &str = "__watch";
/// What it says when it is out of reach of our signals.
const READY: &[u8] = b"ready\n";
/// How long an agent has to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// What `run` tells its watcher, a line each.
#[derive(Debug, Serialize, Deserialize)]
enum Word {
    Duty(Duty),
    Agent { id: u32, has_own_group: bool },
    Goodbye,
}

/// What is to be cleaned up.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Duty {
    url: String,
    key: String,
    org: String,
    session: String,
    file: PathBuf,
    outcome: Option<String>,
}

/// What a `run` that was killed left behind, as far as it had come.
#[derive(Debug, Default)]
struct Remains {
    duty: Option<Duty>,
    /// Its process, and whether it leads a group of its own.
    agent: Option<(u32, bool)>,
}

impl Duty {
    pub(super) fn new(found: &Found, org: String, session: String, file: PathBuf, outcome: Option<Outcome>) -> Self {
        let outcome = outcome.map(|outcome| outcome.word().to_owned());
        Self { url: found.url.clone(), key: found.key.clone(), org, session, file, outcome }
    }
}

/// The watcher as `run` sees it.
pub(super) struct Watcher {
    process: Child,
    pipe: ChildStdin,
}

impl Watcher {
    /// Starts it and waits until it watches.
    pub(super) fn start() -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program's own path")?;
        let started = Command::new(program)
            .arg(COMMAND)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It must not hold open what the caller waits on.
            .stderr(Stdio::null())
            .spawn();
        let mut process = started.context("cannot start the watcher that cleans up after a kill")?;
        let (Some(pipe), Some(mut answer)) = (process.stdin.take(), process.stdout.take()) else {
            bail!("the watcher has no pipes");
        };
        let mut said = [0; READY.len()];
        answer.read_exact(&mut said).context("the watcher ended before it watched")?;
        Ok(Self { process, pipe })
    }

    pub(super) fn tell(&mut self, duty: Duty) -> Result<()> {
        self.say(&Word::Duty(duty))
    }

    pub(super) fn tell_agent(&mut self, id: u32, has_own_group: bool) -> Result<()> {
        self.say(&Word::Agent { id, has_own_group })
    }

    /// There is nothing left to clean up.
    pub(super) async fn dismiss(mut self) {
        if let Err(error) = self.say(&Word::Goodbye) {
            tracing::debug!("{error:#}");
        }
        drop(self.pipe);
        let gone = tokio::task::spawn_blocking(move || self.process.wait()).await;
        tracing::debug!(?gone, "the watcher is gone");
    }

    fn say(&mut self, word: &Word) -> Result<()> {
        let line = serde_json::to_string(word)?;
        writeln!(self.pipe, "{line}").and_then(|()| self.pipe.flush()).context("the watcher is gone")
    }
}

/// The watcher's own life.
pub(crate) fn watch() -> Result<()> {
    // A session of its own: what is sent to the terminal's or the caller's group does not reach it.
    rustix::process::setsid().context("cannot leave the process group")?;
    let mut out = std::io::stdout();
    out.write_all(READY).and_then(|()| out.flush()).context("nobody waits for the watcher")?;
    match listen(BufReader::new(std::io::stdin())) {
        Some(remains) => remains.clean_up(),
        None => Ok(()),
    }
}

/// Listens until the pipe closes: what is to be done, or nothing after a goodbye.
fn listen(pipe: impl BufRead) -> Option<Remains> {
    let mut remains = Remains::default();
    for line in pipe.lines() {
        match line.ok().and_then(|line| serde_json::from_str(&line).ok()) {
            Some(Word::Duty(duty)) => remains.duty = Some(duty),
            Some(Word::Agent { id, has_own_group }) => remains.agent = Some((id, has_own_group)),
            Some(Word::Goodbye) => return None,
            None => break,
        }
    }
    Some(remains)
}

impl Remains {
    fn clean_up(self) -> Result<()> {
        let Some(duty) = self.duty else { return Ok(()) };
        if let Some((id, has_own_group)) = self.agent {
            agent::send(id, has_own_group, Signal::TERM);
        }
        config_file::remove(&duty.file);
        // The session's key is dead from here on, whatever the agent does with it.
        let ended = end_session(&duty);
        if let Some((id, has_own_group)) = self.agent {
            std::thread::sleep(PATIENCE);
            agent::send(id, has_own_group, Signal::KILL);
        }
        ended
    }
}

fn end_session(duty: &Duty) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let found = Found { url: duty.url.clone(), key: duty.key.clone(), is_admin: false };
        let place = Workplace::at(Api::new(found)?, Some(&duty.org), false).await?;
        let outcome = duty.outcome.as_deref().and_then(|word| clap::ValueEnum::from_str(word, false).ok());
        place.end_session(&duty.session, outcome).await
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duty() -> Duty {
        let found = Found { url: "u".into(), key: "k".into(), is_admin: false };
        Duty::new(&found, "o".into(), "ses_1".into(), "/f".into(), Some(Outcome::Rework))
    }

    fn heard(words: &[Word]) -> Option<Remains> {
        let lines = words.iter().map(|word| serde_json::to_string(word).unwrap() + "\n").collect::<String>();
        listen(lines.as_bytes())
    }

    #[test]
    fn a_goodbye_leaves_nothing_to_do() {
        assert!(heard(&[Word::Duty(duty()), Word::Agent { id: 5, has_own_group: true }, Word::Goodbye]).is_none());
    }

    #[test]
    fn a_pipe_that_breaks_leaves_everything_to_do() {
        let remains = heard(&[Word::Duty(duty()), Word::Agent { id: 5, has_own_group: true }]).unwrap();
        assert_eq!(remains.duty.unwrap().outcome.as_deref(), Some("rework"));
        assert_eq!(remains.agent, Some((5, true)));
        assert!(heard(&[]).unwrap().duty.is_none());
    }
}
