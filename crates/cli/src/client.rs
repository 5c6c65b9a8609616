//! HTTP client for the management API.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Map, Value};

use crate::find::Found;
pub(crate) use crate::refusal::ApiError;
use crate::refusal::By;

/// Timeout for connecting to a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for a management call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// The name of the console's login cookie.
const LOGIN_COOKIE: &str = "toolcrib_login";
/// Rows per request: the largest page that the API returns.
const PAGE_ROWS: u64 = base::limits::PAGE_ROWS_MAX as u64;

/// A client of one server's management API.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    http: Client,
    found: Found,
    /// A person's login. If set, it is used instead of the key.
    login: Option<Login>,
}

/// A person's console login: its cookie, and the CSRF token that every change needs.
#[derive(Clone, Debug)]
pub(crate) struct Login {
    /// The cookie's value.
    pub(crate) cookie: String,
    /// The CSRF token.
    pub(crate) csrf: String,
}

impl Api {
    /// Creates a client that uses the found server and key.
    pub(crate) fn new(found: Found) -> Result<Self> {
        Ok(Self { http: http_client(&found.url)?, found, login: None })
    }

    /// Creates a client that uses a person's login.
    pub(crate) fn logged_in(url: &str, login: Login) -> Result<Self> {
        let found = Found { url: url.to_owned(), key: String::new(), is_admin: false };
        Ok(Self { login: Some(login), ..Self::new(found)? })
    }

    /// The server and key that this client uses.
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Sends a POST without a body.
    pub(crate) async fn post_nothing(&self, path: &str) -> Result<Value> {
        self.call(Method::POST, path, None).await
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

    /// Fetches up to `rows_max` rows of a list, page by page, and returns them in the form of one page.
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
                bail!("unexpected server response for {path}; run `toolcrib doctor` to compare versions");
            };
            if let Some(Value::Array(more)) = page.remove(member) {
                rows.extend(more);
            }
            let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            answer = page;
            // A cursor that does not advance would loop forever.
            if next.is_none() || next == cursor {
                break;
            }
            cursor = next;
        }
        answer.insert(member.to_owned(), Value::Array(rows));
        Ok(Value::Object(answer))
    }

    /// Sends a GET and returns the response for streaming. There is no timeout on the body.
    pub(crate) async fn stream(&self, path: &str) -> Result<Response> {
        let request = self.http.get(format!("{}{path}", self.found.url));
        let response = self.authorized(request).send().await.map_err(|error| unreachable_server(&self.found.url, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        self.read(response).await?;
        bail!("unexpected server response; run `toolcrib doctor` to compare versions")
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let url = format!("{}{path}", self.found.url);
        let mut request = self.authorized(self.http.request(method, &url)).timeout(CALL_TIMEOUT);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|error| unreachable_server(&self.found.url, &error))?;
        self.read(response).await
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.login {
            Some(login) => {
                request.header("cookie", format!("{LOGIN_COOKIE}={}", login.cookie)).header("x-csrf-token", &login.csrf)
            }
            None => request.bearer_auth(&self.found.key),
        }
    }

    async fn read(&self, response: Response) -> Result<Value> {
        read(response, if self.login.is_some() { By::Login } else { By::Key }).await
    }
}

/// Posts without a credential. Returns the response and, if the server set one, the login cookie's value.
pub(crate) async fn post_public(url: &str, path: &str, body: &Value) -> Result<(Value, Option<String>)> {
    let request = http_client(url)?.post(format!("{url}{path}")).json(body).timeout(CALL_TIMEOUT);
    let response = request.send().await.map_err(|error| unreachable_server(url, &error))?;
    let cookies = response.headers().get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.filter_map(|cookie| cookie.split(';').next()?.split_once('='));
    let cookie = pairs.filter(|(name, _)| *name == LOGIN_COOKIE).map(|(_, value)| value.to_owned()).next();
    let answer = read(response, By::Nobody).await?;
    Ok((answer, cookie))
}

/// Builds an HTTP client for `url`. It follows no redirects, so that a key reaches only its own server, and uses no proxy for
/// loopback addresses.
pub(crate) fn http_client(url: &str) -> Result<Client> {
    // This fails if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")));
    if url.starts_with("http://") {
        // Plain HTTP needs no certificates, so skip loading the system's.
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().context("cannot set up the HTTP client")
}

fn is_loopback(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The error for a request that got no response.
pub(crate) fn unreachable_server(url: &str, error: &reqwest::Error) -> anyhow::Error {
    let cause = root_cause(error);
    if error.is_timeout() {
        anyhow::anyhow!("no answer from {url} in time; check the URL and whether the server is overloaded")
    } else if is_refused(error) {
        anyhow::anyhow!("connection to {url} refused; start the server with `toolcrib serve`, or check --url")
    } else if error.is_connect() {
        anyhow::anyhow!("cannot connect to {url}: {cause}")
    } else {
        anyhow::anyhow!("lost the connection to {url}: {cause}")
    }
}

/// Whether the server's machine refused the connection, because no process listens on the port.
fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |cause| cause.source());
    let mut failures = causes.filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    failures.any(|failure| failure.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// The innermost cause of an error, which is the most specific one.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

async fn read(response: Response, by: By) -> Result<Value> {
    let status = response.status();
    let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bytes = response.bytes().await.context("connection closed mid-response")?;
    let body = if bytes.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&bytes) };
    match body {
        Ok(body) if status.is_success() => Ok(body),
        Ok(body) => Err(ApiError::new(status, body, retry_after).by(by).into()),
        Err(_) if status.is_success() => bail!("the response is not JSON; check that the URL is a Toolcrib server"),
        Err(_) => Err(ApiError::new(status, Value::Null, retry_after).by(by).into()),
    }
}

/// Every character except the unreserved ones of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Percent-encodes one path segment or query value.
pub(crate) fn encode(part: &str) -> String {
    // As whole segments, these would move up the path.
    if matches!(part, "." | "..") { part.replace('.', "%2E") } else { utf8_percent_encode(part, ESCAPED).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_values_cannot_escape_their_path_segment() {
        assert_eq!(encode("prj_0abc-x.y~"), "prj_0abc-x.y~");
        assert_eq!(encode("a/b?c#d e%ü"), "a%2Fb%3Fc%23d%20e%25%C3%BC");
        assert_eq!(encode(".."), "%2E%2E");
    }

    #[test]
    fn loopback_urls_are_recognised() {
        for url in ["http://127.0.0.1:7420", "http://[::1]:1", "https://localhost/x", "http://127.8.0.1"] {
            assert!(is_loopback(url), "{url}");
        }
        assert!(!is_loopback("https://crib.example"));
    }
}
