//! The doors: from an HTTP request to a principal and a body, and from an outcome back to HTTP. `dispatch` handles the body.

mod refusal;
mod stream;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use axum::response::Response;
use base::{Door, RequestId};
use bytes::Bytes;
use guard::{Caller, Refusal};
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request};
use http_body::Body;

use crate::dispatch::Arrival;
use crate::refusals::why_unauthorized;
use crate::state::{Shared, State};
use crate::{body, in_flight};

pub(crate) use stream::Answer;

/// A path of a door. All other paths go to the router.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// `/api/mcp/{sessionId}`.
    Session(String),
    /// `/api/mcp`.
    Agent,
}

impl Entrance {
    /// Parses a path. The doors are the hot path and have two fixed forms, so they bypass the router.
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path.strip_prefix("/api/mcp")? {
            "" => Some(Self::Agent),
            rest => {
                rest.strip_prefix('/').filter(|id| !id.is_empty() && !id.contains('/')).map(|id| Self::Session(id.to_owned()))
            }
        }
    }
}

/// Answers a request at a door.
pub(crate) async fn answer<B: Body<Data = Bytes> + Unpin>(state: Shared, entrance: Entrance, request: Request<B>) -> Response {
    match entrance {
        Entrance::Session(session) => {
            let enter = async |state: &State, authorization: Option<&str>, request: &RequestId| {
                state.guard.identify_session(authorization, &session, request).await
            };
            through(state, Door::Session, request, enter).await
        }
        Entrance::Agent => {
            let enter =
                async |state: &State, authorization: Option<&str>, _: &RequestId| state.guard.identify_agent(authorization).await;
            through(state, Door::Agent, request, enter).await
        }
    }
}

/// Handles a request at a door. The doors differ only in how they identify the caller.
async fn through<B: Body<Data = Bytes> + Unpin>(
    state: Shared,
    door: Door,
    request: Request<B>,
    enter: impl AsyncFnOnce(&State, Option<&str>, &RequestId) -> Result<Arc<Caller>, Refusal>,
) -> Response {
    state.metrics.requested();
    let id = RequestId::next();
    let (head, body) = request.into_parts();
    let mut response = if let Err(stray) = state.hosts.check(&head.headers, &head.uri) {
        refusal::stray(&state, door, &id, &stray)
    } else if head.method != Method::POST {
        refusal::method_not_allowed(&state, door, &id)
    } else {
        let authorization = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        match enter(&state, authorization, &id).await {
            Ok(caller) => admitted(state, caller, id, head.headers, body).await,
            Err(Refusal::Unauthorized) => refusal::unauthorized(&state, door, &id, why_unauthorized(&head.headers)),
            Err(reason) => refusal::respond(&state, door, &id, &reason),
        }
    };
    in_flight::stamp(&mut response, &id);
    response
}

/// Handles an identified request. The rate limit is charged and a slot is taken before the body is read. The answer keeps the slot
/// until it is sent.
async fn admitted<B: Body<Data = Bytes> + Unpin>(
    state: Shared,
    caller: Arc<Caller>,
    id: RequestId,
    headers: HeaderMap,
    body: B,
) -> Response {
    let door = caller.principal().door();
    let under_way = match caller.begin().await {
        Ok(under_way) => Arc::new(under_way),
        Err(reason) => return refusal::respond(&state, door, &id, &reason),
    };
    let response = match body::read(body, state.limits.body_bytes_max, &state.limits, Some(&under_way)).await {
        Ok(body) => {
            let (under_way, answered) = (Arc::clone(&under_way), AtomicUsize::new(0));
            stream::respond(Arrival { state, caller, id, headers, body, events: None, under_way, answered }).await
        }
        Err(unreadable) => refusal::unreadable(&state, door, &id, &unreadable),
    };
    in_flight::until_sent(response, under_way)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn door_paths_are_recognized() {
        for (path, entrance) in [
            ("/api/mcp", Some(Entrance::Agent)),
            ("/api/mcp/ses_1", Some(Entrance::Session("ses_1".into()))),
            ("/api/mcp/", None),
            ("/api/mcp/ses_1/more", None),
            ("/api/mcpx", None),
            ("/api/orgs", None),
        ] {
            assert_eq!(Entrance::of(path), entrance, "{path}");
        }
    }
}
