//! What every request handler shares.

use std::path::PathBuf;
use std::sync::Arc;

use base::Network;
use base::limits::Limits;
use base::secret::SecretHash;
use guard::Guard;
use mcp::reply::ServerInfo;
use tools::{Catalogue, Services};

use crate::checkpoints::Checkpoints;
use crate::hooks::{Bus, Courier};
use crate::hosts::Hosts;
use crate::listeners::Listeners;
use crate::listing::Listings;
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::refusals::RefusalLog;

/// One server's parts. Shared as `Arc<State>`.
pub(crate) struct State {
    pub(crate) guard: Guard,
    pub(crate) catalogue: Catalogue,
    pub(crate) services: Services,
    pub(crate) listings: Listings,
    pub(crate) listeners: Listeners,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Readiness,
    pub(crate) bus: Bus,
    pub(crate) courier: Courier,
    pub(crate) hosts: Hosts,
    /// What the log says of refused requests.
    pub(crate) refusal_log: RefusalLog,
    /// What `/metrics` asks for, by its hash. Without one only this machine is answered.
    pub(crate) metrics_token: Option<SecretHash>,
    pub(crate) limits: Limits,
    /// What the server calls itself in handshakes.
    pub(crate) server_info: ServerInfo,
    /// How clients reach the server, without a slash at the end.
    pub(crate) public_url: String,
    pub(crate) roots: RootRule,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub(crate) trusted_proxies: Vec<Network>,
    /// How long audit trails are kept; for good where nothing is said.
    pub(crate) audit_keep_days: Option<u32>,
    /// How many days of audit trails nobody removes.
    pub(crate) audit_keep_days_min: u32,
    /// Where checkpoints of audit trails are written.
    pub(crate) checkpoints: Checkpoints,
    /// Fires when the server stops: long-lived answers end.
    pub(crate) stopping: tokio::sync::watch::Receiver<bool>,
}

/// Where a project's root may lie.
#[derive(Clone)]
pub(crate) struct RootRule {
    /// Only below these, when there are any.
    pub(crate) allowed: Vec<PathBuf>,
    /// The same as the operator spells them, which may be through links.
    pub(crate) allowed_as_written: Vec<PathBuf>,
    /// Whether anything else is allowed: on a loopback listener, for the operator's own convenience.
    pub(crate) anywhere: bool,
    /// Never inside the data folder, nor round it.
    pub(crate) data: PathBuf,
}

pub(crate) type Shared = Arc<State>;
