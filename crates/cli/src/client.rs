//! The management API over HTTP.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Map, Value};

use crate::find::Found;
pub(crate) use crate::refusal::ApiError;
use crate::refusal::By;

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a management call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// The name of the console's login cookie.
const LOGIN_COOKIE: &str = "toolcrib_login";
/// Rows asked for at a time: the most that a page has.
const PAGE_ROWS: u64 = base::limits::PAGE_ROWS_MAX as u64;

/// A client of one server's management API.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    http: Client,
    found: Found,
    /// A person's login, which is then used instead of the key.
    login: Option<Login>,
}

/// A person's login at the console: its cookie, and the token that goes with every change.
#[derive(Clone, Debug)]
pub(crate) struct Login {
    /// The cookie's value.
    pub(crate) cookie: String,
    /// The token.
    pub(crate) csrf: String,
}

impl Api {
    /// A client of the server that was found.
    pub(crate) fn new(found: Found) -> Result<Self> {
        Ok(Self { http: http_client(&found.url)?, found, login: None })
    }

    /// A client that calls as the person who is logged in.
    pub(crate) fn logged_in(url: &str, login: Login) -> Result<Self> {
        let found = Found { url: url.to_owned(), key: String::new(), is_admin: false };
        Ok(Self { login: Some(login), ..Self::new(found)? })
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

    /// A POST to a route that takes no body.
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
        let request = self.http.get(format!("{}{path}", self.found.url));
        let response = self.authorized(request).send().await.map_err(|error| unreachable_server(&self.found.url, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        self.read(response).await?;
        bail!("the server's answer is none that this release expects: `toolcrib doctor` compares the versions")
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

/// Posts to a route that takes no credential. The value of the login cookie comes with the answer, where there is one.
pub(crate) async fn post_public(url: &str, path: &str, body: &Value) -> Result<(Value, Option<String>)> {
    let request = http_client(url)?.post(format!("{url}{path}")).json(body).timeout(CALL_TIMEOUT);
    let response = request.send().await.map_err(|error| unreachable_server(url, &error))?;
    let cookies = response.headers().get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.filter_map(|cookie| cookie.split(';').next()?.split_once('='));
    let cookie = pairs.filter(|(name, _)| *name == LOGIN_COOKIE).map(|(_, value)| value.to_owned()).next();
    let answer = read(response, By::Nobody).await?;
    Ok((answer, cookie))
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

async fn read(response: Response, by: By) -> Result<Value> {
    let status = response.status();
    let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bytes = response.bytes().await.context("the server's answer broke off")?;
    let body = if bytes.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&bytes) };
    match body {
        Ok(body) if status.is_success() => Ok(body),
        Ok(body) => Err(ApiError::new(status, body, retry_after).by(by).into()),
        Err(_) if status.is_success() => bail!("the server's answer is no JSON: does something else listen at this url?"),
        Err(_) => Err(ApiError::new(status, Value::Null, retry_after).by(by).into()),
    }
}

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

    #[test]
    fn parts_of_paths_cannot_leave_their_place() {
        assert_eq!(encode("prj_0abc-x.y~"), "prj_0abc-x.y~");
        assert_eq!(encode("a/b?c#d e%ü"), "a%2Fb%3Fc%23d%20e%25%C3%BC");
        assert_eq!(encode(".."), "%2E%2E");
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        for url in ["http://127.0.0.1:7420", "http://[::1]:1", "https://localhost/x", "http://127.8.0.1"] {
            assert!(is_loopback(url), "{url}");
        }
        assert!(!is_loopback("https://crib.example"));
    }
}
