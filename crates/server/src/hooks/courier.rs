//! Delivers webhook messages: signed, without following redirects, and only to allowed addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::{Network, Timestamp, is_public, limits};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url, redirect};
use sha2::Sha256;

use super::message::Message;

/// The addresses of `localhost`.
const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// The networks that webhooks may connect to in addition to public addresses.
#[derive(Clone, Default)]
struct Rule(Arc<[Network]>);

impl Rule {
    fn allows(&self, address: IpAddr) -> bool {
        is_public(address) || self.0.iter().any(|network| network.contains(address))
    }
}

/// The HTTP client for all webhooks.
pub(crate) struct Courier {
    rule: Rule,
    /// Created on first use, because loading the system's certificates takes a while.
    client: OnceLock<Result<Client, String>>,
}

impl Courier {
    /// Creates a courier that may also connect to the non-public `networks`.
    pub(crate) fn new(networks: &[Network]) -> Self {
        Self { rule: Rule(networks.into()), client: OnceLock::new() }
    }

    /// Parses and checks a receiver's URL.
    pub(crate) fn checked(&self, url: &str) -> Result<Url, String> {
        let wrong = || "a webhook's URL must be https://host/… or http://host/…, without a user or fragment".to_owned();
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let plain = parsed.username().is_empty() && parsed.password().is_none() && parsed.fragment().is_none();
        let host = parsed.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
        if !plain || !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong());
        }
        // Host names are resolved and checked when connecting.
        let written = host.trim_matches(['[', ']']).parse::<IpAddr>().map(|address| vec![address]);
        // This name always means this machine, so it can be checked now.
        let name = host.trim_end_matches('.');
        let is_this_machine = name == "localhost" || name.ends_with(".localhost");
        let known = written.unwrap_or_else(|_| if is_this_machine { LOOPBACK.to_vec() } else { Vec::new() });
        if !known.is_empty() && !known.iter().any(|address| self.rule.allows(*address)) {
            return Err(refused(host));
        }
        Ok(parsed)
    }

    /// Delivers one message. Anything but a 2xx answer in time is a failure.
    pub(crate) async fn deliver(&self, url: &str, secret: &str, message: &Message, now: Timestamp) -> Result<(), String> {
        let url = self.checked(url)?;
        let client = self.client.get_or_init(|| build(self.rule.clone())).as_ref().map_err(Clone::clone)?;
        let timestamp = now.ms().div_euclid(1_000).to_string();
        let signature = sign(secret, &message.id, &timestamp, &message.body)?;
        let request = client
            .post(url)
            .header("content-type", "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", &timestamp)
            .header("webhook-signature", signature)
            .body(message.body.clone());
        let mut response = request.send().await.map_err(said)?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("the receiver answered {}", status.as_u16()));
        }
        // The body is read so that the connection can be reused. Its content does not matter.
        let mut read = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            read += chunk.len();
            if read > limits::WEBHOOK_ANSWER_BYTES_MAX {
                break;
            }
        }
        Ok(())
    }
}

/// `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. The key is the secret without its prefix, decoded from base64, as in
/// the Standard Webhooks convention.
fn sign(secret: &str, id: &str, timestamp: &str, body: &str) -> Result<String, String> {
    let unusable = || "invalid signing secret; rotate it".to_owned();
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap_or(secret)).map_err(|_| unusable())?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|_| unusable())?;
    for part in [id, ".", timestamp, ".", body] {
        mac.update(part.as_bytes());
    }
    Ok(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

fn build(rule: Rule) -> Result<Client, String> {
    // Fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(Duration::from_millis(limits::WEBHOOK_TIMEOUT_MS))
        .redirect(redirect::Policy::none())
        // A proxy could reach addresses that this server must not reach.
        .no_proxy()
        .dns_resolver(Arc::new(Guarded(rule)))
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(|error| format!("cannot set up HTTP: {error}"))
}

/// Describes a transport error, without the URL, which may contain a secret.
fn said(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", limits::WEBHOOK_TIMEOUT_MS / 1_000);
    }
    let error = error.without_url();
    let mut source: &dyn std::error::Error = &error;
    while let Some(cause) = source.source() {
        source = cause;
    }
    format!("unreachable: {source}")
}

fn refused(host: &str) -> String {
    format!("{host} is not a public address; the operator can allow its network with --allow-webhook-net")
}

/// Resolves names and returns only allowed addresses, so that the connection goes to a checked address.
struct Guarded(Rule);

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let rule = self.0.clone();
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|address| rule.allows(address.ip())).collect();
            if allowed.is_empty() {
                return Err(refused(&host).into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_is_checked_before_connecting() {
        let courier = Courier::new(&["10.1.0.0/16".parse().unwrap()]);
        for good in ["https://hooks.example/x?y=z", "http://10.1.2.3:8080/", "https://8.8.8.8/"] {
            assert!(courier.checked(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "hooks.example",
            "ftp://h/",
            "file:///etc/passwd",
            "https://u:p@h/",
            "https://h/#f",
            "http://127.0.0.1/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[::ffff:0:127.0.0.1]/",
            "http://[64:ff9b::127.0.0.1]/",
            "http://[2002:7f00:1::]/",
            "http://10.2.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://0/",
            "http://localhost:8080/hook",
            "http://LocalHost./",
            "http://app.localhost/",
        ] {
            assert!(courier.checked(bad).is_err(), "{bad}");
        }
        let nearby = Courier::new(&["127.0.0.0/8".parse().unwrap()]);
        assert!(nearby.checked("http://localhost:8080/hook").is_ok() && nearby.checked("http://notlocalhost.example/").is_ok());
    }

    #[tokio::test]
    async fn localhost_is_refused_on_connect() {
        let message = Message { id: "evt_1".into(), message_type: "x".into(), body: "{}".into() };
        let secret = format!("whsec_{}", "ab".repeat(32));
        let error = Courier::new(&[]).deliver("http://localhost:9/", &secret, &message, Timestamp::from_ms(0)).await.unwrap_err();
        assert!(error.contains("localhost is not a public address"), "{error}");
    }

    /// The convention's own example, so that receivers' libraries accept our signatures.
    #[test]
    fn signature_matches_the_standard_webhooks_example() {
        let signed = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            "{\"test\": 2432232314}",
        );
        assert_eq!(signed.as_deref(), Ok("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }
}
