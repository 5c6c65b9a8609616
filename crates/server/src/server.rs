//! A running server: its start and its stop.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use base::limits::{LISTENERS_PER_CALLER_MAX, LOGINS_PER_ADDRESS_AT_ONCE};
use base::secret::SecretHash;
use base::{Error, Kind, Result};
use guard::{Guard, Swept, Vocabulary};
use mcp::reply::ServerInfo;
use store::{Store, StoreConfig};
use tokio::sync::watch;
use tools::{Catalogue, Changes, Services};

use crate::background::Background;
use crate::catalogues::Catalogues;
use crate::checkpoints::{self, Checkpoints};
use crate::config::Config;
use crate::counted::Counted;
use crate::data_folder::DataFolder;
use crate::hooks::{Bus, Courier, Relay, Subscriber};
use crate::hosts::{Hosts, host_of_url};
use crate::listing::Listings;
use crate::metrics::Metrics;
use crate::refusals::RefusalLog;
use crate::server_file::{ServerFile, find_running};
use crate::state::{RootRule, Shared, State};
use crate::{api, background, embedding, first_start, listen};

/// A running server.
pub struct Server {
    address: SocketAddr,
    server_file: ServerFile,
    data: std::path::PathBuf,
    first_start: bool,
    stop: watch::Sender<bool>,
    background: Background,
    state: Shared,
    store: Store,
    _folder: DataFolder,
}

impl Server {
    /// Opens the data, binds the address, and starts serving.
    pub async fn start(config: Config) -> Result<Self> {
        check_retention(&config)?;
        let folder = DataFolder::open(&config.data, config.command)?;
        let store_config = match &config.database_url {
            Some(url) => StoreConfig::Postgres { url: url.clone() },
            None => StoreConfig::Sqlite { path: folder.database() },
        };
        if config.database_url.is_none() {
            folder.ensure_private_database()?;
        }
        let store = Store::open_with(&store_config, &config.clock, config.faults.clone())
            .await
            .map_err(|error| unusable_file(&store_config, error))?;
        folder.remember_engine(store.engine())?;
        folder.forget_other_rows(store.last_restore().await?.as_deref())?;
        let master = folder.master_key(&config.master_key)?;
        let catalogue = if config.conformance { Catalogue::with_conformance()? } else { Catalogue::builtin()? };
        let catalogues = Arc::new(Catalogues::new(catalogue, config.sources.0.clone())?);
        let vocabulary = Arc::clone(&catalogues) as Arc<dyn Vocabulary>;
        let guard = Guard::open(store.clone(), config.clock.clone(), config.limits.clone(), &master.key, vocabulary)
            .await
            .map_err(|error| master.refused(error))?;
        let (stop, stopping) = watch::channel(false);
        let metrics = Arc::new(Metrics::new());
        // Before anything is created, so that a failed start does not count as the first one.
        let (indexes, code) = embedding::indexes(&config, &folder, metrics.embed_failures(), stopping.clone()).await?;
        let listener = listen::bind(config.listen).map_err(|error| cannot_listen(config.listen, &error))?;
        let first_start = first_start::ensure_default_org(&guard, config.first_root.as_deref()).await?.is_some();
        let address = listener.local_addr().map_err(Error::internal)?;
        let local_url = format!("http://{}", reachable(address));
        let server_file = ServerFile { url: local_url.clone(), key: admin_key(&guard, &folder).await? };

        let services = Services {
            clock: config.clock.clone(),
            request_state_key: master.key.derive("request-state"),
            indexes: Arc::new(indexes),
            code: Arc::new(code),
            changes: Changes::default(),
        };
        let around = Surroundings { folder: &folder, local_url: &local_url, metrics, stopping: stopping.clone() };
        let state = make_state(&config, guard, catalogues, services, around)?;
        let router = api::router(Arc::clone(&state));
        // Before the first answer, so that every answered client finds the file.
        folder.write_server_file(&server_file)?;
        let mut background = Background::default();
        background.start("accept loop", listen::serve(listener, router, Arc::clone(&state), stopping.clone()));
        background.start("cleanup", background::sweep_hourly(Arc::clone(&state), stopping.clone()));
        background.start("late records", late_records(Arc::clone(&state), stopping.clone()));
        background.start("embedder", embedding::run(Arc::clone(&state), stopping.clone()));
        background.start("code index", background::index_code(Arc::clone(&state), stopping.clone()));
        let every = Duration::from_secs(u64::from(config.audit_checkpoint_minutes) * 60);
        if !every.is_zero() {
            let work = checkpoints::write_regularly(Arc::clone(&state), every, stopping.clone());
            background.start("checkpoint writer", work);
        }
        let relay = Relay::new(Arc::clone(&state), &folder.node()?, config.webhook_retry, stopping);
        background.start("hook relay", relay.run());
        tracing::info!(%address, engine = ?store.engine(), data = %folder.path().display(), "ready");
        let data = folder.path().to_owned();
        Ok(Self { address, server_file, data, first_start, stop, background, state, store, _folder: folder })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The connection data for the command line.
    pub fn server_file(&self) -> &ServerFile {
        &self.server_file
    }

    /// The data folder.
    pub fn data(&self) -> &std::path::Path {
        &self.data
    }

    /// Whether this start created the instance.
    pub fn is_first_start(&self) -> bool {
        self.first_start
    }

    /// Cleans up now, as the server does every hour.
    pub async fn sweep(&self) -> Result<Swept> {
        self.state.guard.record_counted(false).await?;
        self.state.guard.sweep(self.state.audit_keep_days).await
    }

    /// Writes checkpoints of the audit trails that have grown, as the server does regularly. Returns how many.
    pub async fn write_checkpoints(&self) -> Result<usize> {
        self.state.checkpoints.write(&self.state).await
    }

    /// Accepts no new calls, waits for running ones, and closes the store.
    pub async fn stop(self) {
        // Fails only if the accept loop has already ended.
        let _ = self.stop.send(true);
        self.background.drain().await;
        self.state.guard.write_last_records().await;
        background::record_counted(&self.state, true).await;
        self.store.close().await;
    }
}

/// Adds the path of the database file to an error, because the store's own message is for callers and does not name it.
fn unusable_file(config: &StoreConfig, error: Error) -> Error {
    match (config, error.kind()) {
        (StoreConfig::Sqlite { path }, Kind::Unavailable) => {
            let words = format!(
                "cannot open the database {}; let this user read and write it, or restore a backup if it is damaged",
                path.display()
            );
            Error::new(Kind::Unavailable, words).logged(error.log().unwrap_or_default())
        }
        _ => error,
    }
}

/// Why the server cannot listen on an address, and what to do.
fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> Error {
    use std::io::ErrorKind;
    let hint = match error.kind() {
        ErrorKind::AddrInUse => {
            "stop the program that listens there, or pass another port with --listen (port 0 picks a free one)"
        }
        ErrorKind::AddrNotAvailable => "this machine does not have that address; pass another one with --listen",
        ErrorKind::PermissionDenied => "ports below 1024 need extra rights; pass another one with --listen",
        _ => "pass another address with --listen",
    };
    Error::new(Kind::Unavailable, format!("cannot listen on {address}: {error}\nhint: {hint}"))
}

/// Writes the records of calls whose callers disconnected.
async fn late_records(state: Shared, stopping: watch::Receiver<bool>) {
    state.guard.write_late_records(stopping).await;
}

/// An address at which this machine can reach the listener, even if that listens on all addresses.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    address
}

