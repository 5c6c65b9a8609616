//! Content blocks: what tools return and prompts are made of.

use serde::{Deserialize, Serialize};

use crate::model::Text;

/// Who speaks, or who should see something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// For whom a block is, and how much it matters.
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
    /// Words.
    Text {
        /// The words.
        text: Text,
        /// For whom.
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Annotations>,
    },
    /// A picture.
    Image {
        /// Base64.
        data: Text,
        /// Such as `image/png`.
        mime_type: Text,
    },
    /// Sound.
    Audio {
        /// Base64.
        data: Text,
        /// Such as `audio/wav`.
        mime_type: Text,
    },
    /// A resource, whole.
    Resource {
        /// The resource.
        resource: ResourceContents,
    },
    /// A resource that may be read by its address.
    ResourceLink {
        /// The address.
        uri: Text,
        /// A short name.
        name: Text,
        /// What it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<Text>,
        /// Such as `text/plain`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<Text>,
    },
}

impl Content {
    /// A block of words for everyone.
    pub fn text(text: impl Into<Text>) -> Self {
        Content::Text { text: text.into(), annotations: None }
    }

    /// How much there is to send.
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

/// A resource with what is in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ResourceContents {
    /// Words.
    Text {
        /// The address.
        uri: Text,
        /// Such as `text/plain`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<Text>,
        /// The words.
        text: Text,
    },
    /// Bytes.
    Blob {
        /// The address.
        uri: Text,
        /// Such as `image/png`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<Text>,
        /// Base64.
        blob: Text,
    },
}
