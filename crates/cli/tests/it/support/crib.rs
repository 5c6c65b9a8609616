//! A server for one test.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use base::limits::Limits;
use reqwest::Method;
use serde_json::{Value, json};
use server::{Config, Server};
use store::{Store, StoreConfig};
use tempfile::TempDir;
use testkit::{Engine, postgres};

use super::{Reply, Tenant, http};

/// A running server, the admin's key, and a temporary folder.
pub(crate) struct Crib {
    pub(crate) url: String,
    pub(crate) admin_key: String,
    pub(crate) http: reqwest::Client,
    server: Option<Server>,
    orgs: AtomicU32,
    store: StoreConfig,
    pub(crate) folder: TempDir,
}

/// Limits without a rate limit, because tests call as fast as they can.
fn without_rate_limits() -> Limits {
    const NO_RATE: u32 = 1_000_000;
    Limits {
        agent_calls_per_minute: NO_RATE,
        agent_calls_burst: NO_RATE,
        key_calls_per_minute: NO_RATE,
        key_calls_burst: NO_RATE,
        org_calls_per_minute: NO_RATE,
        org_calls_burst: NO_RATE,
        ..Limits::default()
    }
}

impl Crib {
    pub(crate) async fn start(engine: Engine) -> Self {
        Self::start_with(engine, |_| ()).await
    }

    /// Starts a server with a changed configuration.
    pub(crate) async fn start_with(engine: Engine, change: impl FnOnce(&mut Config)) -> Self {
        Self::start_in(TempDir::with_prefix("toolcrib-it-").unwrap(), engine, change).await
    }

    /// Starts a server in a folder, which may hold the data of an earlier one.
    pub(crate) async fn start_in(folder: TempDir, engine: Engine, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new(folder.path().join("data"));
        config.listen = ([127, 0, 0, 1], 0).into();
        config.limits = without_rate_limits();
        // Tests prune young entries. Tests of the minimum set it themselves.
        config.audit_keep_days_min = 0;
        if engine == Engine::Postgres {
            config.database_url = Some(postgres::fresh_database());
        }
        change(&mut config);
        let store = match &config.database_url {
            Some(url) => StoreConfig::Postgres { url: url.clone() },
            None => StoreConfig::Sqlite { path: config.data.join("toolcrib.db") },
        };
        let server = start_server(config).await.expect("the server starts");
        let file = server.server_file().clone();
        Self { url: file.url, admin_key: file.key, http: http(), server: Some(server), orgs: AtomicU32::new(0), store, folder }
    }

    /// Another server on the same PostgreSQL database.
    pub(crate) async fn another_node(&self, change: impl FnOnce(&mut Config)) -> Self {
        let url = self.database_url().expect("nodes share PostgreSQL");
        let master = std::fs::read_to_string(self.folder.path().join("data/master.key")).unwrap();
        // The engine only decides about a new database. This node uses an existing one.
        Self::start_with(Engine::Sqlite, |config| {
            config.database_url = Some(url);
            config.master_key = server::MasterKeySource::Given(master.trim().to_owned());
            change(config);
        })
        .await
    }

    /// The URL of its PostgreSQL database, if it has one.
    pub(crate) fn database_url(&self) -> Option<String> {
        match &self.store {
            StoreConfig::Postgres { url } => Some(url.clone()),
            StoreConfig::Sqlite { .. } => None,
        }
    }

    pub(crate) async fn stop(self) {
        self.stop_and_keep().await;
    }

    /// Stops the server and returns its folder.
    pub(crate) async fn stop_and_keep(mut self) -> TempDir {
        self.server.take().unwrap().stop().await;
        self.folder
    }

    /// Changes rows directly in the database. The org is `?1`.
    pub(crate) async fn tamper(&self, statement: &'static str, org: &str) {
        let store = Store::open(&self.store, &base::Clock::default()).await.unwrap();
        let org = org.to_owned();
        let touched = store.write_instance(move |tx| tx.execute(statement, &store::params![org])).await.unwrap();
        assert!(touched > 0, "{statement}");
        store.close().await;
    }

    /// The column `value` of each row as text, read directly from the database. The org is `?1`.
    pub(crate) async fn rows(&self, statement: &'static str, org: &str) -> Vec<String> {
        let store = Store::open(&self.store, &base::Clock::default()).await.unwrap();
        let found = store.query(statement, &store::params![org], |row| row.get::<String>("value")).await.unwrap();
        store.close().await;
        found
    }

    /// Runs the janitor's hourly cleanup now.
    pub(crate) async fn sweep(&self) -> server::Swept {
        self.server.as_ref().unwrap().sweep().await.unwrap()
    }

    /// Writes the hourly checkpoints now. Returns the number of changed trails.
    pub(crate) async fn write_checkpoints(&self) -> usize {
        self.server.as_ref().unwrap().write_checkpoints().await.unwrap()
    }

    /// A new org with a full key and one project.
    pub(crate) async fn tenant(&self) -> Tenant<'_> {
        let name = format!("org {}", self.orgs.fetch_add(1, Ordering::Relaxed));
        let made = self.api(Method::POST, "/api/orgs", &self.admin_key, Some(json!({"name": name}))).await.expect(201);
        let (org, key) = (made["org"]["id"].as_str().unwrap(), made["key"]["fullKey"].as_str().unwrap());
        Tenant::new(self, org, key).await
    }

    /// A management call.
    pub(crate) async fn api(&self, method: Method, path: &str, key: &str, body: Option<Value>) -> Reply {
        let mut request = self.http.request(method, format!("{}{path}", self.url)).bearer_auth(key);
        if let Some(body) = body {
            request = request.json(&body);
        }
        Reply::read(request.send().await.unwrap()).await
    }

    /// Sends a request that the test has built.
    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        Reply::read(request.send().await.unwrap()).await
    }
}

/// The number of tries on a locked data folder, and the pause between them.
const LOCKED_TRIES: u32 = 200;
const LOCKED_PAUSE: Duration = Duration::from_millis(50);

/// Starts a server, and retries while the data folder is locked. The process of another test inherits the lock of an earlier server
/// between fork and exec, and holds it for that moment.
pub(crate) async fn start_server(config: Config) -> base::Result<Server> {
    for _ in 1..LOCKED_TRIES {
        match Server::start(config.clone()).await {
            Err(error) if error.data().get("reason").is_some_and(|reason| reason == server::LOCKED) => {
                tokio::time::sleep(LOCKED_PAUSE).await;
            }
            started => return started,
        }
    }
    Server::start(config).await
}
