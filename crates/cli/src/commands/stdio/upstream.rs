//! The server behind the bridge: the running server, or an embedded one if none runs.
//!
//! If a running server goes away, the bridge waits for it and starts none itself: the server may be restarting, and an embedded
//! server would lock it out of its data folder. If the server was embedded in another `toolcrib stdio` that exits, the bridge finds
//! or starts another one on the same data. The session continues in both cases.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex as Lock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use server::Server;
use tokio::sync::Mutex;

use crate::client::http_client;
use crate::commands::serve::{is_locked, start_error, with_first_root};
use crate::config::{Resolved, Settings};
use crate::find::{self, Found, ServerArgs, State};
use crate::output;

/// The SQLite database in the data folder.
const DATABASE_FILE: &str = "toolcrib.db";
/// How long to wait for a server that holds the data folder but does not answer yet.
const WAIT: Duration = Duration::from_secs(15);
/// How long to wait between attempts. The pause doubles up to its maximum while a server is down.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Timeout of a health check.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// A server that can be replaced.
pub(super) struct Upstream {
    args: ServerArgs,
    config: Option<PathBuf>,
    now: Lock<(u64, Found)>,
    embedded: Mutex<Option<Server>>,
    /// Whether this process may start a server. It may not after it has used one that runs by itself.
    may_embed: AtomicBool,
}

/// A server that answers.
struct Reached {
    found: Found,
    /// The server, if this process started it.
    server: Option<Server>,
    /// Whether it is embedded in this or in another `toolcrib stdio`.
    is_embedded: bool,
}

impl Upstream {
    /// Finds or starts the server.
    pub(super) async fn open(args: ServerArgs, config: Option<PathBuf>) -> Result<Self> {
        let Reached { found, server, is_embedded } = match args.url {
            Some(_) => Reached { found: args.find()?, server: None, is_embedded: false },
            None => reach(&args, config.as_ref()).await?,
        };
        let (now, embedded) = (Lock::new((0, found)), Mutex::new(server));
        Ok(Self { args, config, now, embedded, may_embed: AtomicBool::new(is_embedded) })
    }

    /// The current server and its number.
    pub(super) fn current(&self) -> (u64, Found) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether this process may start a server.
    pub(super) fn may_embed(&self) -> bool {
        self.may_embed.load(Ordering::Relaxed)
    }

