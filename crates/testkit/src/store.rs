//! A new store for a test, on either engine. It can be closed and reopened.

use std::sync::Arc;

use base::{Clock, OrgId, Timestamp};
use store::{Change, Store, StoreConfig, Unrecorded};
use tempfile::TempDir;

use crate::{Engine, postgres};

/// The time of a test's clock, unless the test sets its own.
const START: Timestamp = Timestamp::from_ms(1_763_000_000_000);

/// A store, and the data to reopen it.
pub struct TestStore {
    /// The open store.
    pub store: Store,
    /// The location of its rows.
    pub config: StoreConfig,
    /// Its clock. A manual clock moves only when the test moves it.
    pub clock: Clock,
    // Declared last, so that the store closes its file before the directory is removed.
    _directory: Option<TempDir>,
}

impl TestStore {
    /// Opens an empty store with a manual clock.
    pub async fn open(engine: Engine) -> Self {
        Self::open_with(engine, Clock::manual(START)).await
    }

    /// Opens an empty store with the given clock.
    pub async fn open_with(engine: Engine, clock: Clock) -> Self {
        let (config, directory) = match engine {
            Engine::Sqlite => {
                let directory = TempDir::with_prefix("toolcrib-store-").expect("a temporary directory");
                (StoreConfig::Sqlite { path: directory.path().join("toolcrib.db") }, Some(directory))
            }
            Engine::Postgres => (StoreConfig::Postgres { url: postgres::fresh_database() }, None),
        };
        let store = Store::open(&config, &clock).await.expect("a new store opens");
        Self { store, config, clock, _directory: directory }
    }

    /// Opens a second handle on the same rows, like a second node. SQLite supports only one handle.
    pub async fn second_node(&self) -> Store {
        assert!(matches!(self.config, StoreConfig::Postgres { .. }), "only PostgreSQL has several nodes");
        Store::open(&self.config, &self.clock).await.expect("an existing store opens")
    }

    /// Closes and reopens the store, like a restart.
    pub async fn reopen(&mut self) {
        self.store.close().await;
        self.store = Store::open(&self.config, &self.clock).await.expect("an existing store opens again");
    }

    /// The rows of a new org, for reading and writing.
    pub fn new_org(&self) -> Change {
        self.rows_of(&OrgId::new(self.clock.now()))
    }

    /// The rows of `org`, for reading and writing.
    pub fn rows_of(&self, org: &OrgId) -> Change {
        changing(&self.store, org)
    }
}

/// The rows of `org` in any store, for reading and writing without an audit record.
#[expect(clippy::disallowed_methods, reason = "a domain test takes the role that guard has in the server")]
pub fn changing(store: &Store, org: &OrgId) -> Change {
    store.org(org).sealed_by(Arc::new(Unrecorded))
}
