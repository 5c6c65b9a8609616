//! The one straight line that every call takes, whichever door or step it comes from.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use base::limits::{Limits, SMALL_ANSWER_BYTES};
use base::{Error, Kind, RequestId, Result};
use futures_util::FutureExt;
use guard::{Caller, UnderWay};
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
    /// What the request holds in memory.
    pub(crate) under_way: &'a UnderWay,
    /// How large the result may be: the limit, or what other answers of the same batch leave of it.
    pub(crate) bytes_left: usize,
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
            let reply = in_time(&state.limits, tool.run(admitted, arguments)).await?;
            fits(&reply, &state.limits, call.bytes_left, call.under_way)?;
            Ok(reply)
        };
        let reply = work.await.map_err(|fault: Fault| fault.about_arguments_of(tool.spec().name))?;
        let says_it_failed = reply.is_error();
        Ok((says_it_failed, render(reply)?))
    };
    // A panic costs one request.
    let outcome = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(Error::internal("a tool panicked").into()));
    record
        .close(outcome.as_ref().map(|(says_it_failed, _)| *says_it_failed), call.exchange.transport.revision(call.exchange.era))
        .await?;
    outcome.map(|(_, answer)| answer)
}

/// A tool's answer, unless it takes too long.
async fn in_time(limits: &Limits, work: impl Future<Output = Result<Reply, Fault>>) -> Result<Reply, Fault> {
    let seconds = limits.call_seconds_max;
    tokio::time::timeout(Duration::from_secs(seconds), work).await.unwrap_or_else(|_| {
        let message = format!("the call was stopped after {seconds} s: ask for less at once");
        Err(Error::new(Kind::Timeout, message).with("seconds", seconds).into())
    })
}

/// Refuses a result that is too large, or for which the caller, its org or the server has no memory left. A small one always fits, so
/// that the caller learns what came of an effect.
fn fits(reply: &Reply, limits: &Limits, bytes_left: usize, under_way: &UnderWay) -> Result<()> {
    let (bytes, most) = (reply.bytes(), limits.result_bytes_max);
    if bytes > most {
        let message = format!("the result is {bytes} bytes, and {most} may be sent: ask for less, or page by page");
        return Err(Error::new(Kind::TooLarge, message).with("bytes", bytes).with("limit", most));
    }
    if bytes <= SMALL_ANSWER_BYTES {
        return Ok(());
    }
    if bytes > bytes_left {
        let message = format!("the answers to this batch are larger than {most} bytes together: send fewer requests at once");
        return Err(Error::new(Kind::TooLarge, message).with("bytes", bytes).with("limit", most));
    }
    under_way.hold(bytes).map_err(|_| {
        let message = "answers that are not read yet take all the memory they may take: read them, then try again";
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
    async fn a_call_that_takes_too_long_is_stopped() {
        let limits = Limits { call_seconds_max: 0, ..Limits::default() };
        assert_eq!(kind_of(&limits, std::future::pending()).await, Some(Kind::Timeout));
        assert_eq!(kind_of(&limits, async { Ok(Reply::Complete(CallResult::text("done"))) }).await, None);
    }
}
