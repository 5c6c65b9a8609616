//! Handshakes, and the small methods that a stateless server answers the same way to everyone.

use mcp::Request;
use mcp::era::Admitted;
use mcp::model::{
    Capabilities, DiscoverResult, Empty, InitializeParams, InitializeResult, ListChanged, LogLevel, ResourceCapabilities,
};

use super::{Dispatch, Handled};

/// What a client may tell its model about this server.
const INSTRUCTIONS: &str = "Toolcrib gives this session its governed tools. What tools/list shows is what may be called; \
a refusal names the scope or allowlist that is missing, and trying again does not help.";

impl Dispatch<'_> {
    pub(super) fn initialize(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        let wanted = InitializeParams::read(&admitted.params)?;
        let result = InitializeResult::new(wanted.negotiated(), capabilities(false), self.server(), Some(INSTRUCTIONS));
        self.result(request, admitted, &result)
    }

    pub(super) fn discover(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        self.result(request, admitted, &DiscoverResult::new(capabilities(true), Some(INSTRUCTIONS.into())))
    }

    /// `{}`: a legacy ping, or a subscription that a server without streams of its own can only acknowledge.
    pub(super) fn empty(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        self.result(request, admitted, &Empty {})
    }

    /// Nothing is remembered between requests, so the level only has to be one.
    pub(super) fn set_level(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        LogLevel::read(&admitted.params)?;
        self.empty(request, admitted)
    }
}

/// What this server can do. Changes of lists are told only to modern clients, which can listen for them.
pub(super) fn capabilities(can_listen: bool) -> Capabilities {
    Capabilities {
        tools: Some(ListChanged { list_changed: can_listen }),
        resources: Some(ResourceCapabilities { subscribe: true, list_changed: can_listen }),
        prompts: Some(ListChanged { list_changed: can_listen }),
        completions: Some(Empty {}),
        logging: Some(Empty {}),
        ..Capabilities::default()
    }
}
