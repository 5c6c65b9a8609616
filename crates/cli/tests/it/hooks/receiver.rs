//! A webhook receiver that the test controls.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use crate::support::{Tenant, in_time};

/// One received message.
#[derive(Clone, Debug)]
pub(super) struct Got {
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Got {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(super) fn sequence(&self) -> i64 {
        self.json()["sequenceNumber"].as_i64().unwrap()
    }

    /// The event type.
    pub(super) fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }

    /// Checks the signature with an independent implementation of the convention.
    pub(super) fn is_signed_with(&self, secret: &str) -> bool {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.body).as_bytes());
        self.header("webhook-signature") == format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// The status that a receiver answers to a message.
pub(super) type Answer = Arc<dyn Fn(&Value) -> u16 + Send + Sync>;

/// A receiver that reports every request.
pub(super) struct Receiver {
    pub(super) url: String,
    /// Every request, whatever the answer.
    pub(super) sent: mpsc::UnboundedReceiver<Got>,
    /// While this is true, requests are held.
    pub(super) held: watch::Sender<bool>,
}

impl Receiver {
    pub(super) async fn start() -> Self {
        Self::start_with("127.0.0.1:0", Arc::new(|_| 200)).await
    }

    pub(super) async fn start_with(address: &str, answer: Answer) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (tell, sent) = mpsc::unbounded_channel();
        let (held, hold) = watch::channel(false);
        let take = move |headers: HeaderMap, body: Bytes| {
            let (answer, tell, mut hold) = (Arc::clone(&answer), tell.clone(), hold.clone());
            async move {
                let got = Got { headers, body: String::from_utf8(body.to_vec()).unwrap() };
                let status = StatusCode::from_u16(answer(&got.json())).unwrap();
                // The test may have stopped listening.
                let _ = tell.send(got);
                let _ = hold.wait_for(|held| !*held).await;
                status
            }
        };
        let router = Router::new().route("/hook", axum::routing::post(take));
        #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, sent, held }
    }

    /// The next request.
    pub(super) async fn next(&mut self) -> Got {
        in_time(self.sent.recv()).await.unwrap()
    }

    /// The next `count` requests.
    pub(super) async fn take(&mut self, count: usize) -> Vec<Got> {
        let mut got = Vec::new();
        while got.len() < count {
            got.push(self.next().await);
        }
        got
    }
}

/// A webhook of a tenant.
pub(super) struct Hook {
    pub(super) id: String,
    pub(super) secret: String,
}

impl Tenant<'_> {
    /// Adds a webhook for these events, or for the three phases if `events` is empty.
    pub(super) async fn webhook(&self, url: &str, events: &[&str]) -> Hook {
        let mut body = json!({"url": url});
        if !events.is_empty() {
            body["events"] = json!(events);
        }
        let made = self.post("webhooks", body).await.expect(201);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Hook { id: text(&made["webhook"]["id"]), secret: text(&made["secret"]) }
    }

    /// The health of a webhook.
    pub(super) async fn health(&self, hook: &Hook) -> Value {
        self.get(&format!("webhooks/{}", hook.id)).await.expect(200)["health"].clone()
    }
}
