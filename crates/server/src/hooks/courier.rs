//! Takes messages to receivers: signed, without redirects, and only to addresses that a server may talk to.

use std::net::{IpAddr, SocketAddr};
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

/// Which addresses may be connected to.
#[derive(Clone, Default)]
struct Rule(Arc<[Network]>);

impl Rule {
    fn allows(&self, address: IpAddr) -> bool {
        is_public(address) || self.0.iter().any(|network| network.contains(address))
    }
}

/// The client of all webhooks.
pub(crate) struct Courier {
    rule: Rule,
    /// Made when it is first needed: reading the machine's certificates takes a while.
    client: OnceLock<Result<Client, String>>,
}

impl Courier {
    /// A courier that may also go to `networks`, which need not be public.
    pub(crate) fn new(networks: &[Network]) -> Self {
        Self { rule: Rule(networks.into()), client: OnceLock::new() }
    }

    /// The address of a receiver, or what is wrong with it.
    pub(crate) fn checked(&self, url: &str) -> Result<Url, String> {
        let wrong = || "a webhook's url is https://host/… or http://host/…, without a user or a fragment".to_owned();
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let plain = parsed.username().is_empty() && parsed.password().is_none() && parsed.fragment().is_none();
        let host = parsed.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
        if !plain || !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong());
        }
        // A name is looked up when it is connected to, and checked there.
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) if !self.rule.allows(address) => Err(refused(host)),
            _ => Ok(parsed),
        }
    }

    /// Delivers one message. Anything but an answer of 2xx in time is a failure.
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
        // Read, so that the connection can be used again. What it says does not matter.
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

/// `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. The key is what the secret holds behind its prefix, read as
/// base64, as the libraries of the Standard Webhooks convention read it.
fn sign(secret: &str, id: &str, timestamp: &str, body: &str) -> Result<String, String> {
    let unusable = || "the signing secret cannot be used: rotate it".to_owned();
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap_or(secret)).map_err(|_| unusable())?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|_| unusable())?;
    for part in [id, ".", timestamp, ".", body] {
        mac.update(part.as_bytes());
    }
    Ok(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

fn build(rule: Rule) -> Result<Client, String> {
    // Fails when there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(Duration::from_millis(limits::WEBHOOK_TIMEOUT_MS))
        .redirect(redirect::Policy::none())
        // A proxy would be asked for addresses that this server must not reach.
        .no_proxy()
        .dns_resolver(Arc::new(Guarded(rule)))
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(|error| format!("HTTP cannot be set up: {error}"))
}

/// What went wrong on the way, without the address, which may hold a secret.
fn said(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", limits::WEBHOOK_TIMEOUT_MS / 1_000);
    }
    let error = error.without_url();
    let mut source: &dyn std::error::Error = &error;
    while let Some(cause) = source.source() {
        source = cause;
    }
    format!("cannot be reached: {source}")
}

fn refused(host: &str) -> String {
    format!("{host} is no public address: the server's operator may allow its network with --allow-webhook-net")
}

/// Looks names up and gives only addresses that may be connected to: the connection goes to what was checked.
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
    fn addresses_are_checked_before_anyone_is_called() {
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
        ] {
            assert!(courier.checked(bad).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_refused_when_it_is_connected_to() {
        let message = Message { id: "evt_1".into(), message_type: "x".into(), body: "{}".into() };
        let secret = format!("whsec_{}", "ab".repeat(32));
        let error = Courier::new(&[]).deliver("http://localhost:9/", &secret, &message, Timestamp::from_ms(0)).await.unwrap_err();
        assert!(error.contains("localhost is no public address"), "{error}");
    }

    /// The convention's own example, so that its libraries agree with us.
    #[test]
    fn signatures_are_those_of_the_convention() {
        let signed = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            "{\"test\": 2432232314}",
        );
        assert_eq!(signed.as_deref(), Ok("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }
}
