//! Runs command lines, and captures their output.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::{Place, Process, binary, http};

/// A directory and an environment in which only the test sets `TOOLCRIB_` variables.
#[derive(Clone)]
pub(crate) struct Terminal {
    home: PathBuf,
    pub(crate) here: PathBuf,
    variables: Vec<(String, String)>,
}

/// The output and the exit code of a command.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Terminal {
    /// A terminal in the place's folder, with `TOOLCRIB_DATA` set. The folder is the root of the project `default`.
    pub(crate) fn at(place: &Place) -> Self {
        Self::without_data(place.folder.path()).with("TOOLCRIB_DATA", place.data().to_str().unwrap())
    }

    /// A terminal in a folder that is also the user's home.
    pub(crate) fn without_data(folder: &Path) -> Self {
        let here = folder.canonicalize().unwrap();
        Self { home: here.clone(), here, variables: Vec::new() }
    }

    /// The same terminal with a variable.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut terminal = self.clone();
        terminal.variables.push((name.to_owned(), value.to_owned()));
        terminal
    }

    /// The same terminal in a subdirectory, which is created if needed.
    pub(crate) fn within(&self, folder: &str) -> Self {
        let here = self.here.join(folder);
        std::fs::create_dir_all(&here).unwrap();
        Self { here, ..self.clone() }
    }

    /// A program, not yet started.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TOOLCRIB_")) {
            command.env_remove(name);
        }
        command.env_remove("XDG_DATA_HOME").env("HOME", &self.home).current_dir(&self.here);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// `toolcrib` and a line of arguments, not yet started.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = self.program(binary());
        command.args(words(line));
        command
    }

    /// `toolcrib` and a line of arguments.
    pub(crate) async fn run(&self, line: &str) -> Said {
        Said::by(self.command(line)).await
    }

    /// The same with input on stdin.
    pub(crate) async fn run_with_input(&self, line: &str, input: &str) -> Said {
        Said::by_with_input(self.command(line), input).await
    }

    /// What a command prints with `--json`.
    pub(crate) async fn json(&self, line: &str) -> Value {
        self.run(&format!("{line} --json")).await.json()
    }
}

impl Said {
    pub(crate) async fn by(mut command: Command) -> Self {
        let output = in_time(command.output()).await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    pub(crate) async fn by_with_input(mut command: Command, input: &str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        let output = in_time(child.wait_with_output()).await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Asserts exit code 0. Returns stdout.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.out
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.ok()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts this exit code and an empty stdout. Returns stderr.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        &self.err
    }
}

impl Process {
    /// Asks the management API as the instance admin.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let asked = http().get(format!("{}{path}", self.url)).bearer_auth(&self.admin_key).send().await.unwrap();
        assert_eq!(asked.status(), 200, "{path}");
        asked.json().await.unwrap()
    }

    /// The sessions of the org `default`, newest first.
    pub(crate) async fn sessions(&self) -> Vec<Value> {
        self.get("/api/org/default/sessions").await["sessions"].as_array().unwrap().clone()
    }

    /// A session of the org `default`.
    pub(crate) async fn session(&self, id: &str) -> Value {
        self.get(&format!("/api/org/default/sessions/{id}")).await["session"].take()
    }
}

/// Splits a line like a shell, with single and double quotes.
pub(crate) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    assert_eq!(quote, None, "unclosed quote: {line}");
    words.extend(word);
    words
}

/// Far longer than any step takes. A test that hangs must fail.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for `work`, and fails if it hangs.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("timed out")
}

/// Polls until a condition holds, if there is no event to wait for.
pub(crate) async fn eventually(what: &str, is_so: impl AsyncFn() -> bool) {
    let until_so = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, until_so).await.unwrap_or_else(|_| panic!("timed out: {what}"));
}
