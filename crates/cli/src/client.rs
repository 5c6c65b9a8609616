//! The management API over HTTP, and what its refusals mean to a person at a terminal.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Map, Value};

use crate::find::Found;

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a management call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Rows asked for at a time: the most that a page has.
const PAGE_ROWS: u64 = base::limits::PAGE_ROWS_MAX as u64;

/// What has a command of its own that lists it.
const LISTED: [&str; 10] = ["org", "project", "key", "session", "agent", "user", "brick", "kit", "policy", "webhook"];

/// A client of one server's management API.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    http: Client,
    found: Found,
}

impl Api {
    /// A client of the server that was found.
    pub(crate) fn new(found: Found) -> Result<Self> {
        Ok(Self { http: http_client(&found.url)?, found })
    }

    /// The server, and the key that is used.
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.call(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Value> {
        self.call(Method::PATCH, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Value> {
        self.call(Method::PUT, path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Value> {
        self.call(Method::DELETE, path, None).await
    }

    /// A list, page after page until it ends or has `rows_max` rows, in the form of a single page of the API.
    pub(crate) async fn list(&self, path: &str, member: &str, rows_max: u64) -> Result<Value> {
        let mut rows: Vec<Value> = Vec::new();
        let mut answer = Map::new();
        let mut cursor: Option<String> = None;
        loop {
            let wanted = rows_max.saturating_sub(rows.len() as u64).min(PAGE_ROWS);
            if wanted == 0 {
                break;
            }
            let after = cursor.as_deref().map(|cursor| format!("&cursor={}", encode(cursor))).unwrap_or_default();
            let joint = if path.contains('?') { '&' } else { '?' };
            let Value::Object(mut page) = self.get(&format!("{path}{joint}limit={wanted}{after}")).await? else {
                bail!("the server's list at {path} is no object: are the versions the same? `toolcrib doctor` tells");
            };
            if let Some(Value::Array(more)) = page.remove(member) {
                rows.extend(more);
            }
            let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            answer = page;
            // A cursor that stands still would keep us here for ever.
            if next.is_none() || next == cursor {
                break;
            }
            cursor = next;
        }
        answer.insert(member.to_owned(), Value::Array(rows));
        Ok(Value::Object(answer))
    }

    /// An answer that is read as it comes, however long that takes.
    pub(crate) async fn stream(&self, path: &str) -> Result<Response> {
        let request = self.http.get(format!("{}{path}", self.found.url)).bearer_auth(&self.found.key);
        let response = request.send().await.map_err(|error| unreachable_server(&self.found.url, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        read(response).await?;
        bail!("the server's answer is none that this release expects: `toolcrib doctor` compares the versions")
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let url = format!("{}{path}", self.found.url);
        let mut request = self.http.request(method, &url).bearer_auth(&self.found.key).timeout(CALL_TIMEOUT);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|error| unreachable_server(&self.found.url, &error))?;
        read(response).await
    }
}

/// An HTTP client for `url`: no redirects (a key is for one server), no proxy on the way to this machine itself.
pub(crate) fn http_client(url: &str) -> Result<Client> {
    // Fails when there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")));
    if url.starts_with("http://") {
        // Nothing to verify, so the machine's certificates need not be read.
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().context("cannot set HTTP up")
}

fn is_loopback(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What to say when no answer came.
pub(crate) fn unreachable_server(url: &str, error: &reqwest::Error) -> anyhow::Error {
    let causes = causes(error);
    if error.is_timeout() {
        anyhow::anyhow!("the server at {url} takes too long to answer: is it overloaded, or is this the right url?")
    } else if causes.contains("refused") {
        anyhow::anyhow!("nothing listens at {url} (connection refused): start the server with `toolcrib serve`, or check --url")
    } else if error.is_connect() {
        anyhow::anyhow!("cannot connect to {url}: {causes}")
    } else {
        anyhow::anyhow!("the connection to {url} broke: {causes}")
    }
}

/// The innermost reason, which is the one that says something.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

async fn read(response: Response) -> Result<Value> {
    let status = response.status();
    let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bytes = response.bytes().await.context("the server's answer broke off")?;
    let body = if bytes.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&bytes) };
    match body {
        Ok(body) if status.is_success() => Ok(body),
        Ok(body) => Err(ApiError::new(status, body, retry_after).into()),
        Err(_) if status.is_success() => bail!("the server's answer is no JSON: does something else listen at this url?"),
        Err(_) => Err(ApiError::new(status, Value::Null, retry_after).into()),
    }
}

/// A refusal by the API.
#[derive(Debug)]
pub(crate) struct ApiError {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    body: Value,
    retry_after: Option<String>,
}

impl ApiError {
    fn new(status: StatusCode, body: Value, retry_after: Option<String>) -> Self {
        Self { status, body, retry_after }
    }

    /// What is wrong with the text that was sent, where that is the reason.
    pub(crate) fn findings(&self) -> &[Value] {
        self.body.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn hint(&self) -> Option<String> {
        let text = match self.status {
            StatusCode::UNAUTHORIZED => {
                "the server does not know this key, or it was revoked or has expired: check --key and TOOLCRIB_KEY; on the \
                 server's machine, leave both out"
            }
            StatusCode::FORBIDDEN => {
                "the key is good, but not for this: use one with more scopes or projects (`toolcrib key add --scope …`), or the \
                 instance admin's on the server's machine"
            }
            StatusCode::NOT_FOUND => return self.missing().map(|noun| format!("`toolcrib {noun} list` shows what there is")),
            StatusCode::TOO_MANY_REQUESTS => {
                return Some(format!("wait {} s and try again", self.retry_after.as_deref().unwrap_or("a few")));
            }
            status if status.is_server_error() => "the server's log says more; `toolcrib doctor` checks the rest",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// What there is none of, when a command lists such things.
    fn missing(&self) -> Option<&'static str> {
        let (_, what) = self.body.get("error")?.as_str()?.split_once("no such ")?;
        LISTED.into_iter().find(|noun| what.split([',', ' ']).next() == Some(noun))
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.status.canonical_reason().unwrap_or("refused");
        let said = self.body.get("error").and_then(Value::as_str).unwrap_or(reason);
        write!(f, "{said} ({})", self.status.as_u16())?;
        for finding in self.findings() {
            write!(f, "\n  {finding}")?;
        }
        match self.hint() {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ApiError {}

/// One part of a path or of a query, with everything escaped that could end it.
pub(crate) fn encode(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for byte in part.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    // As whole segments these would climb.
    if matches!(part, "." | "..") { part.replace('.', "%2E") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_of_paths_cannot_leave_their_place() {
        assert_eq!(encode("prj_0abc-x.y~"), "prj_0abc-x.y~");
        assert_eq!(encode("a/b?c#d e%ü"), "a%2Fb%3Fc%23d%20e%25%C3%BC");
        assert_eq!(encode(".."), "%2E%2E");
    }

    #[test]
    fn refusals_say_what_to_do() {
        let says =
            |status: u16, body: Value| ApiError::new(StatusCode::from_u16(status).unwrap(), body, Some("3".into())).to_string();
        assert!(
            says(401, json!({"error": "Unauthorized"}))
                .starts_with("Unauthorized (401)\nhint: the server does not know this key")
        );
        assert!(
            says(403, json!({"error": "this needs the scope `keys:write`"}))
                .contains("`keys:write` (403)\nhint: the key is good")
        );
        assert_eq!(
            says(404, json!({"error": "no such project"})),
            "no such project (404)\nhint: `toolcrib project list` shows what there is"
        );
        assert!(says(404, json!({"error": "there is no such agent, or it is disabled"})).contains("`toolcrib agent list`"));
        assert_eq!(says(404, json!({"error": "no such page"})), "no such page (404)");
        assert_eq!(says(429, Value::Null), "Too Many Requests (429)\nhint: wait 3 s and try again");
        assert!(says(503, Value::Null).contains("toolcrib doctor"));
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        for url in ["http://127.0.0.1:7420", "http://[::1]:1", "https://localhost/x", "http://127.8.0.1"] {
            assert!(is_loopback(url), "{url}");
        }
        assert!(!is_loopback("https://crib.example"));
    }
}
