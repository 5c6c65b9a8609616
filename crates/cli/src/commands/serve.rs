//! `toolcrib serve`: starts the server, prints where it listens, and shuts it down cleanly.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use server::{Config, Server};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{Resolved, Settings};
use crate::output;

/// How often, and at what interval, to retry a start on a locked data folder. A client command that checks for a running server
/// holds the lock for an instant.
const LOCKED_TRIES: u32 = 4;
const LOCKED_PAUSE: Duration = Duration::from_millis(50);

/// Settings of the server. Every flag is also an environment variable and a key in toolcrib.toml.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Settings file [default: toolcrib.toml in the data folder]
    #[arg(long, env = "TOOLCRIB_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl ServeArgs {
    /// Combines flags, environment, file and defaults.
    pub(crate) fn resolve(self) -> Result<Resolved> {
        Resolved::load(self.settings, self.config.as_deref())?.with_address()
    }
}

pub(crate) async fn run(settings: Resolved) -> Result<()> {
    // Catch signals before the start, so that one during the start is not lost.
    let mut signals = Signals::listen()?.with_hangup()?;
    let config = with_first_root(settings.server());
    let server = start(config).await.map_err(|error| start_error(&error))?;
    // A closed stdout must not stop the server.
    if let Err(error) = output::print(&greeting(&server, &settings)) {
        tracing::warn!("{error:#}");
    }
    if settings.server().listen.ip().is_unspecified() && settings.server().public_url.is_none() {
        tracing::warn!("listening on all addresses without --public-url; set it, or the URLs given to agents may not work");
    }
    signals.wait().await;
    tracing::info!("stopping; waiting for running calls (press Ctrl-C again to stop at once)");
    tokio::select! {
        () = server.stop() => Ok(()),
        () = signals.interrupted() => {
            tracing::warn!("stopped at once");
            std::process::exit(130)
        }
    }
}

/// Starts a server. Retries if the data folder is locked only for a moment.
async fn start(config: Config) -> base::Result<Server> {
    let mut tries = 0;
    loop {
        tries += 1;
        match Server::start(config.clone()).await {
            Err(error) if is_locked(&error) && tries < LOCKED_TRIES => tokio::time::sleep(LOCKED_PAUSE).await,
            started => return started,
        }
    }
}

/// Whether the start failed because the data folder is locked.
pub(crate) fn is_locked(error: &base::Error) -> bool {
    error.data().get("reason").is_some_and(|reason| reason == server::LOCKED)
}

/// The error of a failed start, with the details that normally go only to the log.
pub(crate) fn start_error(error: &base::Error) -> anyhow::Error {
    let log = error.log().map(|log| format!(" ({log})")).unwrap_or_default();
    anyhow::anyhow!("{}{log}", error.message())
}

/// Uses the current directory as the root of the first project, if it is allowed as a root.
pub(crate) fn with_first_root(mut config: Config) -> Config {
    let here = std::env::current_dir().and_then(|path| path.canonicalize()).ok();
    config.first_root = here.filter(|here| may_be_root(here, &config));
    config
}

/// Applies the server's rule for roots, and never allows `/`.
fn may_be_root(path: &Path, config: &Config) -> bool {
    let allowed = match config.allow_roots.as_slice() {
        [] => config.listen.ip().is_loopback(),
        roots => roots.iter().any(|root| path.starts_with(real(root))),
    };
    allowed && path.parent().is_some() && !path.starts_with(real(&config.data)) && !holds_data(path, config)
}

/// Whether `path` contains the data folder, which may not exist yet.
fn holds_data(path: &Path, config: &Config) -> bool {
    real(&config.data).starts_with(path)
}

/// Resolves links in the part of a path that exists.
fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    match found {
        Some((real, rest)) if !rest.as_os_str().is_empty() => real.join(rest),
        Some((real, _)) => real,
        None => path.clone(),
    }
}

