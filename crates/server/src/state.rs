//! The state shared by all request handlers.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use base::limits::Limits;
use base::secret::SecretHash;
use base::{Network, OrgId, Result};
use guard::Guard;
use mcp::reply::ServerInfo;
use tools::Services;

use crate::api::Readiness;
use crate::catalogues::{Catalogues, Menu};
use crate::checkpoints::Checkpoints;
use crate::counted::Counted;
use crate::hooks::{Bus, Courier};
use crate::hosts::Hosts;
use crate::listing::Listings;
use crate::metrics::Metrics;
use crate::refusals::RefusalLog;

/// The parts of one server. Shared as `Arc<State>`.
pub(crate) struct State {
    pub(crate) guard: Guard,
    pub(crate) catalogues: Arc<Catalogues>,
    pub(crate) services: Services,
    pub(crate) listings: Listings,
    /// Open subscription streams, by session or agent. Each stream costs a connection and a task.
    pub(crate) listeners: Counted<String>,
    /// Logins in progress, by address.
    pub(crate) logins: Counted<IpAddr>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Readiness,
    pub(crate) bus: Bus,
    pub(crate) courier: Courier,
    pub(crate) hosts: Hosts,
    /// Limits the logging of refused requests.
    pub(crate) refusal_log: RefusalLog,
    /// The hash of the token for `/metrics`. Without one, only this machine may read the metrics.
    pub(crate) metrics_token: Option<SecretHash>,
    pub(crate) limits: Limits,
    /// The server's name and version in handshakes.
    pub(crate) server_info: ServerInfo,
    /// The URL for clients, without a trailing slash.
    pub(crate) public_url: String,
    pub(crate) roots: RootRule,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub(crate) trusted_proxies: Vec<Network>,
    /// How many days audit entries are kept. `None` keeps them forever.
    pub(crate) audit_keep_days: Option<u32>,
    /// The minimum age in days before an audit entry can be removed.
    pub(crate) audit_keep_days_min: u32,
    /// The checkpoints of audit trails.
    pub(crate) checkpoints: Checkpoints,
    /// Turns true when the server stops. Long-lived answers then end.
    pub(crate) stopping: tokio::sync::watch::Receiver<bool>,
}

impl State {
    /// The current tools of an org.
    pub(crate) async fn menu(&self, org: &OrgId) -> Result<Arc<Menu>> {
        let change_number = self.guard.change_number(org).await?;
        self.catalogues.of(org, change_number).await
    }
}

/// Which directories a project's root may be in.
#[derive(Clone)]
pub(crate) struct RootRule {
    /// The allowed directories, if any.
    pub(crate) allowed: Vec<PathBuf>,
    /// The same directories as written by the operator, possibly with symlinks.
    pub(crate) allowed_as_written: Vec<PathBuf>,
    /// Whether all other directories are allowed too, which is the default on a loopback listener.
    pub(crate) anywhere: bool,
    /// The data folder. A root may neither be inside it nor contain it.
    pub(crate) data: PathBuf,
}

pub(crate) type Shared = Arc<State>;
