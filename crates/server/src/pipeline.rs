//! The one straight line that every call takes, whichever door or step it comes from.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use base::limits::Limits;
use base::{Error, Kind, RequestId, Result};
use futures_util::FutureExt;
use guard::Caller;
use mcp::Fault;
use serde_json::value::RawValue;
use tools::{Call, Exchange, Notify, Reply};

use crate::state::State;

/// A call whose principal is known and whose rate was counted.
pub(crate) struct ToolCall<'a> {
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) request: &'a RequestId,
    /// The name as it was asked for. A call that names nothing is refused, and that is recorded like any refusal.
    pub(crate) name: Result<&'a str>,
    /// `params.arguments`: what is wrong with them is said only to those who may call the tool.
    pub(crate) arguments: Result<Option<&'a RawValue>>,
    pub(crate) exchange: &'a Exchange<'a>,
    pub(crate) notify: &'a dyn Notify,
}

/// Finds the tool, asks the gate, does the work, writes the answer with `render`, and records how it ended, refusals too: no answer
/// without its record, and no record that says otherwise than the answer.
pub(crate) async fn answer<T>(
    state: &State,
    call: ToolCall<'_>,
    render: impl FnOnce(Reply) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let sent = call.arguments.as_ref().ok().copied().flatten();
    let mut record = state.record(call.caller, call.request, call.name.as_deref().unwrap_or_default(), sent);
    let work = async {
        let tool = state.catalogue.find(call.name.clone()?)?;
        record.names(tool.spec().name);
        let work = async {
            // The gate says when the arguments are looked at: after scope and allowlist.
            let admitted = state.guard.admit(call.caller, tool.spec(), record.open(), |record| {
                let arguments = tool.arguments(call.arguments.clone()?)?;
                record.takes(&arguments)?;
                tool.check(&arguments, call.exchange)?;
                Ok::<_, Fault>(arguments)
            })?;
            record.admitted();
            let Some((permit, arguments)) = admitted else { return Ok(Reply::switched_off()?) };
            call.notify.begin();
            let admitted = Call { permit: &permit, services: &state.services, exchange: call.exchange, notify: call.notify };
            within_limits(&state.limits, tool.run(admitted, arguments)).await
        };
        let reply = work.await.map_err(|fault: Fault| fault.about_arguments_of(tool.spec().name))?;
        let says_it_failed = reply.is_error();
        Ok((says_it_failed, render(reply)?))
    };
    // A panic costs one request.
    let outcome = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(Error::internal("a tool panicked").into()));
    record.close(outcome.as_ref().map(|(says_it_failed, _)| *says_it_failed), call.exchange.era).await?;
    outcome.map(|(_, answer)| answer)
}

/// A tool's answer, unless it takes too long or is too large.
async fn within_limits(limits: &Limits, work: impl Future<Output = Result<Reply, Fault>>) -> Result<Reply, Fault> {
    let seconds = limits.call_seconds_max;
    let reply = tokio::time::timeout(Duration::from_secs(seconds), work).await.unwrap_or_else(|_| {
        let message = format!("the call was stopped after {seconds} s: ask for less at once");
        Err(Error::new(Kind::Timeout, message).with("seconds", seconds).into())
    })?;
    let (bytes, most) = (reply.bytes(), limits.result_bytes_max);
    if bytes > most {
        let message = format!("the result is {bytes} bytes, and {most} may be sent: ask for less, or page by page");
        return Err(Error::new(Kind::TooLarge, message).with("bytes", bytes).with("limit", most).into());
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp::model::CallResult;

    async fn kind_of(limits: &Limits, work: impl Future<Output = Result<Reply, Fault>>) -> Option<Kind> {
        within_limits(limits, work).await.err().map(|fault| fault.error().kind())
    }

    #[tokio::test]
    async fn a_call_that_takes_too_long_or_says_too_much_is_stopped() {
        let limits = Limits { call_seconds_max: 0, result_bytes_max: 10, ..Limits::default() };
        assert_eq!(kind_of(&limits, std::future::pending()).await, Some(Kind::Timeout));
        for (text, outcome) in [("ten bytes.", None), ("eleven byte", Some(Kind::TooLarge))] {
            assert_eq!(kind_of(&limits, async { Ok(Reply::Complete(CallResult::text(text))) }).await, outcome, "{text}");
        }
    }
}
