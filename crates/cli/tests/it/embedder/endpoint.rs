//! A local embeddings endpoint for tests. Its vectors are bags of words with a few synonyms, so that only its vectors can match a
//! question in other words.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use server::{EmbedEndpoint, EmbedKey};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;

/// The dimension of its vectors.
pub(super) const DIMENSION: usize = 256;
/// Words that mean the same.
const SYNONYMS: [(&str, &str); 4] =
    [("preproduction", "staging"), ("erased", "wiped"), ("currency", "money"), ("fractions", "cents")];

/// How the endpoint answers.
#[derive(Clone, Debug)]
pub(super) enum Mode {
    Well,
    /// It takes the request and never answers.
    Never,
    /// Always this status and body.
    With(u16, String),
    /// With this status if a text has this word or more characters than this; otherwise well.
    WellExcept(u16, &'static str, usize),
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) authorization: Option<String>,
    pub(super) body: Value,
}

impl Asked {
    pub(super) fn texts(&self) -> Vec<&str> {
        self.body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
    }
}

struct Shared {
    mode: Mutex<Mode>,
    asked: Mutex<Vec<Asked>>,
    /// The number of requests that the client cancelled.
    given_up: watch::Sender<usize>,
}

/// Counts a request as cancelled when it is dropped.
struct Unanswered(Arc<Shared>);

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.0.given_up.send_modify(|count| *count += 1);
    }
}

pub(super) struct Endpoint {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// An endpoint with a reserved port that does not listen yet, so that connections are refused.
pub(super) struct Down(TcpSocket);

impl Down {
    pub(super) fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        Self(socket)
    }

    pub(super) fn settings(&self) -> EmbedEndpoint {
        settings(self.0.local_addr().unwrap())
    }

    pub(super) fn come_up(self) -> Endpoint {
        Endpoint::serve(self.0.listen(64).unwrap())
    }
}

impl Endpoint {
    pub(super) fn start() -> Self {
        Down::new().come_up()
    }

    fn serve(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let shared =
            Arc::new(Shared { mode: Mutex::new(Mode::Well), asked: Mutex::default(), given_up: watch::Sender::default() });
        let state = Arc::clone(&shared);
        let take = async move |headers: HeaderMap, body: Bytes| {
            let asked = Asked {
                authorization: headers.get("authorization").map(|value| value.to_str().unwrap().to_owned()),
                body: serde_json::from_slice(&body).unwrap(),
            };
            state.asked.lock().unwrap().push(asked.clone());
            let mode = state.mode.lock().unwrap().clone();
            answer(mode, &asked, &state).await
        };
        let router = Router::new().route("/v1/embeddings", axum::routing::post(take));
        #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, shared }
    }

    /// The setting for this endpoint, without a dimension or a key.
    pub(super) fn settings(&self) -> EmbedEndpoint {
        settings(self.address)
    }

    pub(super) fn answers(&self, mode: Mode) {
        *self.shared.mode.lock().unwrap() = mode;
    }

    /// The requests so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// The number of unanswered requests that the client cancelled.
    pub(super) fn given_up(&self) -> watch::Receiver<usize> {
        self.shared.given_up.subscribe()
    }

    /// Forgets the requests so far.
    pub(super) fn forget(&self) {
        self.shared.asked.lock().unwrap().clear();
    }
}

fn settings(address: SocketAddr) -> EmbedEndpoint {
    EmbedEndpoint {
        url: format!("http://{address}/v1"),
        model: "bag-of-words".into(),
        dimension: None,
        query_prefix: String::new(),
        text_prefix: String::new(),
        key: EmbedKey::None,
    }
}

/// The same setting with its dimension.
pub(super) fn with_dimension(mut settings: EmbedEndpoint) -> EmbedEndpoint {
    settings.dimension = NonZero::new(u32::try_from(DIMENSION).unwrap());
    settings
}

async fn answer(mode: Mode, asked: &Asked, shared: &Arc<Shared>) -> (StatusCode, String) {
    match mode {
        Mode::Well => {}
        Mode::Never => {
            let _unanswered = Unanswered(Arc::clone(shared));
            std::future::pending().await
        }
        Mode::With(status, body) => return (StatusCode::from_u16(status).unwrap(), body),
        Mode::WellExcept(status, word, most) => {
            if asked.texts().iter().any(|text| text.contains(word) || text.chars().count() > most) {
                let body = json!({"error": {"message": "input is too large to process"}}).to_string();
                return (StatusCode::from_u16(status).unwrap(), body);
            }
        }
    }
    let vectors = asked.texts().into_iter().enumerate();
    let items: Vec<Value> = vectors.map(|(index, text)| json!({"index": index, "embedding": vector(text)})).collect();
    // The API promises no order, so reverse it.
    let items: Vec<Value> = items.into_iter().rev().collect();
    (StatusCode::OK, json!({"object": "list", "data": items, "model": asked.body["model"]}).to_string())
}

pub(super) fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSION];
    let words = text.to_lowercase();
    for word in words.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3) {
        let meaning = SYNONYMS.iter().find(|(synonym, _)| *synonym == word).map_or(word, |(_, meaning)| *meaning);
        let mut hasher = DefaultHasher::new();
        meaning.hash(&mut hasher);
        vector[(hasher.finish() % DIMENSION as u64) as usize] += 1.0;
    }
    vector
}
