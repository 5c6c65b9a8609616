//! Which `Host` and `Origin` a request may carry. A page that a browser was tricked into (DNS rebinding) carries another.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Uri};

/// The host names that are ours, without ports, in lower case.
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    /// Loopback names always, then those that the operator names.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        Self(loopback.into_iter().chain(names).map(|name| host_name(name).to_ascii_lowercase()).collect())
    }

    /// Whether a request was meant for this server, and not sent here by a page under another name.
    pub(crate) fn allow(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let all = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
        let named = headers.contains_key(HOST) || uri.authority().is_some();
        named
            && all(HOST).chain(uri.authority().map(|authority| authority.as_str())).all(|host| self.allows_host(host))
            && all(ORIGIN).all(|origin| self.allows_origin(origin))
    }

    /// Whether a `Host` header is ours.
    fn allows_host(&self, host: &str) -> bool {
        let name = host_name(host);
        self.0.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }

    /// Whether an `Origin` header is ours. `null` and anything unreadable is not.
    fn allows_origin(&self, origin: &str) -> bool {
        origin.split_once("://").is_some_and(|(_, host)| self.allows_host(host))
    }
}

/// A host without its port; an IPv6 address keeps its brackets.
fn host_name(host: &str) -> &str {
    match host.find(']') {
        Some(end) => host.get(..=end).unwrap_or(host),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    }
}

/// The host in a url, with its port if it has one.
pub(crate) fn host_of_url(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_named_hosts_pass_and_others_do_not() {
        let hosts = Hosts::new(["Crib.Example:443"]);
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:7420", "[::1]:7420", "[::1]", "crib.example", "crib.example:80"] {
            assert!(hosts.allows_host(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::2]"] {
            assert!(!hosts.allows_host(host), "{host}");
        }
        assert!(hosts.allows_origin("http://localhost:3000"));
        for origin in ["null", "http://evil.example", "localhost"] {
            assert!(!hosts.allows_origin(origin), "{origin}");
        }
    }

    #[test]
    fn hosts_of_urls() {
        assert_eq!(host_of_url("https://crib.example:8443/x"), Some("crib.example:8443"));
        assert_eq!(host_of_url("crib.example"), None);
    }
}
