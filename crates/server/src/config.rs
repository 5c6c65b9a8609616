//! What a server is started with. The command line fills it; nothing here reads flags or the environment.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;

use base::limits::Limits;
use base::{Clock, Network};
use store::Faults;

use crate::hooks::{Retry, Subscribers};

/// Everything that decides how a server runs.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the server keeps what is its own.
    pub data: PathBuf,
    /// Where it listens. Port 0 picks a free one.
    pub listen: SocketAddr,
    /// How clients reach it, when that is not where it listens.
    pub public_url: Option<String>,
    /// Host names that requests may carry, beside loopback and the public url's.
    pub allow_hosts: Vec<String>,
    /// Directories under which a project's root may lie.
    pub allow_roots: Vec<PathBuf>,
    /// Networks of proxies whose word for the client's address is believed.
    pub trust_proxies: Vec<Network>,
    /// What `/metrics` asks for as a bearer token. Without one only this machine is answered.
    pub metrics_token: Option<String>,
    /// Networks that webhooks may reach although they are not public.
    pub allow_webhook_nets: Vec<Network>,
    /// How often a webhook's delivery is tried, and how long apart.
    pub webhook_retry: Retry,
    /// Who else is told of calls as they happen.
    pub subscribers: Subscribers,
    /// How many days audit trails are kept; for good where nothing is said.
    pub audit_keep_days: Option<NonZero<u32>>,
    /// How many days of audit trails nobody removes, neither by pruning nor through `audit_keep_days`.
    pub audit_keep_days_min: u32,
    /// Where checkpoints of audit trails are written, when that is not in the data folder.
    pub audit_checkpoints: Option<PathBuf>,
    /// How often that is done; never when this is 0.
    pub audit_checkpoint_minutes: u32,
    /// A PostgreSQL database instead of a file in the data folder.
    pub database_url: Option<String>,
    /// Where the master key comes from.
    pub master_key: MasterKeySource,
    /// The root of the project `default`, made on the first start.
    pub first_root: Option<PathBuf>,
    /// An embedder elsewhere instead of the bundled model.
    pub embed_endpoint: Option<EmbedEndpoint>,
    /// What the server calls itself.
    pub server_name: String,
    /// Limits.
    pub limits: Limits,
    /// Whether the conformance suite's fixtures are served.
    pub conformance: bool,
    /// Faults of the store, which a test asks for.
    pub faults: Faults,
    /// The time.
    pub clock: Clock,
}

/// Where the master key comes from.
#[derive(Clone, Debug)]
pub enum MasterKeySource {
    /// A file of 64 hex digits that must exist.
    File(PathBuf),
    /// The 64 hex digits themselves.
    Given(String),
    /// A file in the data folder, made on the first start.
    DataFolder,
}

/// An embedder behind an OpenAI-compatible HTTP endpoint.
#[derive(Clone, Debug)]
pub struct EmbedEndpoint {
    /// Its base, like `http://127.0.0.1:11434/v1`: requests go to `embeddings` below it.
    pub url: String,
    /// The model it is asked for.
    pub model: String,
    /// How many numbers its vectors have; asked of it where nothing is said.
    pub dimension: Option<NonZero<u32>>,
    /// What it is asked with.
    pub key: EmbedKey,
}

/// The key of an embedding endpoint.
#[derive(Clone, Default)]
pub enum EmbedKey {
    /// It needs none.
    #[default]
    None,
    /// A file that holds it.
    File(PathBuf),
    /// The key itself.
    Given(String),
}

impl fmt::Debug for EmbedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmbedKey::None => formatter.write_str("None"),
            EmbedKey::File(path) => formatter.debug_tuple("File").field(path).finish(),
            EmbedKey::Given(_) => formatter.write_str("Given(…)"),
        }
    }
}

impl Config {
    /// The defaults, with everything in `data`.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 7420)),
            public_url: None,
            allow_hosts: Vec::new(),
            allow_roots: Vec::new(),
            trust_proxies: Vec::new(),
            metrics_token: None,
            allow_webhook_nets: Vec::new(),
            webhook_retry: Retry::default(),
            subscribers: Subscribers::default(),
            audit_keep_days: None,
            audit_keep_days_min: 30,
            audit_checkpoints: None,
            audit_checkpoint_minutes: 60,
            database_url: None,
            master_key: MasterKeySource::DataFolder,
            first_root: None,
            embed_endpoint: None,
            server_name: "toolcrib".to_owned(),
            limits: Limits::default(),
            conformance: false,
            faults: Faults::NONE,
            clock: Clock::system(),
        }
    }
}
