//! One POST and its response: JSON, an event stream, or an HTTP error.

use std::time::{Duration, Instant};

use base::Kind;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bridge::{Bridge, Job};
use super::events::Events;
use super::message::{Failure, failure_of};
use crate::client::root_cause;

/// How long a request waits for a server that is down: longer than the default drain limit of a server that restarts, and shorter
/// than the usual timeout of a client.
const PATIENCE: Duration = Duration::from_secs(30);

/// The members that show what kind of message a response is.
#[derive(Deserialize)]
struct Probe<'m> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'m RawValue>,
    #[serde(borrow, default)]
    result: Option<&'m RawValue>,
    #[serde(borrow, default)]
    error: Option<&'m RawValue>,
}

impl Bridge {
    /// Sends a message and writes the response.
    pub(super) async fn answer(&self, job: &Job) -> Result<(), Failure> {
        let response = self.send(job).await?;
        let is_stream =
            response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if is_stream { self.pass_events(job, response).await } else { self.pass_json(job, response).await }
    }

    /// Sends a message. If no server accepts the connection, waits for one. Retries once each: in a new session if this one has
    /// expired, and with new headers if the tool's header parameters have changed.
    async fn send(&self, job: &Job) -> Result<Response, Failure> {
        let deadline = Instant::now() + PATIENCE;
        let (mut is_renewed, mut is_relearned) = (false, false);
        let mut headers = self.headers(job);
        if let Some(tool) = &job.tool {
            headers.extend(self.headers_of(tool).await);
        }
        loop {
            let (number, found) = self.upstream.current();
            let (session_number, session) = self.session.current();
            let url = format!("{}/api/mcp/{}", found.url, session.id);
            let request = self.http.post(url).bearer_auth(&session.key).headers(headers.clone()).body(job.body.clone());
            match request.send().await {
                Ok(response) => match (response.status().as_u16(), &job.tool) {
                    (401 | 404 | 410, _) if !is_renewed && self.session.renew(session_number).await => is_renewed = true,
                    (400, Some(tool)) if !is_relearned && self.parameters.forget(tool) => {
                        is_relearned = true;
                        let mut others = self.headers(job);
                        others.extend(self.headers_of(tool).await);
                        if others == headers {
                            return Ok(response);
                        }
                        headers = others;
                    }
                    _ => return Ok(response),
                },
                Err(error) => {
                    let patience = deadline.saturating_duration_since(Instant::now());
                    if !error.is_connect() || !self.upstream.renew(number, patience).await {
                        return Err(lost(&error));
                    }
                }
            }
        }
    }

    async fn pass_json(&self, job: &Job, response: Response) -> Result<(), Failure> {
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (retry_after, request_id) = (header("retry-after"), header("x-request-id"));
        let body = response.bytes().await.map_err(|error| lost(&error))?;
        if is_json_rpc(&body) {
            self.write(&body).await;
            return Ok(());
        }
        if (200..300).contains(&status) && !job.wants_answer() {
            return Ok(());
        }
        let refusal: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let retry_after = retry_after.and_then(|seconds| seconds.parse().ok());
        Err(failure_of(status, refusal.get("error").and_then(Value::as_str), retry_after, request_id))
    }

    async fn pass_events(&self, job: &Job, mut response: Response) -> Result<(), Failure> {
        let mut events = Events::default();
        let mut is_answered = false;
        while let Some(bytes) = response.chunk().await.map_err(|error| lost(&error))? {
            for message in events.push(&bytes) {
                is_answered |= is_answer(&message);
                self.write(&message).await;
            }
        }
        if job.wants_answer() && !is_answered {
            return Err(Failure::new(Kind::Unavailable, true, "the server closed the stream before the response"));
        }
        Ok(())
    }
}

/// Whether a body is a JSON-RPC message or batch, and not an HTTP error.
fn is_json_rpc(body: &[u8]) -> bool {
    let is_message = serde_json::from_slice::<Probe<'_>>(body).is_ok_and(|probe| probe.jsonrpc.is_some());
    match body.trim_ascii_start().first() {
        Some(b'{') => is_message,
        Some(b'[') => serde_json::from_slice::<Vec<&RawValue>>(body).is_ok(),
        _ => false,
    }
}

fn is_answer(message: &[u8]) -> bool {
    serde_json::from_slice::<Probe<'_>>(message).is_ok_and(|probe| probe.result.is_some() || probe.error.is_some())
}

fn lost(error: &reqwest::Error) -> Failure {
    let message = if error.is_connect() {
        format!("the server is down ({}); start it with `toolcrib serve`, then retry", root_cause(error))
    } else {
        format!("connection to the server lost before the response ({}); the request may have run", root_cause(error))
    };
    Failure::new(Kind::Unavailable, true, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_rpc_responses_are_distinguished_from_http_errors() {
        assert!(is_json_rpc(br#" {"jsonrpc":"2.0","id":1,"result":{}}"#));
        assert!(is_json_rpc(br#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#));
        for refusal in [&br#"{"error":"Session ended"}"#[..], b"", b"<html>", b"5"] {
            assert!(!is_json_rpc(refusal));
        }
    }

    #[test]
    fn response_in_a_stream_is_distinguished_from_notifications() {
        assert!(is_answer(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
        assert!(is_answer(br#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":""}}"#));
        assert!(!is_answer(br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"result":1}}"#));
    }
}
