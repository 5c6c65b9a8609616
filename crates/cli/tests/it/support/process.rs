//! The real binary as a process, for tests of signals, kill -9 and full disks.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use testkit::{Engine, postgres};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The folders and the database of a process, so that another process can use them later.
pub(crate) struct Place {
    /// The working directory, and the root of the project `default`.
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

/// The same command, for a process that hears SIGHUP even if the tests run under `nohup`.
pub(crate) fn hearing_hangup(command: &Command) -> Command {
    let command = command.as_std();
    let mut same = Command::new("env");
    same.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => same.env(name, value),
            None => same.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        same.current_dir(folder);
    }
    same.stdin(Stdio::null()).kill_on_drop(true);
    same
}

impl Place {
    pub(crate) fn new(engine: Engine) -> Self {
        let database_url = (engine == Engine::Postgres).then(postgres::fresh_database);
        let folder = || TempDir::with_prefix("toolcrib-it-").unwrap();
        Self { folder: folder(), data: folder(), database_url }
    }

    pub(crate) fn data(&self) -> PathBuf {
        // Outside `folder`, because a root must not contain the data folder.
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
    /// Starts `command` and waits until it prints its URL.
    pub(crate) async fn start(mut command: Command, data: &Path) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = loop {
            let line = lines.next_line().await.unwrap().expect("the server ended before it printed its URL");
            if let Some(start) = line.find("http://127.0.0.1:") {
                break line[start..].split_whitespace().next().unwrap().trim_end_matches(['.', ',', '/']).to_owned();
            }
        };
        // Drains stdout, because a full pipe would block the server.
        #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let file = server::find_running(data).expect("a ready server has written server.json");
        assert_eq!(file.url, url);
        Self { url, admin_key: file.key, child }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id().expect("the process runs")
    }

    /// Sends a signal by name.
    pub(crate) async fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status().await.unwrap();
        assert!(sent.success());
    }

    /// Sends a signal and waits for the end, which must be clean.
    pub(crate) async fn stop_with(mut self, name: &str) {
        self.signal(name).await;
        let status = super::in_time(self.child.wait()).await.unwrap();
        assert!(status.success(), "{name}: {status}");
    }

    /// Kills the process with SIGKILL and waits for its end.
    pub(crate) async fn kill_nine(mut self) {
        self.child.kill().await.unwrap();
    }
}
