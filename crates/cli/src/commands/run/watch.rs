//! The watcher: a separate process that survives if `toolcrib run` is killed. It reads from a pipe to `run`. If the pipe closes
//! without a goodbye, the watcher stops the agent, removes the config file and ends the session. All its data, including the
//! operator's key, comes through the pipe and never through an argument or a file.

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
use crate::opening::OutcomeWord;
use crate::workplace::Workplace;

/// The hidden command that starts the watcher.
pub(crate) const COMMAND: &str = "__watch";
/// The watcher prints this after it has left the process group of `run`.
const READY: &[u8] = b"ready\n";
/// How long an agent has to exit after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// A message from `run` to its watcher. Each is one line.
#[derive(Debug, Serialize, Deserialize)]
enum Message {
    Duty(Duty),
    Agent { id: u32, has_own_group: bool },
    Goodbye,
}

/// The session and file to clean up.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Duty {
    url: String,
    key: String,
    org: String,
    session: String,
    file: PathBuf,
    outcome: Option<String>,
}

/// Everything that a killed `run` left behind.
#[derive(Debug, Default)]
struct Remains {
    duty: Option<Duty>,
    /// The agent's process id, and whether it leads its own process group.
    agent: Option<(u32, bool)>,
}

impl Duty {
    pub(super) fn new(found: &Found, org: String, session: String, file: PathBuf, outcome: Option<OutcomeWord>) -> Self {
        let outcome = outcome.map(|outcome| outcome.word().to_owned());
        Self { url: found.url.clone(), key: found.key.clone(), org, session, file, outcome }
    }
}

/// The handle that `run` has on its watcher.
pub(super) struct Watcher {
    process: Child,
    pipe: ChildStdin,
}

impl Watcher {
    /// Starts the watcher and waits until it is ready.
    pub(super) fn start() -> Result<Self> {
        let program = std::env::current_exe().context("cannot find the path of this binary")?;
        let started = Command::new(program)
            .arg(COMMAND)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The watcher must not keep the caller's stderr open.
            .stderr(Stdio::null())
            .spawn();
        let mut process = started.context("cannot start the watcher process")?;
        let (Some(pipe), Some(mut answer)) = (process.stdin.take(), process.stdout.take()) else {
            bail!("the watcher has no pipes");
        };
        let mut ready = [0; READY.len()];
        answer.read_exact(&mut ready).context("the watcher process failed to start")?;
        Ok(Self { process, pipe })
    }

    pub(super) fn tell(&mut self, duty: Duty) -> Result<()> {
        self.say(&Message::Duty(duty))
    }

    pub(super) fn tell_agent(&mut self, id: u32, has_own_group: bool) -> Result<()> {
        self.say(&Message::Agent { id, has_own_group })
    }

    /// Stops the watcher, because nothing is left to clean up.
    pub(super) async fn dismiss(mut self) {
        if let Err(error) = self.say(&Message::Goodbye) {
            tracing::debug!("{error:#}");
        }
        drop(self.pipe);
        let gone = tokio::task::spawn_blocking(move || self.process.wait()).await;
        tracing::debug!(?gone, "the watcher has exited");
    }

    fn say(&mut self, message: &Message) -> Result<()> {
        let line = serde_json::to_string(message)?;
        writeln!(self.pipe, "{line}").and_then(|()| self.pipe.flush()).context("the watcher has exited")
    }
}

/// Runs the watcher process.
pub(crate) fn watch() -> Result<()> {
    // A new process session, so that signals to the terminal's or the caller's group do not reach the watcher.
    rustix::process::setsid().context("cannot leave the process group")?;
    let mut out = std::io::stdout();
    out.write_all(READY).and_then(|()| out.flush()).context("cannot report that the watcher is ready")?;
    match listen(BufReader::new(std::io::stdin())) {
        Some(remains) => remains.clean_up(),
        None => Ok(()),
    }
}

/// Reads messages until the pipe closes. Returns what to clean up, or nothing after a goodbye.
fn listen(pipe: impl BufRead) -> Option<Remains> {
    let mut remains = Remains::default();
    for line in pipe.lines() {
        match line.ok().and_then(|line| serde_json::from_str(&line).ok()) {
            Some(Message::Duty(duty)) => remains.duty = Some(duty),
            Some(Message::Agent { id, has_own_group }) => remains.agent = Some((id, has_own_group)),
            Some(Message::Goodbye) => return None,
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
        // End the session before waiting, so that its key stops working even if the agent keeps running.
        let ended = end_session(&duty);
        if let Some((id, has_own_group)) = self.agent {
            std::thread::sleep(GRACE);
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
        Duty::new(&found, "o".into(), "ses_1".into(), "/f".into(), Some(OutcomeWord::Rework))
    }

    fn heard(messages: &[Message]) -> Option<Remains> {
        let lines = messages.iter().map(|message| serde_json::to_string(message).unwrap() + "\n").collect::<String>();
        listen(lines.as_bytes())
    }

    #[test]
    fn goodbye_means_no_clean_up() {
        assert!(heard(&[Message::Duty(duty()), Message::Agent { id: 5, has_own_group: true }, Message::Goodbye]).is_none());
    }

    #[test]
    fn closed_pipe_means_clean_up() {
        let remains = heard(&[Message::Duty(duty()), Message::Agent { id: 5, has_own_group: true }]).unwrap();
        assert_eq!(remains.duty.unwrap().outcome.as_deref(), Some("rework"));
        assert_eq!(remains.agent, Some((5, true)));
        assert!(heard(&[]).unwrap().duty.is_none());
    }
}
