//! Backups through the command line: taken from a running server, restored to either engine, and accepted only when complete.

mod damage;
mod load;
mod pipes;
mod places;
mod round_trip;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use testkit::postgres;

use crate::support::{Crib, Engine, Said, Terminal};

/// A terminal with its own folder for backups and restored data.
pub(super) struct Keeper {
    pub(super) folder: TempDir,
    terminal: Terminal,
}

/// The destination of a restore.
pub(super) struct Target {
    pub(super) folder: TempDir,
    pub(super) database_url: Option<String>,
}

impl Keeper {
    pub(super) fn new() -> Self {
        let folder = TempDir::with_prefix("toolcrib-it-").unwrap();
        let terminal = Terminal::without_data(folder.path());
        Self { folder, terminal }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) async fn run(&self, line: &str) -> Said {
        self.terminal.run(line).await
    }

    /// Backs up a running crib. Returns the `--json` output.
    pub(super) async fn back_up(&self, crib: &Crib, file: &str) -> Value {
        self.terminal.json(&format!("backup {file} {}", place_of(crib))).await
    }

    /// The command line that restores a backup.
    pub(super) fn restore_line(&self, file: &str, target: &Target, key: &Path) -> String {
        format!("restore {file} {} --master-key-file {}", target.flags(), key.display())
    }

    /// Backs up the restored data.
    pub(super) async fn back_up_target(&self, target: &Target, file: &str) -> Value {
        self.terminal.json(&format!("backup {file} {}", target.flags())).await
    }
}

impl Target {
    pub(super) fn new(engine: Engine) -> Self {
        let database_url = (engine == Engine::Postgres).then(postgres::fresh_database);
        Self { folder: TempDir::with_prefix("toolcrib-it-").unwrap(), database_url }
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(super) fn flags(&self) -> String {
        let url = self.database_url.as_ref().map(|url| format!(" --database-url {url}")).unwrap_or_default();
        format!("--data {}{url}", self.data().display())
    }

    /// Starts a server on the restored data, with its original master key.
    pub(super) async fn start(self, key: &Path) -> Crib {
        let (url, key) = (self.database_url, key.to_owned());
        Crib::start_in(self.folder, Engine::Sqlite, move |config| {
            config.database_url = url;
            config.master_key = server::MasterKeySource::File(key);
            super::hooks::allow_local_webhooks(config);
        })
        .await
    }
}

/// The flags that locate a crib's data.
pub(super) fn place_of(crib: &Crib) -> String {
    let url = crib.database_url().map(|url| format!(" --database-url {url}")).unwrap_or_default();
    format!("--data {}{url}", crib.folder.path().join("data").display())
}

/// The path of a crib's master key.
pub(super) fn key_of(crib: &Crib) -> PathBuf {
    crib.folder.path().join("data/master.key")
}

/// The tables of a backup with their checksums, without the two tables that a restore changes.
pub(super) fn tables(about: &Value) -> Vec<Value> {
    about["tables"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|table| table["name"] != "instance" && table["name"] != "instance_keys")
        .cloned()
        .collect()
}
