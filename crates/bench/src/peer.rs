//! Another MCP server, on stdio.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A running server. It is killed on drop.
pub(crate) struct Peer {
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last_id: u64,
}

impl Peer {
    /// Starts `command` with `file` as its memory file, and initializes the connection.
    pub(crate) async fn start(command: &str, file: &Path) -> Result<Self> {
        let mut words = command.split_whitespace();
        let program = words.next().context("the peer's command is empty")?;
        let mut child = Command::new(program)
            .args(words)
            .env("MEMORY_FILE_PATH", file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start `{command}`"))?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?).lines();
        let mut peer = Self { _child: child, input, output, last_id: 0 };
        let client = json!({"name": "toolcrib-bench", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        peer.request("initialize", hello).await?;
        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(peer)
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        if result.get("isError") == Some(&json!(true)) {
            bail!("{tool} failed: {result}");
        }
        Ok(result)
    }

    async fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        loop {
            let line = self.output.next_line().await?.with_context(|| format!("the peer exited without answering {method}"))?;
            let Ok(mut answer) = serde_json::from_str::<Value>(&line) else { continue };
            if answer.get("id") != Some(&json!(id)) {
                continue;
            }
            if let Some(error) = answer.get("error") {
                bail!("{method} failed: {error}");
            }
            return Ok(answer.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        self.input.flush().await.map_err(Into::into)
    }
}
