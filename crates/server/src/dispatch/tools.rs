//! `tools/list` and `tools/call`.

use mcp::Request;
use mcp::era::Admitted;
use mcp::model::InputResponses;
use mcp::reply::{self, Stamp};
use tools::Exchange;

use super::notify::Notifier;
use super::{Dispatch, Handled};
use crate::pipeline::{self, ToolCall};

impl Dispatch<'_> {
    pub(super) async fn list_tools(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        let cursor = admitted.params.cursor()?;
        let stamp = Stamp::complete(admitted.era, admitted.method, self.server());
        Ok(self.state.listing(self.caller, cursor.as_deref(), |body| reply::result(&request.id, &stamp, body)).await?)
    }

    pub(super) async fn call_tool(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        let name = admitted.params.name();
        let notify = Notifier::new(self.events, admitted);
        let exchange = Exchange {
            era: admitted.era,
            transport: self.transport,
            client: admitted.meta.capabilities,
            responses: InputResponses::read(&admitted.params),
            request_state: admitted.params.request_state(),
        };
        let call = ToolCall {
            caller: self.caller,
            request: self.id,
            name: name.as_deref().map_err(Clone::clone),
            arguments: admitted.params.arguments(),
            exchange: &exchange,
            notify: &notify,
            under_way: self.under_way,
            bytes_left: self.bytes_left(),
        };
        pipeline::answer(self.state, call, |reply| self.reply(request, admitted, reply)).await
    }
}
