//! `subscriptions/listen`: a stream that tells a modern client when what it may see has changed.

use base::limits::SUBSCRIPTION_URIS_MAX;
use base::{Error, Kind};
use mcp::Request;
use mcp::era::Admitted;
use mcp::model::{Empty, Filter, ListenParams, Notice};
use mcp::reply::{self, Stamp};
use tokio::sync::broadcast::error::RecvError;
use tools::Change;

use super::lifecycle::capabilities;
use super::{Dispatch, Handled};

impl Dispatch<'_> {
    /// Runs until the client goes away or the server stops.
    pub(super) async fn listen(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        let wanted = ListenParams::read(&admitted.params, SUBSCRIPTION_URIS_MAX)?;
        let filter = wanted.filter.agreed(&capabilities(true));
        let events = self
            .events
            .ok_or_else(|| Error::new(Kind::InvalidRequest, "a subscription needs a stream: accept `text/event-stream`"))?;
        let gone = |_| Error::internal("the subscriber went away");
        // Heard from here on, so that a change right after the acknowledgement is not missed.
        let mut changes = self.state.services.changes.listen();
        events.send(Notice::Acknowledged(&filter).write(&request.id)?).await.map_err(gone)?;

        let mut stopping = self.state.stopping.clone();
        let org = &self.caller.principal().org;
        let mut seen = self.caller.change_number();
        loop {
            let told = tokio::select! {
                changed = self.state.guard.changed(org, seen) => {
                    seen = changed?;
                    // A changed org may see other tools; resources and prompts are the same for everyone.
                    vec![Change::Tools]
                }
                change = changes.recv() => match change {
                    Ok(change) => vec![change],
                    Err(RecvError::Lagged(_)) => anything_in(&filter),
                    Err(RecvError::Closed) => break,
                },
                _ = stopping.wait_for(|stopping| *stopping) => break,
            };
            for notice in told.iter().map(Change::notice).filter(|notice| notice.passes(&filter)) {
                events.send(notice.write(&request.id)?).await.map_err(gone)?;
            }
        }
        Ok(reply::result_of(&request.id, &Stamp::subscription_ended(self.server(), &request.id), &Empty {})?)
    }
}

/// What a subscriber that was too slow to hear each change is told: all of it may have changed.
fn anything_in(filter: &Filter) -> Vec<Change> {
    let resources = filter.resource_subscriptions.iter().cloned().map(Change::Resource);
    [Change::Tools, Change::Prompts, Change::Resources].into_iter().chain(resources).collect()
}
