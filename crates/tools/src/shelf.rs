//! What a server offers besides tools: resources, prompts, and completions of their arguments.
//!
//! The product's own shelf is empty. One scope covers everything on a shelf, and the dispatcher checks it.

use base::{Error, Scope};
use mcp::Fault;
use mcp::model::{CompleteParams, GetPromptParams, GetPromptResult, Prompt, Resource, ResourceContents, ResourceTemplate};

use crate::reply::Reply;

/// Resources, prompts and completions. Lists have a stable order. `None` means not found.
pub trait Shelf: Send + Sync + 'static {
    /// The scope that everything on the shelf needs. `None` means that it needs none.
    fn scope(&self) -> Option<Scope> {
        None
    }

    /// The resources that can be listed.
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// The URI templates.
    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// The resource at this URI, whether it is listed or comes from a template.
    fn read(&self, _uri: &str) -> Option<ResourceContents> {
        None
    }

    /// The prompts.
    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    /// A prompt with its arguments filled in, or the questions to ask first.
    fn prompt(&self, _asked: &GetPromptParams<'_>) -> Result<Option<Reply<GetPromptResult>>, Fault> {
        Ok(None)
    }

    /// Possible completions of an argument, best first.
    fn complete(&self, _wanted: &CompleteParams<'_>) -> Result<Option<Vec<String>>, Error> {
        Ok(None)
    }
}

/// A shelf with nothing on it.
#[derive(Clone, Copy, Debug)]
pub struct EmptyShelf;

impl Shelf for EmptyShelf {}
