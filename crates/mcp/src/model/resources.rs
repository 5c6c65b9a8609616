//! `resources/list`, `resources/templates/list` and `resources/read`.

use serde::Serialize;

use crate::model::{ResourceContents, Text};

/// One resource of the list.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its URI.
    pub uri: Text,
    /// A short name.
    pub name: Text,
    /// Its display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// Such as `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A URI template.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The URI, with `{variables}`.
    pub uri_template: Text,
    /// A short name.
    pub name: Text,
    /// Its display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// Such as `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
}

/// The content of a resource. Never empty: a missing resource is an error that names its `uri`.
#[derive(Clone, Debug, Serialize)]
pub struct ReadResult {
    /// The resource, or the resources inside it.
    pub contents: Vec<ResourceContents>,
}
