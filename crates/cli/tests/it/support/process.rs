//! The real binary as a process, for what only a process can show: signals, kill -9, a full disk.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use testkit::{Engine, postgres};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Where a process keeps its data, so that another can be started on it.
pub(crate) struct Place {
    /// Where its people work, and the root of its project `default`.
    pub(crate) folder: TempDir,
    data: TempDir,
    pub(crate) database_url: Option<String>,
}

/// A running `toolcrib serve`.
pub(crate) struct Process {
    pub(crate) url: String,
    pub(crate) admin_key: String,
    pub(crate) child: Child,
}

pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_toolcrib"))
}

impl Place {
    pub(crate) fn new(engine: Engine) -> Self {
        let database_url = (engine == Engine::Postgres).then(postgres::fresh_database);
        let folder = || TempDir::with_prefix("toolcrib-it-").unwrap();
        Self { folder: folder(), data: folder(), database_url }
    }

    pub(crate) fn data(&self) -> PathBuf {
        // Not below the folder: what holds the data cannot be a root.
        self.data.path().join("data")
    }

    /// `toolcrib serve` on this place, not yet started.
    pub(crate) fn serve(&self) -> Command {
        let mut command = Command::new(binary());
        command.arg("serve").arg("--data").arg(self.data()).args(["--listen", "127.0.0.1:0"]);
        if let Some(url) = &self.database_url {
            command.args(["--database-url", url]);
        }
        command.current_dir(self.folder.path()).env("TOOLCRIB_LOG", "warn").stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    pub(crate) async fn start(&self) -> Process {
        Process::start(self.serve(), &self.data()).await
    }
}

impl Process {
    /// Starts `command` and waits until it says where it listens.
    pub(crate) async fn start(mut command: Command, data: &Path) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = loop {
            let line = lines.next_line().await.unwrap().expect("the server says where it listens before it ends");
            if let Some(start) = line.find("http://127.0.0.1:") {
                break line[start..].split_whitespace().next().unwrap().trim_end_matches(['.', ',', '/']).to_owned();
            }
        };
        // Nobody reads the rest, and a full pipe must not stop the server.
        #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let file = server::find_running(data).expect("server.json is there once the server is ready");
        assert_eq!(file.url, url);
        Self { url, admin_key: file.key, child }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Sends a signal by name.
    pub(crate) async fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status().await.unwrap();
        assert!(sent.success());
    }

    /// Kills it without a word, and waits until it is gone.
    pub(crate) async fn kill_nine(mut self) {
        self.child.kill().await.unwrap();
    }
}
