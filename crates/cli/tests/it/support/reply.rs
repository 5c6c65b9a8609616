//! A complete HTTP reply.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// A string in a reply.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a string")).to_owned()
}

/// The names of an object's members, sorted.
#[track_caller]
pub(crate) fn members(value: &Value) -> Vec<&str> {
    let members = value.as_object().unwrap_or_else(|| panic!("{value} is not an object"));
    let mut names: Vec<_> = members.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    /// Asserts a success status. Returns the request's id.
    #[track_caller]
    pub(crate) fn expect_success(&self) -> String {
        assert!((200..300).contains(&self.status), "{}: {}", self.status, self.text);
        self.header("x-request-id").unwrap().to_owned()
    }

    pub(crate) async fn read(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.unwrap() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text))
    }

    /// Asserts the status. Returns the body.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// The JSON-RPC result.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        let mut body = self.expect(200);
        assert!(body.get("error").is_none(), "{body}");
        body["result"].take()
    }

    /// The code of the JSON-RPC error.
    #[track_caller]
    pub(crate) fn error_code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {}", self.text))
    }

    /// The JSON-RPC error.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        let mut body = self.json();
        assert!(body["error"].is_object(), "{body}");
        body["error"].take()
    }

    /// The code of a failed call: of its JSON-RPC error, or of the error inside a result with `isError`.
    #[track_caller]
    pub(crate) fn failed_code(&self) -> i64 {
        let body = self.json();
        if body.get("error").is_some() {
            return self.error_code();
        }
        assert_eq!(body["result"]["isError"], true, "{body}");
        body["result"]["structuredContent"]["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {body}"))
    }

    /// The messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"), "{}", self.text);
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}
