//! Resources, prompts and completions: what the catalogue's shelf holds, to those whose scopes reach it. To all others, and
//! on a server whose shelf is empty, the lists are empty and nothing has a name.

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
            // The specification wants the address back, so that a client knows which of its reads it was.
            None => Err(Error::invalid("uri", "there is no such resource").with("uri", uri).into()),
        }
    }

    pub(super) fn list_prompts(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        self.only_page(request, admitted, "prompts", &self.shelf().prompts())
    }

    pub(super) fn get_prompt(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        match self.shelf().prompt(&GetPromptParams::read(&admitted.params)?)? {
            Some(prompt) => self.reply(request, admitted, prompt),
            None => Err(Error::invalid("name", "there is no such prompt").into()),
        }
    }

    pub(super) fn complete(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        match self.shelf().complete(&CompleteParams::read(&admitted.params)?)? {
            Some(values) => self.result(request, admitted, &CompleteResult::new(values)),
            None => Err(Error::invalid("ref", "there is no such prompt or resource template").into()),
        }
    }

    /// The shelf, as far as the caller may see it.
    fn shelf(&self) -> &dyn Shelf {
        let shelf = self.state.catalogue.shelf();
        match shelf.scope() {
            Some(scope) if !self.caller.principal().scopes.has(scope) => &EmptyShelf,
            _ => shelf,
        }
    }

    /// A list that fits into one page: a cursor leads nowhere.
    fn only_page<T: Serialize>(
        &self,
        request: &Request<'_>,
        admitted: &Admitted<'_>,
        member: &'static str,
        items: &[T],
    ) -> Handled {
        match admitted.params.cursor()? {
            None => self.result(request, admitted, &Page { member, items, next_cursor: None }),
            Some(_) => Err(Error::invalid("cursor", "this cursor leads nowhere: start again without one").into()),
        }
    }
}
