//! The stdio door: lines in, lines out, on a server that runs or on one of its own.

mod endings;
mod protocol;
mod servers;
mod sizes;

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use crate::support::{Engine, Place, Process, Terminal, in_time, request};

/// A running `toolcrib stdio`.
struct Pipe {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    errors: JoinHandle<String>,
}

/// How one came to its end.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    /// What was still said after the last line that was read.
    rest: Vec<Value>,
    errors: String,
}

impl Pipe {
    fn open(terminal: &Terminal, flags: &str) -> Self {
        let mut command = terminal.command(&format!("stdio {flags}"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
        let errors = tokio::spawn(async move {
            let mut text = String::new();
            stderr.read_to_string(&mut text).await.unwrap();
            text
        });
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take().unwrap(), output, errors, child }
    }

    async fn write(&mut self, line: impl AsRef<[u8]>) {
        self.input.write_all(line.as_ref()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    /// The next line, which must be of the protocol.
    async fn read(&mut self) -> Value {
        let line = in_time(self.output.next_line()).await;
        protocol_of(&line.unwrap().expect("an answer before the end"))
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.write(message.to_string()).await;
        self.read().await
    }

    /// Asks until it is sure that the server is there: the first answer tells that the session is open.
    async fn ready(mut self) -> Self {
        assert_eq!(gist(&self.ask(&request("ready", "ping", json!({}))).await), json!({"id": "ready", "ok": true}));
        self
    }

    async fn signal(&self, name: &str) {
        let id = self.child.id().expect("it runs").to_string();
        assert!(tokio::process::Command::new("kill").args([&format!("-{name}"), &id]).status().await.unwrap().success());
    }

    /// Ends its input and waits for its end.
    async fn close(self) -> Ended {
        drop(self.input);
        Self::finish(self.child, self.output, self.errors).await
    }

    /// Waits for its end while its input stays open.
    async fn wait(self) -> Ended {
        let _open = self.input;
        Self::finish(self.child, self.output, self.errors).await
    }

    async fn finish(mut child: Child, mut output: Lines<BufReader<ChildStdout>>, errors: JoinHandle<String>) -> Ended {
        let ending = async {
            let mut rest = Vec::new();
            while let Some(line) = output.next_line().await.unwrap() {
                rest.push(protocol_of(&line));
            }
            Ended { code: child.wait().await.unwrap().code(), rest, errors: errors.await.unwrap() }
        };
        in_time(ending).await
    }
}

impl Ended {
    /// It ended well and had nothing more to say.
    #[track_caller]
    fn well(&self) {
        assert_eq!((self.code, self.rest.as_slice()), (Some(0), &[][..]), "{self:?}");
    }
}

/// A line of stdout: nothing but messages may stand there.
fn protocol_of(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let of_protocol = |message: &Value| message["jsonrpc"] == "2.0";
    let all = message.as_array().map_or_else(|| of_protocol(&message), |batch| batch.iter().all(of_protocol));
    assert!(all, "{line}");
    message
}

/// What an answer comes down to: whose it is, and that it is good, or its error's code.
fn gist(answer: &Value) -> Value {
    match answer {
        Value::Array(batch) => batch.iter().map(gist).collect(),
        answer if answer.get("error").is_some() => json!({"id": answer["id"], "code": answer["error"]["code"]}),
        answer if answer.get("result").is_some() => json!({"id": answer["id"], "ok": true}),
        answer => panic!("neither result nor error: {answer}"),
    }
}

/// What the door stands on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ground {
    /// A server that runs.
    Running,
    /// A server inside the door itself.
    Embedded,
}

/// A place with or without a server, and a terminal there.
async fn ground(engine: Engine, kind: Ground) -> (Place, Option<Process>, Terminal) {
    let place = Place::new(engine);
    let mut terminal = Terminal::at(&place);
    if let Some(url) = &place.database_url {
        terminal = terminal.with("TOOLCRIB_DATABASE_URL", url);
    }
    let server = if kind == Ground::Running { Some(place.start().await) } else { None };
    (place, server, terminal)
}
