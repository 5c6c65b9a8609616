//! `resources/list`, `resources/templates/list` and `resources/read`.

use serde::Serialize;

use crate::model::{ResourceContents, Text};

/// One resource of the list.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its address.
    pub uri: Text,
    /// A short name.
    pub name: Text,
    /// The name people read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// Such as `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
    /// How large it is, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// Addresses with a gap in them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The address, with `{gaps}`.
    pub uri_template: Text,
    /// A short name.
    pub name: Text,
    /// The name people read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// Such as `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
}

/// What was read. Never empty: a resource that is not there is an error that names its `uri`.
#[derive(Clone, Debug, Serialize)]
pub struct ReadResult {
    /// The resource, or those inside it.
    pub contents: Vec<ResourceContents>,
}
