//! Settings of a server. The command line fills them in; this crate reads no flags and no environment variables.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;

use base::limits::Limits;
use base::{Clock, Network};
use store::Faults;

use crate::catalogues::Sources;
use crate::hooks::{Retry, Subscribers};

/// All settings of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The data folder.
    pub data: PathBuf,
    /// The command that starts the server. If the data folder is in use, the error names it.
    pub command: &'static str,
    /// The address to listen on. Port 0 picks a free port.
    pub listen: SocketAddr,
    /// The URL that clients use, if it differs from the listen address.
    pub public_url: Option<String>,
    /// Allowed host names of requests, in addition to loopback and the public URL's host.
    pub allow_hosts: Vec<String>,
    /// Directories in which a project's root may be.
    pub allow_roots: Vec<PathBuf>,
    /// Networks of proxies that are trusted to report the client's address.
    pub trust_proxies: Vec<Network>,
    /// The bearer token for `/metrics`. Without one, only this machine may read the metrics.
    pub metrics_token: Option<String>,
    /// Non-public networks that webhooks may connect to.
    pub allow_webhook_nets: Vec<Network>,
    /// The retry schedule of webhook deliveries.
    pub webhook_retry: Retry,
    /// Sources of orgs' registered tools, in addition to the built-in ones.
    pub sources: Sources,
    /// Additional subscribers of the hook bus.
    pub subscribers: Subscribers,
    /// How many days audit entries are kept. `None` keeps them forever.
    pub audit_keep_days: Option<NonZero<u32>>,
    /// The minimum age in days before an audit entry can be removed, by pruning or by `audit_keep_days`.
    pub audit_keep_days_min: u32,
    /// The folder for audit checkpoints, if it is not in the data folder.
    pub audit_checkpoints: Option<PathBuf>,
    /// The interval between checkpoints. 0 disables them.
    pub audit_checkpoint_minutes: u32,
    /// A PostgreSQL database instead of the SQLite file in the data folder.
    pub database_url: Option<String>,
    /// Where the master key comes from.
    pub master_key: MasterKeySource,
    /// The root of the project `default`, which the first start creates.
    pub first_root: Option<PathBuf>,
    /// A remote embedder instead of the bundled model.
    pub embed_endpoint: Option<EmbedEndpoint>,
    /// The server's name in handshakes.
    pub server_name: String,
    /// Limits.
    pub limits: Limits,
    /// Whether the conformance suite's fixtures are served.
    pub conformance: bool,
    /// Store faults for tests.
    pub faults: Faults,
    /// The clock.
    pub clock: Clock,
}

/// Where the master key comes from.
#[derive(Clone, Debug)]
pub enum MasterKeySource {
    /// A file of 64 hex digits that must exist.
    File(PathBuf),
    /// The 64 hex digits themselves.
    Given(String),
    /// A file in the data folder, created on the first start.
    DataFolder,
}

/// An embedder behind an OpenAI-compatible HTTP endpoint.
#[derive(Clone, Debug)]
pub struct EmbedEndpoint {
    /// The base URL, like `http://127.0.0.1:11434/v1`. Requests go to `embeddings` below it.
    pub url: String,
    /// The model name.
    pub model: String,
    /// The length of its vectors. `None` asks the endpoint.
    pub dimension: Option<NonZero<u32>>,
    /// What the model expects before a query.
    pub query_prefix: String,
    /// What the model expects before a text that is stored.
    pub text_prefix: String,
    /// The API key.
    pub key: EmbedKey,
}

/// The key of an embedding endpoint.
#[derive(Clone, Default)]
pub enum EmbedKey {
    /// No key.
    #[default]
    None,
    /// A file with the key.
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
    /// The default settings with this data folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            command: "toolcrib serve",
            listen: SocketAddr::from(([127, 0, 0, 1], 7420)),
            public_url: None,
            allow_hosts: Vec::new(),
            allow_roots: Vec::new(),
            trust_proxies: Vec::new(),
            metrics_token: None,
            allow_webhook_nets: Vec::new(),
            webhook_retry: Retry::default(),
            sources: Sources::default(),
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