/// The retention time must not be shorter than the minimum.
fn check_retention(config: &Config) -> Result<()> {
    let least = config.audit_keep_days_min;
    match config.audit_keep_days {
        Some(days) if days.get() < least => {
            let message = format!(
                "--audit-keep-days (`{days}`) is less than --audit-keep-days-min (`{least}`); raise the first or lower the second"
            );
            Err(Error::new(Kind::Conflict, message))
        }
        _ => Ok(()),
    }
}

/// The admin key from the existing `server.json`, so that copies of it stay valid, or a new one.
async fn admin_key(guard: &Guard, folder: &DataFolder) -> Result<String> {
    let key = match find_running(folder.path()) {
        Some(file) if file.key.starts_with("rsk_") => file.key,
        _ => Guard::mint_instance_key(),
    };
    guard.remember_instance_key(&key, &folder.node()?).await?;
    Ok(key)
}

/// What is needed to create the state.
struct Surroundings<'s> {
    folder: &'s DataFolder,
    local_url: &'s str,
    metrics: Arc<Metrics>,
    stopping: watch::Receiver<bool>,
}

fn make_state(
    config: &Config,
    guard: Guard,
    catalogues: Arc<Catalogues>,
    services: Services,
    around: Surroundings<'_>,
) -> Result<Shared> {
    let Surroundings { folder, local_url, metrics, stopping } = around;
    let public_url = config.public_url.as_deref().unwrap_or(local_url).trim_end_matches('/').to_owned();
    let named = config.allow_hosts.iter().map(String::as_str).chain(host_of_url(&public_url));
    let local = host_of_url(local_url);
    let hosts = Hosts::new(named.chain(local));
    let allowed = config.allow_roots.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone())).collect::<Vec<_>>();
    for root in config.allow_roots.iter().filter(|root| !root.is_dir()) {
        tracing::warn!("--allow-root {} is not a folder; no project can have its root there", root.display());
    }
    let anywhere = allowed.is_empty() && config.listen.ip().is_loopback();
    let allowed_as_written = config.allow_roots.iter().filter_map(|root| std::path::absolute(root).ok()).collect();
    let roots = RootRule { anywhere, allowed, allowed_as_written, data: folder.path().to_owned() };
    let mut subscribers: Vec<Arc<dyn Subscriber>> = vec![Arc::clone(&metrics) as Arc<dyn Subscriber>];
    subscribers.extend(config.subscribers.0.iter().cloned());
    Ok(Arc::new(State {
        guard,
        catalogues,
        services,
        listings: Listings::new(),
        listeners: Counted::new(LISTENERS_PER_CALLER_MAX),
        logins: Counted::new(LOGINS_PER_ADDRESS_AT_ONCE),
        bus: Bus::new(subscribers, metrics.hook_panics()),
        courier: Courier::new(&config.allow_webhook_nets),
        metrics,
        readiness: api::Readiness::default(),
        hosts,
        refusal_log: RefusalLog::default(),
        metrics_token: config.metrics_token.as_deref().map(SecretHash::of),
        limits: config.limits.clone(),
        server_info: ServerInfo { name: config.server_name.clone(), version: env!("CARGO_PKG_VERSION").to_owned() },
        public_url,
        roots,
        trusted_proxies: config.trust_proxies.clone(),
        audit_keep_days: config.audit_keep_days.map(NonZero::get),
        audit_keep_days_min: config.audit_keep_days_min,
        checkpoints: Checkpoints::new(checkpoints::folder(config, folder.path())),
        stopping,
    }))
}
