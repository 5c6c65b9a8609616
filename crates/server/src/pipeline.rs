//! The pipeline that every tool call goes through, whichever door it comes from.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use base::limits::{Limits, SMALL_ANSWER_BYTES};
use base::{Error, Kind, RequestId, Result};
use futures_util::FutureExt;
use guard::{Admission, Caller, OpenRecord, UnderWay};
use mcp::Fault;
use serde_json::value::RawValue;
use tools::{Call, Exchange, Notify, Registered, Reply};

use crate::record::Record;
use crate::state::State;

/// A call with a known principal, after the rate limit was charged.
pub(crate) struct ToolCall<'a> {
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) request: &'a RequestId,
    /// The requested name. A call without a name is refused and audited like any other refusal.
    pub(crate) name: Result<&'a str>,
    /// `params.arguments`. Errors in them are reported only to callers who may use the tool.
    pub(crate) arguments: Result<Option<&'a RawValue>>,
    pub(crate) exchange: &'a Exchange<'a>,
    pub(crate) notify: &'a dyn Notify,
    /// The request's slot and its memory.
    pub(crate) under_way: &'a UnderWay,
    /// The maximum size of the result: the limit, less the other answers of the same batch.
    pub(crate) bytes_left: usize,
}

/// Runs a call, formats its answer with `render`, and audits its outcome, including refusals. No answer leaves without its record, and
/// both have the same outcome.
pub(crate) async fn answer<T>(
    state: &State,
    call: ToolCall<'_>,
    render: impl FnOnce(Reply) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let sent = call.arguments.as_ref().ok().copied().flatten();
    let mut record = state.record(call.caller, call.request, call.name.as_deref().unwrap_or_default(), sent);
    let work = async {
        let reply = run(state, &call, &mut record).await?;
        Ok((reply.is_error(), render(reply)?))
    };
    // A panic affects only its own request.
    let outcome = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(Error::internal("tool panicked").into()));
    let says_it_failed = outcome.as_ref().map(|(says_it_failed, _)| *says_it_failed);
    record.close(says_it_failed, call.exchange.transport.revision(call.exchange.era)).await?;
    outcome.map(|(_, answer)| answer)
}

/// Finds the tool in the org's catalogue and runs it.
async fn run(state: &State, call: &ToolCall<'_>, record: &mut Record<'_>) -> Result<Reply, Fault> {
    let menu = state.catalogues.of(&call.caller.principal().org, call.caller.change_number()).await?;
    let tool = menu.find(call.name.clone()?)?;
    record.names(tool.spec());
    let reply = run_tool(state, call, tool, record).await;
    reply.map_err(|fault| fault.about_arguments_of(&tool.spec().name))
}

/// Asks the gate, then runs the tool.
async fn run_tool(state: &State, call: &ToolCall<'_>, tool: &Registered, record: &mut Record<'_>) -> Result<Reply, Fault> {
    // The gate calls this after it has checked scope and allowlist.
    let read_arguments = |record: &mut OpenRecord| {
        let arguments = tool.arguments(call.arguments.clone()?)?;
        record.takes(&arguments)?;
        tool.check(&arguments, call.exchange)?;
        Ok::<_, Fault>(arguments)
    };
    let admission = state.guard.admit(call.caller, tool.spec(), record.open(), read_arguments)?;
    record.admitted();
    let (permit, arguments) = match admission {
        Admission::Admitted { permit, arguments } => (permit, arguments),
        Admission::SwitchedOff => return Ok(Reply::switched_off()?),
    };
    require_room(&state.limits, call.bytes_left)?;
    call.notify.begin();
    let admitted = Call { permit: &permit, services: &state.services, exchange: call.exchange, notify: call.notify };
    let reply = in_time(&state.limits, tool.run(admitted, arguments)).await?;
    fits(&reply, &state.limits, call.bytes_left, call.under_way)?;
    Ok(reply)
}

/// Runs a tool with a time limit.
async fn in_time(limits: &Limits, work: impl Future<Output = Result<Reply, Fault>>) -> Result<Reply, Fault> {
    let seconds = limits.call_seconds_max;
    tokio::time::timeout(Duration::from_secs(seconds), work).await.unwrap_or_else(|_| {
        let message = format!("the call was stopped after {seconds} s; ask for less at once");
        Err(Error::new(Kind::Timeout, message).with("seconds", seconds).into())
    })
}

/// Refuses to run a call of a batch if a small result might not fit any more, because the caller must learn the outcome of a change.
fn require_room(limits: &Limits, bytes_left: usize) -> Result<()> {
    let most = limits.result_bytes_max;
    if bytes_left >= SMALL_ANSWER_BYTES.min(most / 2) {
        return Ok(());
    }
    let message =
        format!("this call was not run, because the answers to its batch reach {most} bytes; send fewer requests at once");
    Err(Error::new(Kind::TooLarge, message).with("limit", most))
}

/// Refuses a result that is too large, or that exceeds the memory limit of the caller, its org or the server. A small result always
/// fits, so that the caller learns the outcome of a change.
fn fits(reply: &Reply, limits: &Limits, bytes_left: usize, under_way: &UnderWay) -> Result<()> {
    let (bytes, most) = (reply.bytes(), limits.result_bytes_max);
    if bytes > most {
        let message = format!("the result has {bytes} bytes, but the limit is {most}; ask for less, or use pages");
        return Err(Error::new(Kind::TooLarge, message).with("bytes", bytes).with("limit", most));
    }
    if bytes <= SMALL_ANSWER_BYTES {
        return Ok(());
    }
    if bytes > bytes_left {
        let message = format!("the answers to this batch exceed {most} bytes in total; send fewer requests at once");
        return Err(Error::new(Kind::TooLarge, message).with("bytes", bytes).with("limit", most));
    }
    under_way.hold(bytes).map_err(|_| {
        let message = "too much memory is held by unread answers; read them, then retry";
        Error::new(Kind::Unavailable, message).with("bytes", bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp::model::CallResult;

    async fn kind_of(limits: &Limits, work: impl Future<Output = Result<Reply, Fault>>) -> Option<Kind> {
        in_time(limits, work).await.err().map(|fault| fault.error().kind())
    }

    #[tokio::test]
    async fn call_over_the_time_limit_is_stopped() {
        let limits = Limits { call_seconds_max: 0, ..Limits::default() };
        assert_eq!(kind_of(&limits, std::future::pending()).await, Some(Kind::Timeout));
        assert_eq!(kind_of(&limits, async { Ok(Reply::Complete(CallResult::text("done"))) }).await, None);
    }
}
