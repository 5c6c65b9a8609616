//! A store of a test's own, on either engine, that can be closed and opened again.

use base::{Clock, OrgId, Timestamp};
use store::{OrgStore, Store, StoreConfig};
use tempfile::TempDir;

use crate::{Engine, postgres};

/// The moment at which a test's clock stands, unless the test brings its own.
const START: Timestamp = Timestamp::from_ms(1_763_000_000_000);

/// An empty store, and how to open it again.
pub struct TestStore {
    /// The open store.
    pub store: Store,
    /// Where its rows are.
    pub config: StoreConfig,
    /// The clock it was opened with: it stands still until the test moves it.
    pub clock: Clock,
    // Declared last, so that the store lets go of its file before the directory is removed.
    _directory: Option<TempDir>,
}

impl TestStore {
    /// An empty store with a clock that stands still.
    pub async fn open(engine: Engine) -> Self {
        Self::open_with(engine, Clock::manual(START)).await
    }

    /// An empty store with the test's own clock.
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

    /// Another handle on the same rows, as a second node has. A SQLite file belongs to one process and one handle.
    pub async fn second_node(&self) -> Store {
        assert!(matches!(self.config, StoreConfig::Postgres { .. }), "only PostgreSQL has several nodes");
        Store::open(&self.config, &self.clock).await.expect("an existing store opens")
    }

    /// Closes the store and opens it again, as a restart does.
    pub async fn reopen(&mut self) {
        self.store.close().await;
        self.store = Store::open(&self.config, &self.clock).await.expect("an existing store opens again");
    }

    /// The rows of a new org.
    pub fn new_org(&self) -> OrgStore {
        self.rows_of(&OrgId::new(self.clock.now()))
    }

    /// The rows of `org`.
    pub fn rows_of(&self, org: &OrgId) -> OrgStore {
        #[expect(clippy::disallowed_methods, reason = "a test of a domain stands where guard stands in the server")]
        self.store.org(org)
    }
}
