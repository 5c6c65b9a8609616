//! `initialize` and `server/discover`: the features of the server, for each era.

use std::borrow::Cow;

use base::Error;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::era::{Params, version};
use crate::model::Text;
use crate::object;
use crate::reply::ServerInfo;

/// The features of a server. An absent member means that it does not have the feature.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Capabilities {
    /// Tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListChanged>,
    /// Resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceCapabilities>,
    /// Prompts. A server that answers `prompts/list` must declare this, even if the list is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListChanged>,
    /// Completion of arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<super::Empty>,
    /// Log messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<super::Empty>,
    /// Extensions by their identifier.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, Value>,
}

/// Whether changes of a list are announced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListChanged {
    /// Changes are announced to listeners.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list_changed: bool,
}

/// The features of resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceCapabilities {
    /// Changes of a resource are announced.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subscribe: bool,
    /// Changes of the list are announced.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list_changed: bool,
}

/// The params of `initialize`. Any of them may be missing or malformed, because old clients send very little.
#[derive(Clone, Debug, Default)]
pub struct InitializeParams<'a> {
    /// The requested version. A value that is not a string counts as unknown, not as absent.
    pub version: Option<Cow<'a, str>>,
}

impl<'a> InitializeParams<'a> {
    /// Reads the known members.
    pub fn read(params: &Params<'a>) -> Result<Self, Error> {
        let [version] = params.members(&["protocolVersion"])?;
        Ok(Self { version: version.raw().map(|raw| object::text(raw).unwrap_or(Cow::Borrowed("unknown"))) })
    }

    /// The version that the server answers with.
    pub fn negotiated(&self) -> &'static str {
        version::negotiate(self.version.as_deref())
    }
}

/// The answer to `initialize`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult<'a> {
    protocol_version: &'static str,
    capabilities: Capabilities,
    server_info: &'a ServerInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

impl<'a> InitializeResult<'a> {
    /// The answer for `negotiated`. The oldest version knows only tools, so it gets nothing else.
    pub fn new(
        negotiated: &'static str,
        capabilities: Capabilities,
        server_info: &'a ServerInfo,
        instructions: Option<&'a str>,
    ) -> Self {
        let capabilities = match negotiated {
            version::LEGACY_OLDEST => Capabilities { tools: Some(ListChanged::default()), ..Capabilities::default() },
            // Extensions exist only in the modern era.
            _ => Capabilities { extensions: Map::new(), ..capabilities },
        };
        Self { protocol_version: negotiated, capabilities, server_info, instructions }
    }
}

/// The answer to `server/discover`. The server's name is in `_meta`, as in every modern result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoverResult {
    supported_versions: [&'static str; version::SUPPORTED_MODERN.len()],
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<Text>,
}

impl DiscoverResult {
    /// The answer of a server with these features.
    pub fn new(capabilities: Capabilities, instructions: Option<Text>) -> Self {
        Self { supported_versions: version::SUPPORTED_MODERN, capabilities, instructions }
    }
}
