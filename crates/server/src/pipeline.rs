//! The one straight line that every call takes, whichever door or step it comes from.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use base::{Error, RequestId, Result};
use futures_util::FutureExt;
use guard::Caller;
use mcp::Fault;
use serde_json::value::RawValue;
use tools::{Arguments, Call, Exchange, Notify, Reply};

use crate::state::State;

/// A call whose principal is known and whose rate was counted.
pub(crate) struct ToolCall<'a> {
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) request: &'a RequestId,
    /// The name as it was asked for.
    pub(crate) name: &'a str,
    /// `params.arguments`: what is wrong with them is said only to those who may call the tool.
    pub(crate) arguments: Result<Option<&'a RawValue>>,
    pub(crate) exchange: &'a Exchange<'a>,
    pub(crate) notify: &'a dyn Notify,
}

/// Finds the tool, asks the gate, does the work, and records how it ended, refusals too: no answer without its record.
pub(crate) async fn answer(state: &State, call: ToolCall<'_>) -> Result<Reply, Fault> {
    let sent = call.arguments.as_ref().ok().copied().flatten();
    let mut record = state.record(call.caller, call.request, call.name, sent);
    let work = async {
        let tool = state.catalogue.find(call.name)?;
        record.names(tool.spec().name);
        // The gate says when the arguments are looked at: after scope and allowlist.
        let (permit, arguments) = state.guard.admit(call.caller, tool.spec(), record.open(), |record| {
            let arguments = Arguments::from_json(call.arguments.clone()?)?.into_value();
            record.takes(&arguments)?;
            tool.check(&arguments, call.exchange)?;
            Ok::<_, Fault>(arguments)
        })?;
        record.admitted();
        call.notify.begin();
        let admitted = Call { permit: &permit, services: &state.services, exchange: call.exchange, notify: call.notify };
        tool.run(admitted, arguments).await
    };
    // A panic costs one request.
    let outcome = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(Error::internal("a tool panicked").into()));
    record.close(&outcome, call.exchange.era).await?;
    outcome
}
