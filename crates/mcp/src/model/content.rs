//! Content blocks of tool results and prompts.

use serde::{Deserialize, Serialize};

use crate::model::Text;

/// The sender of a message, or the audience of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// The audience and the priority of a block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// Who should see it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// From 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it last changed, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<Text>,
}

/// One block of content.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: Text,
        /// Audience and priority.
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
    },
    /// An image.
    Image {
        /// Base64.
        data: Text,
        /// Such as `image/png`.
        mime_type: Text,
    },
    /// Audio.
    Audio {
        /// Base64.
        data: Text,
        /// Such as `audio/wav`.
        mime_type: Text,
    },
    /// An embedded resource.
    Resource {
        /// The resource.
        resource: ResourceContents,
    },
    /// A link to a resource that can be read by its URI.
    ResourceLink {
        /// The URI.
        uri: Text,
        /// A short name.
        name: Text,
        /// Its description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<Text>,
        /// Such as `text/plain`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<Text>,
    },
}

impl Content {
    /// A block of text for everyone.
    pub fn text(text: impl Into<Text>) -> Self {
        Content::Text { text: text.into(), annotations: None }
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Content::Text { text, .. } => text.len(),
            Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
            Content::Resource { resource: ResourceContents::Text { text: contents, .. } }
            | Content::Resource { resource: ResourceContents::Blob { blob: contents, .. } } => contents.len(),
            Content::ResourceLink { uri, name, description, .. } => {
                uri.len() + name.len() + description.as_ref().map_or(0, |description| description.len())
            }
        }
    }
}

/// A resource with its content.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ResourceContents {
    /// Text.
    Text {
        /// The URI.
        uri: Text,
        /// Such as `text/plain`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<Text>,
        /// The text.
        text: Text,
    },
    /// Binary data.
    Blob {
        /// The URI.
        uri: Text,
        /// Such as `image/png`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<Text>,
        /// Base64.
        blob: Text,
    },
}
