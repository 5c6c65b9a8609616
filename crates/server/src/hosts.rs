//! Checks the `Host` and `Origin` headers, which protects against DNS rebinding from a browser.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Uri};

/// The allowed host names, without ports, in lower case.
pub(crate) struct Hosts(Vec<String>);

/// Why a request was refused. Displayed only in the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    /// No `Host` header.
    NoHost,
    /// The `Host` is malformed or not allowed.
    Host(String),
    /// The `Origin` is malformed or not allowed.
    Origin(String),
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, value) = match self {
            Stray::NoHost => return f.write_str("the request has no Host header"),
            Stray::Host(value) => ("Host", value),
            Stray::Origin(value) => ("Origin", value),
        };
        let host = if what == "Origin" { value.split_once("://").map_or(value.as_str(), |(_, host)| host) } else { value };
        match host_name(host) {
            Some(name) => {
                write!(f, "the {what} `{value}` is not allowed; start the server with --allow-host {name} to accept it")
            }
            None => write!(f, "the {what} `{value}` is malformed"),
        }
    }
}

/// The most characters of a refused header in the log.
const SHOWN_CHARS_MAX: usize = 200;

/// The loopback names.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Hosts {
    /// Allows the loopback names and the operator's `names`.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let readable = |name: &'a str| match name.parse::<Ipv6Addr>() {
            // Operators may omit the brackets of an IPv6 address.
            Ok(address) => Some(format!("[{address}]")),
            Err(_) => host_name(name).map(Cow::into_owned),
        };
        let ours = |name: &'a str| {
            let readable = readable(name);
            if readable.is_none() {
                tracing::warn!("ignoring --allow-host `{name}`, which is not a host name; write it without a scheme or path");
            }
            readable
        };
        Self(LOOPBACK.into_iter().chain(names).filter_map(ours).collect())
    }

    /// Checks that a request is for this server and was not sent by a page of another site.
    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Stray> {
        let authority = uri.authority().map(|authority| authority.as_str().as_bytes());
        let hosts = headers.get_all(HOST).iter().map(|value| value.as_bytes()).chain(authority);
        let mut named = false;
        for host in hosts {
            named = true;
            if !text(host).is_some_and(|host| self.allows_host(host)) {
                return Err(Stray::Host(shown(host)));
            }
        }
        if !named {
            return Err(Stray::NoHost);
        }
        let stray = |origin: &&[u8]| !text(origin).is_some_and(|origin| self.allows_origin(origin));
        let stray = headers.get_all(ORIGIN).iter().map(|value| value.as_bytes()).find(stray);
        stray.map_or(Ok(()), |origin| Err(Stray::Origin(shown(origin))))
    }

    /// Whether a `Host` header is allowed.
    fn allows_host(&self, host: &str) -> bool {
        host_name(host).is_some_and(|name| self.0.iter().any(|ours| *ours == name))
    }

    /// Whether an `Origin` header is allowed. `null` and malformed values are not.
    fn allows_origin(&self, origin: &str) -> bool {
        origin.split_once("://").is_some_and(|(_, host)| self.allows_host(host))
    }
}

fn text(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok()
}

/// A header value for the log, shortened and printable.
fn shown(value: &[u8]) -> String {
    String::from_utf8_lossy(value).chars().take(SHOWN_CHARS_MAX).flat_map(char::escape_debug).collect()
}

/// The name in `name`, `name:port`, `[address]` or `[address]:port`, in lower case; otherwise `None`. An IPv6 address keeps its
/// brackets and is normalized.
fn host_name(host: &str) -> Option<Cow<'_, str>> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            (Cow::Owned(format!("[{address}]")), port)
        }
        None => {
            let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
            if name.is_empty() || !name.bytes().all(is_part) {
                return None;
            }
            let upper = name.bytes().any(|byte| byte.is_ascii_uppercase());
            (if upper { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) }, port)
        }
    };
    let is_port = |port: &str| port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let fits = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
    fits.then_some(name)
}

/// Whether a URL points to this machine.
pub(crate) fn is_loopback_url(url: &str) -> bool {
    host_of_url(url).and_then(host_name).is_some_and(|host| LOOPBACK.contains(&&*host))
}

/// The host of a URL, with its port if there is one.
pub(crate) fn host_of_url(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_named_hosts_pass_and_others_do_not() {
        let hosts = Hosts::new(["Crib.Example:443", "fd00::7", "https://not.a.host/"]);
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:7420",
            "[::1]:7420",
            "[::1]",
            "[0:0::1]",
            "[fd00::7]:1",
            "crib.example",
            "crib.example:80",
        ] {
            assert!(hosts.allows_host(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::2]", "not.a.host"] {
            assert!(!hosts.allows_host(host), "{host}");
        }
        assert!(hosts.allows_origin("http://localhost:3000"));
        for origin in ["null", "http://evil.example", "localhost", "http://localhost/", "http://u@localhost"] {
            assert!(!hosts.allows_origin(origin), "{origin}");
        }
    }

    #[test]
    fn malformed_host_is_refused() {
        let hosts = Hosts::new([]);
        for host in [
            "[::1]evil.test",
            "[::1].evil.test",
            "[::1]:80evil",
            "[::1",
            "::1",
            "[localhost]",
            "[::1]:",
            "localhost:",
            "localhost:x",
            "localhost:123456",
            "localhost:99999",
            "localhost:+80",
            "localhost:80:80",
            "user@localhost",
            "user:pass@localhost",
            "localhost@evil.test",
            "localhost/evil",
            "localhost#",
            "localhost, evil.test",
            " localhost",
            "localhost\u{e9}",
        ] {
            assert!(!hosts.allows_host(host), "{host}");
        }
    }

    #[test]
    fn refusal_names_the_host_and_the_setting() {
        let hosts = Hosts::new([]);
        let said = |host: Option<&str>, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            for (name, value) in [(HOST, host), (ORIGIN, origin)] {
                headers.extend(value.map(|value| (name, value.parse().unwrap())));
            }
            hosts.check(&headers, &Uri::from_static("/api")).map_err(|stray| stray.to_string())
        };
        assert_eq!(said(Some("localhost"), Some("http://127.0.0.1:3000")), Ok(()));
        let expected = "the Host `crib.test:7420` is not allowed; start the server with --allow-host crib.test to accept it";
        assert_eq!(said(Some("crib.test:7420"), None), Err(expected.to_owned()));
        let expected = "the Origin `https://x.test` is not allowed; start the server with --allow-host x.test to accept it";
        assert_eq!(said(Some("localhost"), Some("https://x.test")), Err(expected.to_owned()));
        assert_eq!(said(Some("[::1]evil.test"), None), Err("the Host `[::1]evil.test` is malformed".to_owned()));
        assert_eq!(said(None, None), Err("the request has no Host header".to_owned()));
    }

    #[test]
    fn hosts_of_urls() {
        assert_eq!(host_of_url("https://crib.example:8443/x"), Some("crib.example:8443"));
        assert_eq!(host_of_url("crib.example"), None);
    }
}
