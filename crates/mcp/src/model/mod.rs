//! The types on the wire: the params of requests and the content of results.
//!
//! Params are read from [`crate::era::Params`], and errors name the bad parameter. [`crate::reply`] writes results and adds the
//! members of modern answers. The types here are shared by both eras and know no tenant, tool or store.

mod completion;
mod content;
mod input;
mod lifecycle;
mod logging;
mod notices;
mod prompts;
mod resources;
mod subscriptions;
mod tools;

use std::borrow::Cow;

use serde::Serialize;

pub use completion::{CompleteParams, CompleteResult, CompletionValues, Reference};
pub use content::{Annotations, Content, ResourceContents, Role};
pub use input::{Action, Elicited, InputRequest, InputRequired, InputResponses, Root, Roots, Sampled, SamplingMessage};
pub use lifecycle::{Capabilities, DiscoverResult, InitializeParams, InitializeResult, ListChanged, ResourceCapabilities};
pub use logging::LogLevel;
pub use notices::{Cancelled, Log, Notice, Progress};
pub use prompts::{GetPromptParams, GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use resources::{ReadResult, Resource, ResourceTemplate};
pub use subscriptions::{Filter, ListenParams};
pub use tools::{CallResult, Tool, ToolAnnotations};

/// Text that is static or made at run time.
pub type Text = Cow<'static, str>;

/// One page of a list. `T` is the type of an item, or its serialised JSON.
#[derive(Clone, Debug)]
pub struct Page<'a, T> {
    /// The member that holds the items: `tools`, `resources`, `resourceTemplates` or `prompts`.
    pub member: &'static str,
    /// The items, in a stable order.
    pub items: &'a [T],
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<&'a str>,
}

impl<T: Serialize> Serialize for Page<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.member, self.items)?;
        if let Some(cursor) = self.next_cursor {
            map.serialize_entry("nextCursor", cursor)?;
        }
        map.end()
    }
}

/// The result of a method without content (`ping`, `logging/setLevel`, `resources/subscribe`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Empty {}

#[cfg(test)]
mod tests;
