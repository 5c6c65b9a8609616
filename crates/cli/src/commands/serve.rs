//! `toolcrib serve`: starts the server, says where everything is, and stops it in order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use server::{Config, Server};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{Resolved, Settings};
use crate::output;

/// How often, and how long apart, a start is tried on a data folder that is locked: a client command that looks whether a
/// server runs holds the lock for an instant.
const LOCKED_TRIES: u32 = 4;
const LOCKED_PAUSE: Duration = Duration::from_millis(50);

/// How the server runs. Every flag is also an environment variable and a key in toolcrib.toml.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Settings file [default: toolcrib.toml in the data folder]
    #[arg(long, env = "TOOLCRIB_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl ServeArgs {
    /// What holds after flags, environment, file and defaults.
    pub(crate) fn resolve(self) -> Result<Resolved> {
        Resolved::load(self.settings, self.config.as_deref())?.with_address()
    }
}

pub(crate) async fn run(settings: Resolved) -> Result<()> {
    // From here on a signal is ours: one that comes while the server starts must not be lost.
    let mut signals = Signals::listen()?;
    let config = with_first_root(settings.server());
    let server = start(config).await.map_err(|error| start_error(&error))?;
    // The server serves, also when nobody reads what it prints.
    if let Err(error) = output::print(&greeting(&server, &settings)) {
        tracing::warn!("{error:#}");
    }
    if settings.server().listen.ip().is_unspecified() && settings.server().public_url.is_none() {
        tracing::warn!(
            "listening on every address without --public-url: the urls that agents are given only work if you name it"
        );
    }
    signals.wait().await;
    tracing::info!("stopping: waiting for calls under way; Ctrl-C again stops at once");
    tokio::select! {
        () = server.stop() => Ok(()),
        () = signals.interrupted() => {
            tracing::warn!("stopped at once");
            std::process::exit(130)
        }
    }
}

/// Starts a server; a folder that is locked only for a moment is tried again.
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

/// Whether another server holds the data folder, which may be over in a moment.
pub(crate) fn is_locked(error: &base::Error) -> bool {
    error.data().get("reason").is_some_and(|reason| reason == server::LOCKED)
}

/// Why a server did not start, with what it would only tell its log.
pub(crate) fn start_error(error: &base::Error) -> anyhow::Error {
    let log = error.log().map(|log| format!(" ({log})")).unwrap_or_default();
    anyhow::anyhow!("{}{log}", error.message())
}

/// The configuration with the current directory as the root of the first project, where that may be one.
pub(crate) fn with_first_root(mut config: Config) -> Config {
    let here = std::env::current_dir().and_then(|path| path.canonicalize()).ok();
    config.first_root = here.filter(|here| may_be_root(here, &config));
    config
}

/// The same rule as the server's for any root, and never the whole machine.
fn may_be_root(path: &Path, config: &Config) -> bool {
    let allowed = match config.allow_roots.as_slice() {
        [] => config.listen.ip().is_loopback(),
        roots => roots.iter().any(|root| path.starts_with(real(root))),
    };
    allowed && path.parent().is_some() && !path.starts_with(real(&config.data)) && !holds_data(path, config)
}

/// Whether the data folder, which may not have been made yet, lies in `path`.
fn holds_data(path: &Path, config: &Config) -> bool {
    real(&config.data).starts_with(path)
}

/// A path without links, as far as it is there already.
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
            "default (no root: this directory holds the data folder; `toolcrib project set default --root DIR` gives it one)"
                .to_owned()
        }
        None => "default (no root; `toolcrib project set default --root DIR` gives it one where roots are allowed)".to_owned(),
    };
    let mut facts = vec![("url", url), ("data", data.to_string()), ("org", "default".to_owned()), ("project", project)];
    if let Some(file) = &settings.file {
        facts.push(("settings", file.display().to_string()));
    }
    let facts = facts.into_iter().map(|(name, value)| vec![format!("  {name}"), value]).collect::<Vec<_>>();
    let other_folder = crate::environment::default_data().is_ok_and(|default| default != settings.data);
    let flag = if other_folder { format!(" --data {data}") } else { String::new() };
    let next = [
        (format!("toolcrib connect{flag} --print"), "an MCP entry for any client, with a session's key in it"),
        (format!("toolcrib connect{flag} claude"), "set Claude Code up for this directory (or codex, cursor, vscode)"),
        (format!("toolcrib tools{flag}"), "what an agent can use here"),
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
    /// A file that may not grow further: listened to, so that it fails a write and does not end the process.
    _file_size: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self> {
        let hear = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            terminate: hear(SignalKind::terminate())?,
            interrupt: hear(SignalKind::interrupt())?,
            _file_size: hear(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// Until the first of them.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Until the next Ctrl-C.
    async fn interrupted(&mut self) {
        self.interrupt.recv().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_root_keeps_the_rule_of_roots() {
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
        assert!(!may_be_root(&real, &config), "it holds the data folder");
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
