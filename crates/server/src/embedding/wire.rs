//! One request to an embeddings endpoint, and its answer. The key is never shown in an error or a log.

use std::time::Duration;

use base::limits::{EMBED_ANSWER_BYTES_MAX, EMBED_DIMENSION_MAX};
use base::{Error, Kind, Result};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, StatusCode, Url, redirect};
use search::embed::Embedding;
use serde_json::{Value, json};

use super::answer;
use crate::config::{EmbedEndpoint, EmbedKey};

/// How many characters of an endpoint's error message are passed on.
const REASON_CHARS_MAX: usize = 200;

/// Why there are no vectors.
#[derive(Debug)]
pub(super) enum Failure {
    /// It answered without vectors for these texts. Other texts may work.
    Answered(String),
    /// It did not answer in time.
    Late(String),
    /// It is unavailable, whatever the text.
    Down(String),
}

impl Failure {
    /// The reason as text.
    pub(super) fn why(self) -> String {
        match self {
            Failure::Answered(why) | Failure::Late(why) | Failure::Down(why) => why,
        }
    }
}

/// The HTTP client of an endpoint.
pub(super) struct Wire {
    client: Client,
    url: Url,
    /// Host, port and path, as part of the model's stored name.
    place: String,
    model: String,
    /// Sent only if the operator configured it, because not every endpoint supports the member.
    dimensions: Option<usize>,
    key: Option<String>,
}

