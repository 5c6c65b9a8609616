//! The agent's process: its arguments and environment, the signals that reach it, its end.
//!
//! At a terminal the agent stays in our process group, so that it is the terminal's foreground job and Ctrl-C and Ctrl-Z reach
//! it as they would without us. Otherwise it gets a group of its own, which signals are passed on to as a whole.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use super::config_file::ConfigFile;
use crate::environment;
use crate::opening::Opened;

/// A running agent.
pub(super) struct Agent {
    child: Child,
    id: u32,
    has_own_group: bool,
    signals: Signals,
}

/// How an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// Its exit code, as a shell would say it.
    pub(super) code: u8,
    /// Whether a signal stopped it, rather than its own decision.
    pub(super) is_stopped: bool,
}

/// What a shell exits with when SIGINT or SIGTERM ended what it ran.
const STOPPED_BY_SIGNAL: [u8; 2] = [130, 143];

/// The signals that are passed on.
struct Signals {
    interrupt: Stream,
    terminate: Stream,
    hang_up: Stream,
}

impl Signals {
    fn listen() -> Result<Self> {
        let hear = |kind| signal(kind).context("cannot listen for signals");
        let (interrupt, terminate) = (hear(SignalKind::interrupt())?, hear(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hang_up: hear(SignalKind::hangup())? })
    }
}

impl Agent {
    /// Starts the agent with our stdin, stdout and stderr, and without our secrets.
    pub(super) fn start(command: &[OsString], file: &ConfigFile, session: &Opened) -> Result<Self> {
        let fill = |argument: &OsString| filled(argument, file.path().as_os_str(), &session.mcp_url, &session.id);
        let mut words = command.iter().map(fill);
        let Some(program) = words.next() else { bail!("there is no command to run") };
        let has_own_group = !std::io::stdin().is_terminal();
        // Before the agent is there, so that none is lost between its start and our waiting.
        let signals = Signals::listen()?;
        let mut start = Command::new(&program);
        start.args(words);
        for secret in environment::SECRETS {
            start.env_remove(secret);
        }
        start
            .env("TOOLCRIB_MCP_CONFIG", file.path())
            .env("TOOLCRIB_MCP_URL", &session.mcp_url)
            .env("TOOLCRIB_MCP_TOKEN", &session.key)
            .env("TOOLCRIB_SESSION", &session.id);
        if has_own_group {
            start.process_group(0);
        }
        let child =
            start.spawn().with_context(|| format!("cannot start `{}`: is it installed and on the PATH?", program.display()))?;
        let id = child.id().context("the agent was gone before it began")?;
        Ok(Self { child, id, has_own_group, signals })
    }

    /// Its process id.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Whether its process group has the same number, and only it and its children in it.
    pub(super) fn has_own_group(&self) -> bool {
        self.has_own_group
    }

    /// Passes signals on until the agent ends.
    pub(super) async fn wait(mut self) -> Result<Ended> {
        let mut was_told_to_stop = false;
        loop {
            let signal = tokio::select! {
                ended = self.child.wait() => {
                    let ended = Ended::of(ended.context("cannot wait for the agent")?);
                    return Ok(Ended { is_stopped: ended.is_stopped || was_told_to_stop, ..ended });
                }
                _ = self.signals.interrupt.recv() => Signal::INT,
                _ = self.signals.terminate.recv() => Signal::TERM,
                _ = self.signals.hang_up.recv() => Signal::HUP,
            };
            // At a terminal the agent has had Ctrl-C already, from the terminal itself, and many go on after it.
            if signal != Signal::INT || self.has_own_group {
                self.pass_on(signal);
                was_told_to_stop = true;
            }
        }
    }

    fn pass_on(&self, signal: Signal) {
        send(self.id, self.has_own_group, signal);
    }
}

/// Sends a signal to a process, or to its whole group. One that is gone needs none.
pub(super) fn send(id: u32, has_own_group: bool, signal: Signal) {
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
    let sent =
        if has_own_group { rustix::process::kill_process_group(pid, signal) } else { rustix::process::kill_process(pid, signal) };
    if let Err(error) = sent {
        tracing::debug!(%error, "the agent is gone already");
    }
}

impl Ended {
    /// The code is what a shell would say: the program's own, or 128 and the signal that ended it.
    fn of(status: ExitStatus) -> Self {
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Self { code, is_stopped: status.signal().is_some() || STOPPED_BY_SIGNAL.contains(&code) }
    }
}

/// An argument with `{mcp-config}`, `{mcp-url}` and `{session}` filled in.
fn filled(argument: &OsStr, config: &OsStr, mcp_url: &str, session: &str) -> OsString {
    let values =
        [(&b"{mcp-config}"[..], config.as_bytes()), (b"{mcp-url}", mcp_url.as_bytes()), (b"{session}", session.as_bytes())];
    let mut rest = argument.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    while let Some((first, tail)) = rest.split_first() {
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out.extend_from_slice(value);
                rest = rest.get(name.len()..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_filled_in_once() {
        let fill = |argument: &str| {
            filled(OsStr::new(argument), OsStr::new("/w/{session}.json"), "http://u", "ses_1").into_string().unwrap()
        };
        assert_eq!(fill("--mcp-config={mcp-config}"), "--mcp-config=/w/{session}.json");
        assert_eq!(fill("{session}{mcp-url}{session}"), "ses_1http://uses_1");
        for plain in ["", "{}", "{mcp-config", "{other}", "ü{"] {
            assert_eq!(fill(plain), plain);
        }
        let bytes = OsString::from_vec(b"\xff{session}".to_vec());
        assert_eq!(filled(&bytes, OsStr::new(""), "", "s").as_bytes(), b"\xffs");
    }

    #[test]
    fn exit_codes_are_a_shells() {
        let ended = |raw| Ended::of(ExitStatus::from_raw(raw));
        assert_eq!(ended(0), Ended { code: 0, is_stopped: false });
        assert_eq!(ended(3 << 8), Ended { code: 3, is_stopped: false });
        assert_eq!(ended(9), Ended { code: 137, is_stopped: true });
        assert_eq!(ended(130 << 8), Ended { code: 130, is_stopped: true });
        assert_eq!(ended(143 << 8), Ended { code: 143, is_stopped: true });
    }
}
