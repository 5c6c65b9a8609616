//! A short-lived session for one command, used through the same session door that agents use.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::client::{http_client, unreachable_server};
use crate::commands::serve::Signals;
use crate::opening::{Opened, SessionArgs};
use crate::output;
use crate::workplace::{ProjectArg, Workplace};

/// When a session for one command expires if the command cannot end it.
const TTL_SECONDS: u64 = 60 * 60;

/// How long an interrupted command waits for its session to open, so that it can end it.
const OPENING_GRACE: Duration = Duration::from_secs(5);

/// An open session for one command.
pub(crate) struct Door<'w> {
    place: &'w Workplace,
    http: reqwest::Client,
    session: Opened,
}

/// A JSON-RPC error response.
#[derive(Debug)]
pub(crate) struct RpcError(pub(crate) Value);

impl<'w> Door<'w> {
    /// Opens a session in the selected project.
    pub(crate) async fn open(place: &'w Workplace, project: &ProjectArg, how: &SessionArgs) -> Result<Self> {
        let project = place.project(project).await?;
        let how = SessionArgs { ttl: how.ttl.or(Some(TTL_SECONDS)), ..how.clone() };
        let session = place.open_session(&project.id, &how).await?;
        Ok(Self { place, http: http_client(&place.api.found().url)?, session })
    }

    /// Sends one request and returns its result, or an [`RpcError`].
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value> {
        let server = &self.place.api.found().url;
        // Use the URL that this machine reaches. `mcpUrl` is the public URL and may go through a proxy.
        let url = format!("{server}/api/mcp/{}", self.session.id);
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.http.post(url).bearer_auth(&self.session.key).header("accept", "application/json").json(&message);
        let response = request.send().await.map_err(|error| unreachable_server(server, &error))?;
        let status = response.status();
        let bytes = response.bytes().await.context("connection closed mid-response")?;
        let mut answer: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if let Some(error) = answer.get_mut("error").filter(|error| error.is_object()) {
            return Err(RpcError(error.take()).into());
        }
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => {
                let reason = answer.get("error").and_then(Value::as_str).unwrap_or("not a JSON-RPC response");
                bail!("the session endpoint refused the request: {reason} ({})", status.as_u16())
            }
        }
    }

    /// Ends the session. A failure is only a warning, because the command itself may have succeeded.
    pub(crate) async fn close(self) {
        if let Err(error) = self.place.end_session(&self.session.id, None).await {
            output::tell(&format!("warning: {error:#}"));
        }
    }

    /// Opens a session, runs `work`, and ends the session, even if `work` fails or a signal arrives.
    pub(crate) async fn with<T>(
        place: &'w Workplace,
        project: &ProjectArg,
        how: &SessionArgs,
        work: impl AsyncFnOnce(&Door<'w>) -> Result<T>,
    ) -> Result<T> {
        // Catch signals before opening, so that a signal during opening does not leave a session open.
        let mut signals = Signals::listen()?;
        let mut opening = std::pin::pin!(Door::open(place, project, how));
        let door = tokio::select! {
            opened = &mut opening => opened?,
            () = signals.wait() => {
                // The server may have opened the session already, with its response still on the way.
                if let Ok(Ok(door)) = tokio::time::timeout(OPENING_GRACE, opening).await {
                    door.close().await;
                }
                bail!("interrupted");
            }
        };
        let outcome = tokio::select! {
            outcome = work(&door) => outcome,
            () = signals.wait() => Err(anyhow::anyhow!("interrupted")),
        };
        door.close().await;
        outcome
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |pointer: &str| self.0.pointer(pointer).and_then(Value::as_str).map(clean);
        let code = self.0.get("code").map(Value::to_string).unwrap_or_default();
        let kind = text("/data/kind").map(|kind| format!(" ({kind})")).unwrap_or_default();
        write!(f, "{code}{kind}: {}", text("/message").unwrap_or_default())?;
        // The first violation repeats the message.
        let violations = self.0.pointer("/data/violations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for violation in violations.iter().filter_map(|violation| violation.get("message")?.as_str()) {
            if self.0.get("message").and_then(Value::as_str) != Some(violation) {
                write!(f, "\n  {}", clean(violation))?;
            }
        }
        for (label, pointer) in [("parameter", "/data/parameter"), ("scope", "/data/scope"), ("request", "/data/request_id")] {
            if let Some(value) = text(pointer) {
                write!(f, "\n  {label}: {value}")?;
            }
        }
        if text("/data/kind").as_deref() == Some("tool_not_found") {
            write!(f, "\nhint: `toolcrib tools` lists the available tools")?;
        }
        if self.0.pointer("/data/retryable") == Some(&Value::Bool(true)) {
            write!(f, "\nhint: a retry may succeed")?;
        }
        Ok(())
    }
}

impl std::error::Error for RpcError {}

fn clean(text: &str) -> String {
    if std::io::stderr().is_terminal() { output::sanitized(text, true) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_show_code_kind_and_parameter() {
        let error = RpcError(json!({"code": -32602, "message": "`name` is missing",
            "data": {"kind": "invalid_params", "parameter": "name", "retryable": false, "request_id": "req_1",
                     "violations": [{"message": "`name` is missing"}, {"message": "`nam` is no parameter"}]}}));
        assert_eq!(
            error.to_string(),
            "-32602 (invalid_params): `name` is missing\n  `nam` is no parameter\n  parameter: name\n  request: req_1"
        );
        let error = RpcError(json!({"code": -32003, "message": "no", "data": {"kind": "not_permitted", "scope": "bricks:read"}}));
        assert_eq!(error.to_string(), "-32003 (not_permitted): no\n  scope: bricks:read");
        let error = RpcError(json!({"code": -32603, "message": "later", "data": {"retryable": true}}));
        assert_eq!(error.to_string(), "-32603: later\nhint: a retry may succeed");
        let error = RpcError(json!({"code": -32601, "message": "no tool", "data": {"kind": "tool_not_found"}}));
        assert_eq!(error.to_string(), "-32601 (tool_not_found): no tool\nhint: `toolcrib tools` lists the available tools");
    }
}
