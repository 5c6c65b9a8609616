//! `subscriptions/listen`: a stream that notifies a modern client about list changes.

use std::time::Duration;

use base::limits::{LISTENER_LOOK_SECONDS, SUBSCRIPTION_URIS_MAX};
use base::{Actor, Error, Kind};
use http::header::AUTHORIZATION;
use mcp::Request;
use mcp::era::Admitted;
use mcp::model::{Empty, Filter, ListenParams, Notice};
use mcp::reply::{self, Stamp};
use tokio::sync::broadcast::error::RecvError;
use tools::Change;

use super::lifecycle::capabilities;
use super::{Dispatch, Handled};

impl Dispatch<'_> {
    /// Runs until the client disconnects, its credential becomes invalid, or the server stops.
    pub(super) async fn listen(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Handled {
        let wanted = ListenParams::read(&admitted.params, SUBSCRIPTION_URIS_MAX)?;
        let filter = wanted.filter.agreed(&capabilities(true));
        let events = self
            .events
            .ok_or_else(|| Error::new(Kind::InvalidRequest, "a subscription needs a stream; accept `text/event-stream`"))?;
        let gone = |_| Error::internal("the subscriber disconnected");
        // Subscribed before the acknowledgement, so that a change right after it is not missed.
        let mut changes = self.state.services.changes.listen();
        events.send(Notice::Acknowledged(&filter).write(&request.id)?).await.map_err(gone)?;

        let mut stopping = self.state.stopping.clone();
        let org = &self.caller.principal().org;
        let mut seen = self.caller.change_number();
        let mut look_again = tokio::time::interval(Duration::from_secs(LISTENER_LOOK_SECONDS));
        loop {
            let told = tokio::select! {
                changed = self.state.guard.changed(org, seen) => {
                    seen = changed?;
                    // A change in the org may affect its tools. Resources and prompts never change.
                    vec![Change::Tools]
                }
                _ = look_again.tick() => Vec::new(),
                change = changes.recv() => match change {
                    Ok((other, _)) if other != *org => continue,
                    Ok((_, change)) => vec![change],
                    Err(RecvError::Lagged(_)) => anything_in(&filter),
                    Err(RecvError::Closed) => break,
                },
                _ = stopping.wait_for(|stopping| *stopping) => break,
            };
            if !self.is_still_let_in().await {
                break;
            }
            for notice in told.iter().map(Change::notice).filter(|notice| notice.passes(&filter)) {
                events.send(notice.write(&request.id)?).await.map_err(gone)?;
            }
        }
        Ok(reply::result_of(&request.id, &Stamp::subscription_ended(self.server(), &request.id), &Empty {})?)
    }
}

impl Dispatch<'_> {
    /// Whether the credential that opened the stream is still valid: a revocation ends streams too.
    async fn is_still_let_in(&self) -> bool {
        let authorization = self.transport.0.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let looked_up = match &self.caller.principal().actor {
            Actor::Session { id, .. } => self.state.guard.identify_session(authorization, id.as_str(), self.id).await,
            Actor::Agent { .. } => self.state.guard.identify_agent(authorization).await,
        };
        looked_up.is_ok()
    }
}

/// The changes reported to a subscriber that fell behind: everything it asked about may have changed.
fn anything_in(filter: &Filter) -> Vec<Change> {
    let resources = filter.resource_subscriptions.iter().cloned().map(Change::Resource);
    [Change::Tools, Change::Prompts, Change::Resources].into_iter().chain(resources).collect()
}
