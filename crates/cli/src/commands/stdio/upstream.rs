//! The server behind the bridge: the one that runs, or one of our own when there is none. When it goes away (it may live
//! inside another `toolcrib stdio` that has come to its end), the next one is found or started on the same data, and the
//! session goes on.

use std::path::{Path, PathBuf};
use std::sync::{Mutex as Lock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use server::Server;
use tokio::sync::Mutex;

use crate::client::http_client;
use crate::commands::serve::{is_locked, start_error, with_first_root};
use crate::config::{Resolved, Settings};
use crate::find::{self, Found, ServerArgs, State};

/// The database of a server that keeps its data in its folder.
const DATABASE_FILE: &str = "toolcrib.db";
/// How long we wait for a server that holds the data folder but does not answer yet.
const WAIT: Duration = Duration::from_secs(15);
/// How often we look meanwhile.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a server may take to say that it lives.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// A server that can be found again.
pub(super) struct Upstream {
    args: ServerArgs,
    config: Option<PathBuf>,
    now: Lock<(u64, Found)>,
    embedded: Mutex<Option<Server>>,
}

impl Upstream {
    /// Finds or starts the server.
    pub(super) async fn open(args: ServerArgs, config: Option<PathBuf>) -> Result<Self> {
        let (found, embedded) = reach(&args, config.as_ref()).await?;
        Ok(Self { args, config, now: Lock::new((0, found)), embedded: Mutex::new(embedded) })
    }

    /// The server as it was last found, and the how manieth that is.
    pub(super) fn current(&self) -> (u64, Found) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Finds or starts the server anew, unless somebody did since the `seen`th.
    pub(super) async fn renew(&self, seen: u64) -> Result<()> {
        if self.args.url.is_some() {
            bail!("the server was named by its url");
        }
        let mut embedded = self.embedded.lock().await;
        if self.current().0 != seen {
            return Ok(());
        }
        let (found, server) = reach(&self.args, self.config.as_ref()).await?;
        tracing::info!(url = found.url, embedded = server.is_some(), "the server was gone; this one takes over");
        if server.is_some() {
            *embedded = server;
        }
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (seen + 1, found);
        Ok(())
    }

    /// Stops the server if it is our own.
    pub(super) async fn close(&self) {
        if let Some(server) = self.embedded.lock().await.take() {
            server.stop().await;
        }
    }
}

/// The settings that an embedded server has: the environment's and those in the data folder's file.
pub(super) fn settings(args: &ServerArgs, config: Option<&PathBuf>) -> Result<Resolved> {
    let said = Settings { data: args.data.clone(), ..Settings::default() };
    Resolved::load(said.or(Settings::from_environment()?), config.map(PathBuf::as_path))
}

async fn reach(args: &ServerArgs, config: Option<&PathBuf>) -> Result<(Found, Option<Server>)> {
    if args.url.is_some() {
        return Ok((args.find()?, None));
    }
    let settings = settings(args, config)?;
    let with_key = |found: Found| match &args.key {
        Some(key) => Found { key: key.clone(), is_admin: false, ..found },
        None => found,
    };
    let look = async {
        loop {
            match find::look(&settings.data) {
                State::Running(Some(found)) if answers(&found.url).await => return Ok((with_key(found), None)),
                State::Running(_) => {}
                state @ (State::Fresh | State::Stopped) => match embed(&settings, &state).await {
                    Ok(server) => {
                        tell_embedded(&settings.data, &state);
                        let file = server.server_file();
                        let found = Found { url: file.url.clone(), key: file.key.clone(), is_admin: true };
                        return Ok((with_key(found), Some(server)));
                    }
                    // Another server was faster, or holds the folder for an instant.
                    Err(error) if is_locked(&error) => {}
                    Err(error) => return Err(start_error(&error)),
                },
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let late = || {
        format!("a server holds the data folder {} but does not answer: `toolcrib doctor` tells more", settings.data.display())
    };
    tokio::time::timeout(WAIT, look).await.with_context(late)?
}

/// Starts a server of our own, on a port that nobody else has.
async fn embed(settings: &Resolved, state: &State) -> base::Result<Server> {
    let mut config = with_first_root(settings.server());
    if matches!(state, State::Stopped) && config.database_url.is_none() && !settings.data.join(DATABASE_FILE).exists() {
        // A second database beside the real one would hold none of its policies, agents and memory.
        let message = format!(
            "the server of the data folder {} is not running and keeps its data in a database elsewhere: start it, or name its \
             database with TOOLCRIB_DATABASE_URL or in the settings file",
            settings.data.display()
        );
        return Err(base::Error::new(base::Kind::Conflict, message));
    }
    config.listen = ([127, 0, 0, 1], 0).into();
    config.public_url = None;
    Server::start(config).await
}

/// Says that nobody else's server is used: what governs the session is what is in this data folder.
fn tell_embedded(data: &Path, state: &State) {
    let data = data.display();
    match state {
        State::Fresh => eprintln!(
            "toolcrib: no server was ever started on the data folder {data}, so this process made a new one there, with its own org, \
             project and policies, and serves it until it ends. If your server is another one, name its data folder with --data \
             or its address with --url."
        ),
        _ => eprintln!(
            "toolcrib: no server is running on the data folder {data}, so this process serves it until it ends. \
             `toolcrib serve --data {data}` keeps one running."
        ),
    }
}

async fn answers(url: &str) -> bool {
    let Ok(http) = http_client(url) else { return false };
    let asked = http.get(format!("{url}/healthz")).timeout(HEALTH_TIMEOUT).send().await;
    asked.is_ok_and(|response| response.status().is_success())
}