    /// Waits until a server answers in place of server number `seen`, for at most `patience`. Returns whether one does.
    pub(super) async fn renew(&self, seen: u64, patience: Duration) -> bool {
        match tokio::time::timeout(patience, self.replace(seen)).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!("{error:#}");
                false
            }
            Err(_) => false,
        }
    }

    async fn replace(&self, seen: u64) -> Result<()> {
        // One task looks for a server. The others wait for its result.
        let mut embedded = self.embedded.lock().await;
        if self.current().0 != seen {
            return Ok(());
        }
        let Reached { found, server, is_embedded } = if self.may_embed() {
            reach(&self.args, self.config.as_ref()).await?
        } else {
            Reached { found: self.wait().await, server: None, is_embedded: false }
        };
        tracing::info!(url = found.url, embedded = server.is_some(), "the server was gone; using this one");
        if server.is_some() {
            *embedded = server;
        }
        self.may_embed.store(is_embedded, Ordering::Relaxed);
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (seen + 1, found);
        Ok(())
    }

    /// Waits until a server answers.
    async fn wait(&self) -> Found {
        tracing::info!("the server is gone; waiting for it");
        let mut pause = PAUSE;
        loop {
            if let Some(found) = self.running().await {
                return found;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// The server that runs now, if it answers.
    async fn running(&self) -> Option<Found> {
        if self.args.url.is_some() {
            let found = self.current().1;
            // A proxy may hide the health check, so any response will do.
            return check(&found.url).await.is_some().then_some(found);
        }
        let data = settings(&self.args, self.config.as_ref()).ok()?.data;
        match find::look(&data) {
            Ok(State::Running(Some(found))) if answers(&found.url).await => Some(with_key(found, &self.args)),
            _ => None,
        }
    }

    /// Stops the embedded server, if there is one.
    pub(super) async fn close(&self) {
        if let Some(server) = self.embedded.lock().await.take() {
            server.stop().await;
        }
    }
}

/// The settings of an embedded server, from the environment and the settings file.
pub(super) fn settings(args: &ServerArgs, config: Option<&PathBuf>) -> Result<Resolved> {
    let flags = Settings { data: args.data.clone(), ..Settings::default() };
    Resolved::load(flags.or(Settings::from_environment()?), config.map(PathBuf::as_path))
}

/// The server with the given key, or with its own.
fn with_key(found: Found, args: &ServerArgs) -> Found {
    match &args.key {
        Some(key) => Found { key: key.clone(), is_admin: false, ..found },
        None => found,
    }
}

/// Finds the server of the data folder, or starts one.
async fn reach(args: &ServerArgs, config: Option<&PathBuf>) -> Result<Reached> {
    let settings = settings(args, config)?;
    let look = async {
        loop {
            match find::look(&settings.data)? {
                State::Running(Some(found)) if answers(&found.url).await => {
                    let is_embedded = server::stdio_process(&settings.data).is_some();
                    return Ok(Reached { found: with_key(found, args), server: None, is_embedded });
                }
                State::Running(_) => {}
                state @ (State::Fresh | State::Stopped) => match embed(&settings, &state).await {
                    Ok(server) => {
                        tell_embedded(&settings.data, &state);
                        let file = server.server_file();
                        let found = Found { url: file.url.clone(), key: file.key.clone(), is_admin: true };
                        return Ok(Reached { found: with_key(found, args), server: Some(server), is_embedded: true });
                    }
                    // Another server started first, or a command holds the lock for an instant.
                    Err(error) if is_locked(&error) => {}
                    Err(error) => return Err(start_error(&error)),
                },
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let late =
        || format!("a server holds the data folder {} but does not answer; run `toolcrib doctor`", settings.data.display());
    tokio::time::timeout(WAIT, look).await.with_context(late)?
}

/// Starts an embedded server on a free port.
async fn embed(settings: &Resolved, state: &State) -> base::Result<Server> {
    let mut config = with_first_root(settings.server());
    let has_file = settings.data.join(DATABASE_FILE).exists() || server::restore_cut_short(&settings.data).is_some();
    if matches!(state, State::Stopped) && config.database_url.is_none() && !has_file {
        // A new SQLite database would have none of the real server's policies, agents and memory.
        let message = format!(
            "the server of the data folder {} is not running, and its data is in an external database; start it, or set \
             TOOLCRIB_DATABASE_URL or database_url in the settings file",
            settings.data.display()
        );
        return Err(base::Error::new(base::Kind::Conflict, message));
    }
    config.listen = ([127, 0, 0, 1], 0).into();
    config.public_url = None;
    config.command = "toolcrib stdio";
    Server::start(config).await
}

/// Says that an embedded server is used, because its policies come from this data folder.
fn tell_embedded(data: &Path, state: &State) {
    let data = data.display();
    match state {
        State::Fresh => output::tell(&format!(
            "toolcrib: no server was ever started on the data folder {data}, so this process started an embedded one with a new org, \
             project and policies. It stops with this process. To use an existing server, pass its data folder with --data or its \
             address with --url."
        )),
        _ => output::tell(&format!(
            "toolcrib: no server is running on the data folder {data}, so this process started an embedded one. It stops with this \
             process. To keep a server running, use `toolcrib serve --data {data}`."
        )),
    }
}

async fn answers(url: &str) -> bool {
    check(url).await.is_some_and(|status| status.is_success())
}

/// The status of a health check, or `None` without a response.
async fn check(url: &str) -> Option<reqwest::StatusCode> {
    let asked = http_client(url).ok()?.get(format!("{url}/healthz")).timeout(HEALTH_TIMEOUT).send().await;
    Some(asked.ok()?.status())
}
