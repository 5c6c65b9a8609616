//! What a server offers beside tools: resources to read, prompts to fill in, and completions of their arguments.
//!
//! The product's own shelf is empty. Everything on a shelf takes one scope, which the dispatcher asks for.

use base::{Error, Scope};
use mcp::Fault;
use mcp::model::{CompleteParams, GetPromptParams, GetPromptResult, Prompt, Resource, ResourceContents, ResourceTemplate};

use crate::reply::Reply;

/// Resources, prompts and completions. Lists come in a stable order; what is not there is `None`.
pub trait Shelf: Send + Sync + 'static {
    /// The scope that everything on it takes; `None` when there is nothing to guard.
    fn scope(&self) -> Option<Scope> {
        None
    }

    /// The resources that can be listed.
    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// The addresses with gaps.
    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// What stands at an address, listed or made from a template.
    fn read(&self, _uri: &str) -> Option<ResourceContents> {
        None
    }

    /// The prompts.
    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    /// A prompt, filled in, or what must be asked first.
    fn prompt(&self, _asked: &GetPromptParams<'_>) -> Result<Option<Reply<GetPromptResult>>, Fault> {
        Ok(None)
    }

    /// What an argument might go on to be, best first.
    fn complete(&self, _wanted: &CompleteParams<'_>) -> Result<Option<Vec<String>>, Error> {
        Ok(None)
    }
}

/// A shelf with nothing on it.
#[derive(Clone, Copy, Debug)]
pub struct EmptyShelf;

impl Shelf for EmptyShelf {}
