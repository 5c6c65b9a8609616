//! Handshakes, and small methods that need no state.

use mcp::Request;
use mcp::era::Admitted;
use mcp::model::{
    Capabilities, DiscoverResult, Empty, InitializeParams, InitializeResult, ListChanged, LogLevel, ResourceCapabilities,
};

use super::{Dispatch, Handled};

/// Instructions that a client may show to its model.
const INSTRUCTIONS: &str = "Toolcrib gives this session its governed tools. tools/list shows the tools you may call. \
A refusal names the missing scope or allowlist entry; retrying does not help.";

impl Dispatch<'_> {
    pub(super) fn initialize(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        let wanted = InitializeParams::read(&admitted.params)?;
        let result = InitializeResult::new(wanted.negotiated(), capabilities(false), self.server(), Some(INSTRUCTIONS));
        self.result(request, admitted, &result)
    }

    pub(super) fn discover(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        self.result(request, admitted, &DiscoverResult::new(capabilities(true), Some(INSTRUCTIONS.into())))
    }

    /// Answers `{}`: to a legacy ping, or to a legacy subscription, which this stateless server can only acknowledge.
    pub(super) fn empty(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        self.result(request, admitted, &Empty {})
    }

    /// Only validates the level, because nothing is remembered between requests.
    pub(super) fn set_level(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        LogLevel::read(&admitted.params)?;
        self.empty(request, admitted)
    }
}

/// The server's capabilities. Only modern clients can listen for list changes, so only they are offered them.
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
