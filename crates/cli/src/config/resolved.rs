//! Combines the settings of all sources into the effective settings.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base::Clock;
use server::{Config, EmbedEndpoint, MasterKeySource};

use super::embed::{embed_endpoint, embed_key};
use super::listen::Listen;
use super::settings::{LogFormat, Settings, parse_token};
use crate::environment;
use crate::find::checked_url;

/// The name of a settings file.
pub(crate) const CONFIG_FILE: &str = "toolcrib.toml";

/// Maximum default number of worker threads. More threads cost memory and rarely help.
const WORKERS_DEFAULT_MAX: usize = 4;

/// The effective settings.
#[derive(Debug)]
pub(crate) struct Resolved {
    settings: Settings,
    master_key: MasterKeySource,
    embed_endpoint: Option<EmbedEndpoint>,
    listen: Option<SocketAddr>,
    /// The data folder.
    pub(crate) data: PathBuf,
    /// The file that was read, if any.
    pub(crate) file: Option<PathBuf>,
}

impl Resolved {
    /// Combines `flags` (which include the environment), a file, and the defaults.
    pub(crate) fn load(flags: Settings, config: Option<&Path>) -> Result<Self> {
        let folder = match &flags.data {
            Some(data) => data.clone(),
            None => environment::default_data()?,
        };
        let folder = absolute(&folder)?;
        let file = find_file(config, &folder)?;
        let written = match &file {
            Some(path) => read_file(path)?,
            None => Settings::default(),
        };
        let own_file = folder.join(CONFIG_FILE);
        if let (Some(data), Some(path)) = (&written.data, &file)
            && *path == own_file
            && *data != folder
        {
            bail!("{} lies in the data folder but sets another data folder; remove `data` from it", path.display());
        }
        let master_key = master_key(&flags, &written, environment::master_key());
        let embed_key = embed_key(&flags, &written, environment::embed_key());
        let settings = flags.or(written);
        let embed_endpoint = embed_endpoint(&settings, embed_key)?;
        settings.limits.check().map_err(|error| anyhow::anyhow!("invalid limit: {error}"))?;
        if let Some(token) = &settings.metrics_token {
            parse_token(token).map_err(anyhow::Error::msg).context("invalid metrics token")?;
        }
        if let Some(url) = &settings.public_url {
            checked_url(url).context("invalid public URL")?;
        }
        let data = settings.data.as_deref().map(absolute).transpose()?.unwrap_or(folder);
        // A host name is resolved only when a server starts.
        let listen = match &settings.listen {
            Some(Listen::Address(address)) => Some(*address),
            _ => None,
        };
        Ok(Self { settings, master_key, embed_endpoint, listen, data, file })
    }

    /// Resolves the address to listen on.
    pub(crate) fn with_address(mut self) -> Result<Self> {
        self.listen = self.settings.listen.as_ref().map(Listen::resolve).transpose().map_err(anyhow::Error::msg)?;
        Ok(self)
    }

    /// The configuration of the server.
    pub(crate) fn server(&self) -> Config {
        let settings = &self.settings;
        let default = Config::new(&self.data);
        Config {
            data: self.data.clone(),
            command: default.command,
            listen: self.listen.unwrap_or(default.listen),
            public_url: settings.public_url.clone().or(default.public_url),
            allow_hosts: settings.allow_host.clone().unwrap_or(default.allow_hosts),
            allow_roots: settings.allow_root.clone().unwrap_or(default.allow_roots),
            trust_proxies: settings.trust_proxy.clone().unwrap_or(default.trust_proxies),
            metrics_token: settings.metrics_token.clone().or(default.metrics_token),
            allow_webhook_nets: settings.allow_webhook_net.clone().unwrap_or(default.allow_webhook_nets),
            webhook_retry: default.webhook_retry,
            sources: default.sources,
            subscribers: default.subscribers,
            audit_keep_days: settings.audit_keep_days.or(default.audit_keep_days),
            audit_keep_days_min: settings.audit_keep_days_min.unwrap_or(default.audit_keep_days_min),
            audit_checkpoints: settings.audit_checkpoints.clone().or(default.audit_checkpoints),
            audit_checkpoint_minutes: settings.audit_checkpoint_minutes.unwrap_or(default.audit_checkpoint_minutes),
            database_url: settings.database_url.clone().or(default.database_url),
            master_key: self.master_key.clone(),
            first_root: default.first_root,
            embed_endpoint: self.embed_endpoint.clone(),
            server_name: settings.server_name.clone().unwrap_or(default.server_name),
            limits: settings.limits.over(default.limits),
            conformance: settings.conformance.unwrap_or(default.conformance),
            faults: default.faults,
            clock: Clock::system(),
        }
    }

    /// The number of worker threads.
    pub(crate) fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_DEFAULT_MAX);
        self.settings.workers.unwrap_or_else(cores)
    }

    /// The log filter and format.
    pub(crate) fn logging(&self, default_filter: &'static str) -> (&str, LogFormat) {
        (self.settings.log.as_deref().unwrap_or(default_filter), self.settings.log_format.unwrap_or_default())
    }
}

/// Finds the settings file. An explicitly named file must exist.
fn find_file(config: Option<&Path>, data: &Path) -> Result<Option<PathBuf>> {
    if let Some(named) = config {
        if !named.is_file() {
            bail!("no settings file {}; check --config or TOOLCRIB_CONFIG", named.display());
        }
        return Ok(Some(named.to_owned()));
    }
    Ok(Some(data.join(CONFIG_FILE)).filter(|path| path.is_file()))
}

fn read_file(path: &Path) -> Result<Settings> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the settings file {}", path.display()))?;
    let settings: Settings = toml::from_str(&text)
        .map_err(|error| anyhow::anyhow!("the settings file {}: {}", path.display(), error.to_string().trim_end()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(settings.relative_to(&absolute(folder)?))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("`{}` is not a path", path.display()))
}

/// The source of the master key: the flag or its variable, else the key in the environment, else the settings file, else the data
/// folder.
pub(super) fn master_key(flags: &Settings, written: &Settings, given: Option<String>) -> MasterKeySource {
    match (&flags.master_key_file, given, &written.master_key_file) {
        (Some(file), _, _) | (None, None, Some(file)) => MasterKeySource::File(file.clone()),
        (None, Some(hex), _) => MasterKeySource::Given(hex),
        (None, None, None) => MasterKeySource::DataFolder,
    }
}