fn greeting(server: &Server, settings: &Resolved) -> String {
    let config = settings.server();
    let url = config.public_url.unwrap_or_else(|| server.server_file().url.clone());
    let version = env!("CARGO_PKG_VERSION");
    let data = server.data().display();
    if !server.is_first_start() {
        let from = settings.file.as_ref().map(|file| format!(", settings from {}", file.display())).unwrap_or_default();
        return format!("Toolcrib {version} is ready at {url} (data in {data}{from}). Ctrl-C stops it.");
    }
    let config = with_first_root(settings.server());
    let holds_data = std::env::current_dir().is_ok_and(|here| holds_data(&real(&here), &config));
    let project = match config.first_root {
        Some(root) => format!("default (root {})", root.display()),
        None if holds_data => {
            "default (no root, because this directory contains the data folder; set one with `toolcrib project set default --root DIR`)"
                .to_owned()
        }
        None => "default (no root; set one with `toolcrib project set default --root DIR`, if roots are allowed)".to_owned(),
    };
    let mut facts = vec![("url", url), ("data", data.to_string()), ("org", "default".to_owned()), ("project", project)];
    if let Some(file) = &settings.file {
        facts.push(("settings", file.display().to_string()));
    }
    let facts = facts.into_iter().map(|(name, value)| vec![format!("  {name}"), value]).collect::<Vec<_>>();
    let other_folder = crate::environment::default_data().is_ok_and(|default| default != settings.data);
    let flag = if other_folder { format!(" --data {data}") } else { String::new() };
    let next = [
        (format!("toolcrib connect{flag} --print"), "print an MCP entry for any client, with a session key"),
        (format!("toolcrib connect{flag} claude"), "set up Claude Code for this directory (or codex, cursor, vscode)"),
        (format!("toolcrib tools{flag}"), "list the tools that agents can use here"),
    ];
    let next = next.into_iter().map(|(command, what)| vec![format!("  {command}"), what.to_owned()]).collect::<Vec<_>>();
    format!(
        "Toolcrib {version} is ready. This was its first start.\n\n{}\n\nIn another terminal:\n{}\n\nCtrl-C stops it.",
        output::align(&facts),
        output::align(&next)
    )
}

/// The signals that stop a server.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// The terminal was closed. Only with [`Signals::with_hangup`].
    hangup: Option<Signal>,
    /// SIGXFSZ (file size limit reached). Catching it makes the write fail instead of killing the process.
    _file_size: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: None,
            _file_size: listen(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// Also listens for SIGHUP, unless the process was started with `nohup`.
    pub(crate) fn with_hangup(mut self) -> Result<Self> {
        if !is_hangup_ignored() {
            self.hangup = Some(signal(SignalKind::hangup()).context("cannot listen for signals")?);
        }
        Ok(self)
    }

    /// Waits for the first signal.
    pub(crate) async fn wait(&mut self) {
        self.code().await;
    }

    /// Waits for the first signal and returns its shell exit code.
    pub(crate) async fn code(&mut self) -> u8 {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.interrupt.recv() => 130,
            () = hangup => 129,
        }
    }

    /// Waits for the next Ctrl-C.
    async fn interrupted(&mut self) {
        self.interrupt.recv().await;
    }
}

/// Whether the parent process set SIGHUP to ignored. This can be detected only on Linux.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn signals_map_to_shell_exit_codes() {
        use rustix::process::{Signal, getpid, kill_process};
        // `with_hangup` does nothing under `nohup`, and the tests may run under it.
        let hangup = Some(tokio::signal::unix::signal(SignalKind::hangup()).unwrap());
        let mut signals = Signals { hangup, ..Signals::listen().unwrap() };
        for (signal, code) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
            kill_process(getpid(), signal).unwrap();
            assert_eq!(signals.code().await, code);
        }
    }

    #[test]
    fn first_root_follows_the_rule_for_roots() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (data, code) = (real.join("data"), real.join("code"));
        for path in [&data, &code] {
            std::fs::create_dir(path).unwrap();
        }
        let mut config = Config::new(&data);
        assert!(may_be_root(&code, &config));
        assert!(!may_be_root(&data.join("inside"), &config));
        assert!(!may_be_root(Path::new("/"), &config));
        assert!(!may_be_root(&real, &config), "it contains the data folder");
        let made_later = Config::new(real.join("code/later/data"));
        assert!(!may_be_root(&code, &made_later) && may_be_root(&data, &made_later));
        config.listen = ([0, 0, 0, 0], 1).into();
        assert!(!may_be_root(&code, &config));
        config.allow_roots = vec![real.clone()];
        assert!(may_be_root(&code, &config));
        config.allow_roots = vec![data];
        assert!(!may_be_root(&code, &config));
    }
}
