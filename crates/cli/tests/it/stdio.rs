//! The stdio door, with a running server or with an embedded one.

mod endings;
mod protocol;
mod servers;
mod sizes;

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::support::{Engine, Place, Process, Terminal, eventually, in_time, request};

/// A running `toolcrib stdio`.
struct Pipe {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    errors: JoinHandle<String>,
    /// The lines of stderr so far.
    heard: Arc<Mutex<String>>,
}

/// The end of a `toolcrib stdio`.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    /// The messages after the last one that the test read.
    rest: Vec<Value>,
    errors: String,
}

impl Pipe {
    fn open(terminal: &Terminal, flags: &str) -> Self {
        Self::start(terminal.command(&format!("stdio {flags}")))
    }

    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let heard = Arc::new(Mutex::new(String::new()));
        let so_far = Arc::clone(&heard);
        #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
        let errors = tokio::spawn(async move {
            while let Some(line) = stderr.next_line().await.unwrap() {
                so_far.lock().unwrap().push_str(&format!("{line}\n"));
            }
            so_far.lock().unwrap().clone()
        });
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take().unwrap(), output, errors, heard, child }
    }

    /// Waits until stderr contains one of the texts.
    async fn says(&self, texts: &[&str]) {
        let says = async || texts.iter().any(|text| self.heard.lock().unwrap().contains(text));
        eventually(&format!("stderr says {texts:?}"), says).await;
    }

    async fn write(&mut self, line: impl AsRef<[u8]>) {
        self.input.write_all(line.as_ref()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    /// The next line, which must be a protocol message.
    async fn read(&mut self) -> Value {
        let line = in_time(self.output.next_line()).await;
        parse_message(&line.unwrap().expect("stdout ended without an answer"))
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.write(message.to_string()).await;
        self.read().await
    }

    /// Waits for the first answer, which shows that the session is open.
    async fn ready(mut self) -> Self {
        assert_eq!(summary(&self.ask(&request("ready", "ping", json!({}))).await), json!({"id": "ready", "ok": true}));
        self
    }

    async fn signal(&self, name: &str) {
        let id = self.child.id().expect("it runs").to_string();
        assert!(tokio::process::Command::new("kill").args([&format!("-{name}"), &id]).status().await.unwrap().success());
    }

    /// Closes stdin and waits for the end.
    async fn close(self) -> Ended {
        drop(self.input);
        Self::finish(self.child, self.output, self.errors).await
    }

    /// Waits for the end while stdin stays open.
    async fn wait(self) -> Ended {
        let _open = self.input;
        Self::finish(self.child, self.output, self.errors).await
    }

    async fn finish(mut child: Child, mut output: Lines<BufReader<ChildStdout>>, errors: JoinHandle<String>) -> Ended {
        let ending = async {
            let mut rest = Vec::new();
            while let Some(line) = output.next_line().await.unwrap() {
                rest.push(parse_message(&line));
            }
            Ended { code: child.wait().await.unwrap().code(), rest, errors: errors.await.unwrap() }
        };
        in_time(ending).await
    }
}

impl Ended {
    /// Asserts exit code 0 and no further message.
    #[track_caller]
    fn assert_clean(&self) {
        assert_eq!((self.code, self.rest.as_slice()), (Some(0), &[][..]), "{self:?}");
    }
}

/// Parses a line of stdout, which must be a protocol message.
fn parse_message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let is_message = |message: &Value| message["jsonrpc"] == "2.0";
    let all = message.as_array().map_or_else(|| is_message(&message), |batch| batch.iter().all(is_message));
    assert!(all, "{line}");
    message
}

/// An answer in short: its id, and `ok` or the error code.
fn summary(answer: &Value) -> Value {
    match answer {
        Value::Array(batch) => batch.iter().map(summary).collect(),
        answer if answer.get("error").is_some() => json!({"id": answer["id"], "code": answer["error"]["code"]}),
        answer if answer.get("result").is_some() => json!({"id": answer["id"], "ok": true}),
        answer => panic!("neither result nor error: {answer}"),
    }
}

/// The server behind the stdio door.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Backend {
    /// A running server.
    Running,
    /// A server inside the stdio process.
    Embedded,
}

/// A place with or without a running server, and a terminal.
async fn set_up(engine: Engine, kind: Backend) -> (Place, Option<Process>, Terminal) {
    let place = Place::new(engine);
    let mut terminal = Terminal::at(&place);
    if let Some(url) = &place.database_url {
        terminal = terminal.with("TOOLCRIB_DATABASE_URL", url);
    }
    let server = if kind == Backend::Running { Some(place.start().await) } else { None };
    (place, server, terminal)
}
