//! The doors: from an HTTP request to a principal and a body, and from an outcome back to HTTP. What the body asks for is
//! `dispatch`'s to answer.

mod answer;
mod refusal;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::any;
use base::{Door, RequestId};
use guard::{Caller, Refusal};
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method};

use crate::state::{Shared, State as Parts};
use crate::{body, request_id};

pub(crate) use answer::Answer;

/// Both doors.
pub(crate) fn routes() -> Router<Shared> {
    Router::new().route("/api/mcp/{session}", any(session_door)).route("/api/mcp", any(agent_door))
}

async fn session_door(State(state): State<Shared>, Path(session): Path<String>, request: Request) -> Response {
    let enter = async |state: &Parts, authorization: Option<&str>| state.guard.identify_session(authorization, &session).await;
    through(state, Door::Session, request, enter).await
}

async fn agent_door(State(state): State<Shared>, request: Request) -> Response {
    let enter = async |state: &Parts, authorization: Option<&str>| state.guard.identify_agent(authorization).await;
    through(state, Door::Agent, request, enter).await
}

/// The way through a door, the same for both but for who is let in.
async fn through(
    state: Shared,
    door: Door,
    request: Request,
    enter: impl AsyncFnOnce(&Parts, Option<&str>) -> Result<Arc<Caller>, Refusal>,
) -> Response {
    state.metrics.requested();
    let id = RequestId::random();
    let (head, body) = request.into_parts();
    let mut response = if !state.hosts.allow(&head.headers, &head.uri) {
        refusal::respond(&state, door, &Refusal::Forbidden)
    } else if head.method != Method::POST {
        refusal::method_not_allowed()
    } else {
        let authorization = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        match enter(&state, authorization).await {
            Ok(caller) => admitted(state, caller, id, head.headers, body).await,
            Err(reason) => {
                if let Refusal::Failed(error) = &reason {
                    crate::record::log_error(error, &id, door);
                }
                refusal::respond(&state, door, &reason)
            }
        }
    };
    request_id::stamp(&mut response, &id);
    response
}

/// A request whose principal is known: only now is its body read.
async fn admitted(state: Shared, caller: Arc<Caller>, id: RequestId, headers: HeaderMap, body: Body) -> Response {
    let door = caller.principal().door();
    match body::read(body, state.limits.body_bytes_max, &state.limits).await {
        Ok(bytes) => stream::respond(state, caller, id, headers, bytes).await,
        Err(unreadable) => refusal::unreadable(&state, door, &unreadable),
    }
}
