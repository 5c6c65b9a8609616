//! `Mcp-Param-…` headers. The schema of a tool can require arguments as headers too. Stdio has no headers, so the bridge fetches
//! the schemas once and adds the headers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mcp::era::ToolHeaders;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bridge::Bridge;
use super::headers::encoded;
use super::message::Envelope;

/// Maximum pages of `tools/list`, far more than any server has.
const PAGES_MAX: usize = 100;

/// A tool call.
#[derive(Debug, Deserialize)]
pub(super) struct ToolCall {
    name: String,
    #[serde(default)]
    arguments: Option<Value>,
}

impl ToolCall {
    /// The tool call in a message, if it is one.
    pub(super) fn of(message: &Envelope<'_>) -> Option<Self> {
        if message.method.as_deref() != Some("tools/call") {
            return None;
        }
        serde_json::from_str(message.params?.get()).ok()
    }
}

/// The header parameters of each known tool, by name.
#[derive(Default)]
pub(super) struct Parameters(Mutex<HashMap<String, Arc<ToolHeaders>>>);

impl Parameters {
    fn known(&self, tool: &str) -> Option<Arc<ToolHeaders>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }

    fn learn(&self, tools: impl IntoIterator<Item = (String, Arc<ToolHeaders>)>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(tools);
    }

    /// Forgets a tool whose schema may have changed. Returns whether it was known.
    pub(super) fn forget(&self, tool: &ToolCall) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&tool.name).is_some()
    }
}

impl Bridge {
    /// The additional headers of a tool call.
    pub(super) async fn headers_of(&self, call: &ToolCall) -> HeaderMap {
        let known = match self.parameters.known(&call.name) {
            Some(known) => known,
            None => self.learn(&call.name).await,
        };
        let headers = known.of_arguments(call.arguments.as_ref()).into_iter();
        headers.filter_map(|(name, value)| Some((name, HeaderValue::from_str(&encoded(&value)).ok()?))).collect()
    }

    /// Fetches the schemas of all tools. A tool that is not listed gets no headers.
    async fn learn(&self, tool: &str) -> Arc<ToolHeaders> {
        let mut cursor = None::<String>;
        for _ in 0..PAGES_MAX {
            let Some(page) = self.page_of_tools(cursor.as_deref()).await else { break };
            let tools = page.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            self.parameters.learn(tools.iter().filter_map(|tool| {
                let headers = ToolHeaders::of(tool.get("inputSchema")?).unwrap_or_default();
                Some((tool.get("name")?.as_str()?.to_owned(), Arc::new(headers)))
            }));
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        let found = self.parameters.known(tool).unwrap_or_default();
        self.parameters.learn([(tool.to_owned(), Arc::clone(&found))]);
        found
    }

    async fn page_of_tools(&self, cursor: Option<&str>) -> Option<Value> {
        let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": params });
        let ((_, found), (_, session)) = (self.upstream.current(), self.session.current());
        let url = format!("{}/api/mcp/{}", found.url, session.id);
        let answer = self.http.post(url).bearer_auth(&session.key).header("accept", "application/json").json(&message).send();
        let mut answer: Value = answer.await.ok()?.json().await.ok()?;
        answer.get_mut("result").map(Value::take)
    }
}
