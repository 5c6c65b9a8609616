//! Resources, prompts and completions from the catalogue's shelf, for callers with the right scope. For all other callers, and on a
//! server with an empty shelf, the lists are empty and every name is unknown.

use base::Error;
use mcp::Request;
use mcp::era::Admitted;
use mcp::model::{CompleteParams, CompleteResult, GetPromptParams, Page, ReadResult};
use serde::Serialize;
use tools::{EmptyShelf, Shelf};

use super::{Dispatch, Handled};

impl Dispatch<'_> {
    pub(super) fn list_resources(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        self.only_page(request, admitted, "resources", &self.shelf().resources())
    }

    pub(super) fn list_resource_templates(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        self.only_page(request, admitted, "resourceTemplates", &self.shelf().resource_templates())
    }

    pub(super) fn read_resource(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        let uri = admitted.params.uri()?;
        match self.shelf().read(&uri) {
            Some(contents) => self.result(request, admitted, &ReadResult { contents: vec![contents] }),
            // The specification requires the URI in the error, so that a client can match it to its request.
            None => Err(Error::invalid("uri", "no such resource").with("uri", uri).into()),
        }
    }

    pub(super) fn list_prompts(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        self.only_page(request, admitted, "prompts", &self.shelf().prompts())
    }

    pub(super) fn get_prompt(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        match self.shelf().prompt(&GetPromptParams::read(&admitted.params)?)? {
            Some(prompt) => self.reply(request, admitted, prompt),
            None => Err(Error::invalid("name", "no such prompt").into()),
        }
    }

    pub(super) fn complete(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        match self.shelf().complete(&CompleteParams::read(&admitted.params)?)? {
            Some(values) => self.result(request, admitted, &CompleteResult::new(values)),
            None => Err(Error::invalid("ref", "no such prompt or resource template").into()),
        }
    }

    /// The shelf that the caller may see.
    fn shelf(&self) -> &dyn Shelf {
        let shelf = self.state.catalogues.common().shelf();
        match shelf.scope() {
            Some(scope) if !self.caller.principal().scopes.has(scope) => &EmptyShelf,
            _ => shelf,
        }
    }

    /// A list that fits on one page, so every cursor is invalid.
    fn only_page<T: Serialize>(
        &self,
        request: &Request<'_>,
        admitted: &Admitted<'_>,
        member: &'static str,
        items: &[T],
    ) -> Handled {
        match admitted.params.cursor()? {
            None => self.result(request, admitted, &Page { member, items, next_cursor: None }),
            Some(_) => Err(Error::invalid("cursor", "invalid cursor; restart without one").into()),
        }
    }
}
