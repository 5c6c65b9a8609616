//! A server of a test's own.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use base::limits::Limits;
use reqwest::Method;
use serde_json::{Value, json};
use server::{Config, Server};
use store::{Store, StoreConfig};
use tempfile::TempDir;
use testkit::{Engine, postgres};

use super::{Reply, Tenant};

/// A running server, its admin's key, and a folder that goes away with it.
pub(crate) struct Crib {
    pub(crate) url: String,
    pub(crate) admin_key: String,
    pub(crate) http: reqwest::Client,
    server: Option<Server>,
    orgs: AtomicU32,
    store: StoreConfig,
    pub(crate) folder: TempDir,
}

/// Tests call as often as the machine lets them, so a rate stops nobody, except in a test that sets one.
fn tireless() -> Limits {
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

    /// Starts a server whose configuration the test has changed.
    pub(crate) async fn start_with(engine: Engine, change: impl FnOnce(&mut Config)) -> Self {
        Self::start_in(TempDir::with_prefix("toolcrib-it-").unwrap(), engine, change).await
    }

    /// Starts a server in a folder, which may hold another's data.
    pub(crate) async fn start_in(folder: TempDir, engine: Engine, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new(folder.path().join("data"));
        config.listen = ([127, 0, 0, 1], 0).into();
        config.limits = tireless();
        // Tests prune what has just happened, except those of the minimum.
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
        Self { url: file.url, admin_key: file.key, http: client(), server: Some(server), orgs: AtomicU32::new(0), store, folder }
    }

    /// Another server on the same PostgreSQL database.
    pub(crate) async fn another_node(&self, change: impl FnOnce(&mut Config)) -> Self {
        let url = self.database_url().expect("nodes share PostgreSQL");
        let master = std::fs::read_to_string(self.folder.path().join("data/master.key")).unwrap();
        // Its own folder, and a database that is there already.
        Self::start_with(Engine::Sqlite, |config| {
            config.database_url = Some(url);
            config.master_key = server::MasterKeySource::Given(master.trim().to_owned());
            change(config);
        })
        .await
    }

    /// Where its rows are, when that is PostgreSQL.
    pub(crate) fn database_url(&self) -> Option<String> {
        match &self.store {
            StoreConfig::Postgres { url } => Some(url.clone()),
            StoreConfig::Sqlite { .. } => None,
        }
    }

    pub(crate) async fn stop(self) {
        self.stop_and_keep().await;
    }

    /// Stops, and leaves the folder.
    pub(crate) async fn stop_and_keep(mut self) -> TempDir {
        self.server.take().unwrap().stop().await;
        self.folder
    }

    /// Changes rows behind the server's back, as someone with the database's password would. The org is `?1`.
    pub(crate) async fn tamper(&self, statement: &'static str, org: &str) {
        let store = Store::open(&self.store, &base::Clock::default()).await.unwrap();
        let org = org.to_owned();
        let touched = store.write_instance(move |tx| tx.execute(statement, &store::params![org])).await.unwrap();
        assert!(touched > 0, "{statement}");
        store.close().await;
    }

    /// The first column of rows, as text, read behind the server's back. The org is `?1`.
    pub(crate) async fn rows(&self, statement: &'static str, org: &str) -> Vec<String> {
        let store = Store::open(&self.store, &base::Clock::default()).await.unwrap();
        let found = store.query(statement, &store::params![org], |row| row.get::<String>(0)).await.unwrap();
        store.close().await;
        found
    }

    /// What the janitor does by itself every hour.
    pub(crate) async fn sweep(&self) -> server::Swept {
        self.server.as_ref().unwrap().sweep().await.unwrap()
    }

    /// What the server does by itself every hour. Says how many trails have moved.
    pub(crate) async fn write_checkpoints(&self) -> usize {
        self.server.as_ref().unwrap().write_checkpoints().await.unwrap()
    }

    /// A new org with a key that may do everything and one project.
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

    /// A request that the test has made itself.
    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        Reply::read(request.send().await.unwrap()).await
    }
}

/// How often, and how long apart, a start is tried on a data folder that is locked.
const LOCKED_TRIES: u32 = 200;
const LOCKED_PAUSE: Duration = Duration::from_millis(50);

/// Starts a server in a folder that another may have had a moment ago. A child that some test starts just then holds the lock too,
/// until it has become its program.
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

/// A client that asks the server and nobody between.
fn client() -> reqwest::Client {
    // Whoever was first has installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}
