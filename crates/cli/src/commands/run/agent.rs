//! The agent's process: its arguments, environment, signals and exit code.
//!
//! At a terminal, the agent stays in this process's group, so that Ctrl-C and Ctrl-Z reach it directly. Otherwise it gets its own
//! process group, and signals are passed on to the whole group.

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
use crate::opening::Opened;
use crate::{environment, output};

/// A running agent.
pub(super) struct Agent {
    child: Child,
    id: u32,
    has_own_group: bool,
    signals: Signals,
}

/// How an agent exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// Its exit code, in the shell's convention.
    pub(super) code: u8,
    /// Whether a signal stopped it.
    pub(super) is_stopped: bool,
}

/// The exit codes of a shell after SIGINT and SIGTERM.
const STOPPED_BY_SIGNAL: [u8; 2] = [130, 143];

/// The signals that are passed on.
struct Signals {
    interrupt: Stream,
    terminate: Stream,
    hang_up: Stream,
}

impl Signals {
    fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        let (interrupt, terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hang_up: listen(SignalKind::hangup())? })
    }
}

/// The error for an agent that cannot start, with the exit code that a shell would use.
fn not_started(program: &OsStr, error: &std::io::Error) -> anyhow::Error {
    let program = program.display();
    let (code, message) = match error.kind() {
        std::io::ErrorKind::NotFound => {
            (127, format!("cannot start `{program}` ({error}); check that it is installed and on the PATH"))
        }
        _ => (126, format!("cannot start `{program}`: {error}")),
    };
    anyhow::Error::new(output::ExitWith(code)).context(message)
}

impl Agent {
    /// Starts the agent. It inherits stdin, stdout and stderr, but not the operator's secrets.
    pub(super) fn start(command: &[OsString], file: &ConfigFile, session: &Opened) -> Result<Self> {
        let fill = |argument: &OsString| filled(argument, file.path().as_os_str(), &session.mcp_url, &session.id);
        let mut words = command.iter().map(fill);
        let Some(program) = words.next() else { bail!("no command to run") };
        let has_own_group = !std::io::stdin().is_terminal();
        // Listen before the agent starts, so that no signal is lost.
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
        let child = start.spawn().map_err(|error| not_started(&program, &error))?;
        let id = child.id().context("the agent exited at once")?;
        Ok(Self { child, id, has_own_group, signals })
    }

    /// Its process id.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Whether it leads its own process group.
    pub(super) fn has_own_group(&self) -> bool {
        self.has_own_group
    }

    /// Passes signals on until the agent ends.
    pub(super) async fn wait(mut self) -> Result<Ended> {
        let mut is_stop_requested = false;
        loop {
            let signal = tokio::select! {
                ended = self.child.wait() => {
                    let ended = Ended::of(ended.context("cannot wait for the agent")?);
                    return Ok(Ended { is_stopped: ended.is_stopped || is_stop_requested, ..ended });
                }
                _ = self.signals.interrupt.recv() => Signal::INT,
                _ = self.signals.terminate.recv() => Signal::TERM,
                _ = self.signals.hang_up.recv() => Signal::HUP,
            };
            // At a terminal, the agent gets Ctrl-C directly, and many agents keep running after it.
            if signal != Signal::INT || self.has_own_group {
                self.pass_on(signal);
                is_stop_requested = true;
            }
        }
    }

    fn pass_on(&self, signal: Signal) {
        send(self.id, self.has_own_group, signal);
    }
}

/// Sends a signal to a process or its group. Does nothing if it is gone.
pub(super) fn send(id: u32, has_own_group: bool, signal: Signal) {
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
    let sent =
        if has_own_group { rustix::process::kill_process_group(pid, signal) } else { rustix::process::kill_process(pid, signal) };
    if let Err(error) = sent {
        tracing::debug!(%error, "the agent has already exited");
    }
}

impl Ended {
    /// Uses the program's exit code, or 128 plus the signal number.
    fn of(status: ExitStatus) -> Self {
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Self { code, is_stopped: status.signal().is_some() || STOPPED_BY_SIGNAL.contains(&code) }
    }
}

/// Replaces `{mcp-config}`, `{mcp-url}` and `{session}` in an argument.
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
    fn placeholders_are_replaced_once() {
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
    fn exit_codes_follow_the_shell_convention() {
        let ended = |raw| Ended::of(ExitStatus::from_raw(raw));
        assert_eq!(ended(0), Ended { code: 0, is_stopped: false });
        assert_eq!(ended(3 << 8), Ended { code: 3, is_stopped: false });
        assert_eq!(ended(9), Ended { code: 137, is_stopped: true });
        assert_eq!(ended(130 << 8), Ended { code: 130, is_stopped: true });
        assert_eq!(ended(143 << 8), Ended { code: 143, is_stopped: true });
    }
}