impl Wire {
    /// Validates the operator's settings. Sends nothing.
    pub(super) fn new(endpoint: &EmbedEndpoint) -> Result<Self> {
        let (url, place) = address(&endpoint.url)?;
        let model = endpoint.model.trim().to_owned();
        if model.is_empty() || model.chars().count() > 200 || model.chars().any(char::is_control) {
            return Err(Error::invalid(
                "embed_model",
                "the embedder's model name must have 1 to 200 characters; correct --embed-model",
            ));
        }
        let dimensions = endpoint.dimension.map(|dimension| dimension.get() as usize);
        if dimensions.is_some_and(|dimension| dimension > EMBED_DIMENSION_MAX) {
            let message = format!("vectors may have at most {EMBED_DIMENSION_MAX} numbers; correct --embed-dimension");
            return Err(Error::invalid("embed_dimension", message));
        }
        // Fails only if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            // No redirects, so that texts and the key go only to the configured address.
            .redirect(redirect::Policy::none())
            .no_proxy()
            .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Error::new(Kind::Unavailable, format!("cannot set up HTTP: {error}")))?;
        Ok(Self { client, url, place, model, dimensions, key: read_key(&endpoint.key)? })
    }

    /// The model and its location: `nomic-embed-text@127.0.0.1:11434/v1`.
    pub(super) fn name(&self) -> String {
        format!("{}@{}", self.model, self.place)
    }

    /// The vectors of `texts`, in order. Without a known dimension, any length is accepted.
    pub(super) async fn ask<T: AsRef<str>>(
        &self,
        texts: &[T],
        dimension: Option<usize>,
        patience: Duration,
    ) -> Result<Vec<Embedding>, Failure> {
        let input: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let mut body = json!({"model": self.model, "input": input, "encoding_format": "float"});
        if let (Some(dimensions), Some(body)) = (self.dimensions, body.as_object_mut()) {
            body.insert("dimensions".to_owned(), dimensions.into());
        }
        let mut request = self.client.post(self.url.clone()).timeout(patience).header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            let mut value = HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| Failure::Down("its key contains invalid characters".into()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let failed = |error: reqwest::Error| said(error, patience);
        let mut response = request.body(body.to_string()).send().await.map_err(failed)?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > EMBED_ANSWER_BYTES_MAX {
                return Err(Failure::Answered(format!("its answer is larger than {EMBED_ANSWER_BYTES_MAX} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        if !status.is_success() {
            return Err(self.refusal(status, &bytes));
        }
        answer::parse(&bytes, texts.len(), dimension).map_err(Failure::Answered)
    }

    /// The failure for an answer with a status other than 2xx.
    fn refusal(&self, status: StatusCode, body: &[u8]) -> Failure {
        let code = status.as_u16();
        match code {
            300..400 => Failure::Down(format!("it answered {code}, and redirects are not followed; correct --embed-url")),
            // Without its message, because some endpoints repeat the key there.
            401 | 403 => Failure::Down(format!("it answered {code}; check --embed-key-file or TOOLCRIB_EMBED_KEY")),
            404 => Failure::Down(format!("it answered 404{}; check --embed-url and --embed-model", self.reason(body))),
            // A text that is too long gets one of these; llama.cpp answers 500.
            400 | 413 | 422 | 500 => Failure::Answered(format!("it answered {code}{}", self.reason(body))),
            _ => Failure::Down(format!("it answered {code}{}", self.reason(body))),
        }
    }

    /// The endpoint's error message, if it has a common format.
    fn reason(&self, body: &[u8]) -> String {
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            return String::new();
        };
        let places = ["/error/message", "/error", "/message"];
        let Some(reason) = places.iter().find_map(|place| body.pointer(place)?.as_str()) else {
            return String::new();
        };
        let without_key = self.key.as_ref().map_or_else(|| reason.to_owned(), |key| reason.replace(key.as_str(), "…"));
        let printable = without_key.chars().map(|c| if c.is_control() { ' ' } else { c }).take(REASON_CHARS_MAX);
        format!(": {}", printable.collect::<String>().trim())
    }
}

/// The request URL, and the same without the scheme for the model's stored name.
fn address(base: &str) -> Result<(Url, String)> {
    // The URL is not repeated in the error, because it may contain a password.
    let wrong = || {
        Error::invalid(
            "embed_url",
            "the embedder's URL must be http://host/v1 or https://host/v1, without a user, query or fragment; correct --embed-url",
        )
    };
    let mut url = Url::parse(base.trim()).map_err(|_| wrong())?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if !plain || !matches!(url.scheme(), "http" | "https") {
        return Err(wrong());
    }
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let place = format!("{host}{port}{}", url.path().trim_end_matches('/'));
    url.path_segments_mut().map_err(|()| wrong())?.pop_if_empty().push("embeddings");
    Ok((url, place))
}

/// Reads the key and checks that it fits in a header.
fn read_key(key: &EmbedKey) -> Result<Option<String>> {
    let text = match key {
        EmbedKey::None => return Ok(None),
        EmbedKey::Given(key) => key.clone(),
        EmbedKey::File(path) => std::fs::read_to_string(path).map_err(|error| {
            Error::new(Kind::Unavailable, format!("cannot read the embedder's key file {}: {error}", path.display()))
        })?,
    };
    let key = text.trim();
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err(Error::invalid(
            "embed_key_file",
            "the embedder's key must be one line of printable characters without spaces",
        ));
    }
    Ok(Some(key.to_owned()))
}

/// Describes a transport error.
fn said(error: reqwest::Error, patience: Duration) -> Failure {
    if error.is_timeout() {
        return Failure::Late(format!("no answer within {} s", patience.as_secs()));
    }
    let error = error.without_url();
    let mut source: &dyn std::error::Error = &error;
    while let Some(cause) = source.source() {
        source = cause;
    }
    Failure::Down(format!("unreachable: {source}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(key: &str) -> Wire {
        let endpoint = EmbedEndpoint {
            url: "http://127.0.0.1:9/v1".into(),
            model: "m".into(),
            dimension: None,
            query_prefix: String::new(),
            text_prefix: String::new(),
            key: EmbedKey::Given(key.into()),
        };
        Wire::new(&endpoint).unwrap()
    }

    #[test]
    fn url_and_name_are_derived_from_the_base() {
        for (base, url, place) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/embeddings", "127.0.0.1:11434/v1"),
            (" https://api.example/v1/ ", "https://api.example/v1/embeddings", "api.example/v1"),
            ("https://api.example:443", "https://api.example/embeddings", "api.example"),
            ("http://[::1]:80/a/b", "http://[::1]/a/b/embeddings", "[::1]/a/b"),
        ] {
            let found = address(base).unwrap();
            assert_eq!((found.0.as_str(), found.1.as_str()), (url, place));
        }
        for base in
            ["", "api.example/v1", "ftp://h/v1", "https://u:p@h/v1", "https://h/v1?k=secret", "https://h/v1#f", "file:///v1"]
        {
            let error = address(base).unwrap_err().to_string();
            assert!(error.contains("--embed-url") && !error.contains("secret"), "{base}: {error}");
        }
    }

    #[test]
    fn reason_is_short_and_printable_and_omits_the_key() {
        let wire = wire("sk-very-secret");
        for (status, body, expected) in [
            (400, r#"{"error": {"message": "8192 tokens\u0007 at most", "type": "x"}}"#, "it answered 400: 8192 tokens  at most"),
            (500, r#"{"error": "sk-very-secret is overdue"}"#, "it answered 500: … is overdue"),
            (503, "<html>", "it answered 503"),
            (429, r#"{"message": "slow down"}"#, "it answered 429: slow down"),
            (
                401,
                r#"{"error": {"message": "bad key sk-ver***ret"}}"#,
                "it answered 401; check --embed-key-file or TOOLCRIB_EMBED_KEY",
            ),
            (302, "", "it answered 302, and redirects are not followed; correct --embed-url"),
        ] {
            let failure = wire.refusal(StatusCode::from_u16(status).unwrap(), body.as_bytes());
            assert_eq!(matches!(failure, Failure::Answered(_)), [400, 500].contains(&status), "{status}");
            assert_eq!(failure.why(), expected);
        }
        let long = format!(r#"{{"error": "{}"}}"#, "a".repeat(1_000));
        assert!(wire.refusal(StatusCode::BAD_REQUEST, long.as_bytes()).why().len() < 250);
    }

    #[test]
    fn key_must_be_one_word_and_is_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "sk-1\n").unwrap();
        assert_eq!(read_key(&EmbedKey::File(path)).unwrap().as_deref(), Some("sk-1"));
        assert_eq!(read_key(&EmbedKey::None).unwrap(), None);
        assert!(read_key(&EmbedKey::File(folder.path().join("none"))).is_err());
        for bad in ["", " \n", "two words", "two\nlines", "ключ"] {
            assert!(read_key(&EmbedKey::Given(bad.into())).is_err(), "{bad}");
        }
        assert!(!format!("{:?}", EmbedKey::Given("sk-1".into())).contains("sk-1"));
    }
}
