//! Answers with plain JSON, or with an event stream if there are notifications before the answer and the client accepts them.
//!
//! The work and the answer are one future. It is polled here until it either finishes (plain JSON) or sends its first notification
//! (then it moves into the response body). When the client disconnects, the future is dropped and the call is cancelled.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use base::limits::{NOTIFICATION_QUEUE_MAX, STREAM_KEEP_ALIVE_SECONDS};
use base::{Door, RequestId};
use bytes::Bytes;
use futures_util::stream;
use guard::Refusal;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, StatusCode};
use mcp::era::accepts_event_stream;
use mcp::reply::sse;
use tokio::sync::mpsc;

use super::refusal;
use crate::dispatch::{self, Arrival};
use crate::state::Shared;

/// The outcome of one POST.
pub(crate) enum Answer {
    /// A JSON-RPC answer, or an array of them.
    Json {
        /// Always 200 for legacy requests.
        status: StatusCode,
        /// The answer.
        bytes: Vec<u8>,
    },
    /// No message needed an answer.
    Accepted,
    /// A limit was exceeded: too many calls, or too many streams.
    Refused(Refusal),
}

impl Answer {
    /// An answer with status 200.
    pub(crate) fn ok(bytes: Vec<u8>) -> Self {
        Self::Json { status: StatusCode::OK, bytes }
    }
}

type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Answers a body.
pub(super) async fn respond(mut arrival: Arrival) -> Response {
    let (state, id, door) = (Arc::clone(&arrival.state), arrival.id, arrival.caller.principal().door());
    if !accepts_event_stream(&arrival.headers) {
        return finished(&state, door, &id, dispatch::answer(arrival).await);
    }
    let (events, mut queue) = mpsc::channel(NOTIFICATION_QUEUE_MAX);
    arrival.events = Some(events);
    let mut work: Work = Box::pin(dispatch::answer(arrival));
    let first = tokio::select! {
        biased;
        Some(event) = queue.recv() => event,
        answer = &mut work => {
            // Notifications sent together with the answer go out before it.
            return match queue.try_recv() {
                Ok(event) => events_then_answer(event, queue, Box::pin(std::future::ready(answer))),
                Err(_) => finished(&state, door, &id, answer),
            };
        }
    };
    events_then_answer(first, queue, work)
}

fn finished(state: &Shared, door: Door, id: &RequestId, answer: Answer) -> Response {
    match answer {
        Answer::Json { status, bytes } => json(status, bytes),
        Answer::Accepted => accepted(),
        Answer::Refused(reason) => refusal::respond(state, door, id, &reason),
    }
}

/// A JSON answer as HTTP.
fn json(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An empty 202.
fn accepted() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// The state of a stream.
struct Stream {
    next: Option<Vec<u8>>,
    queue: mpsc::Receiver<Vec<u8>>,
    work: Option<Work>,
    answer: Option<Vec<u8>>,
}

fn events_then_answer(first: Vec<u8>, queue: mpsc::Receiver<Vec<u8>>, work: Work) -> Response {
    let start = Stream { next: Some(first), queue, work: Some(work), answer: None };
    let events = stream::unfold(start, |mut stream| async move {
        let event = stream.next_event().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(event)), stream))
    });
    let mut response = Response::new(Body::from_stream(events));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(sse::CONTENT_TYPE));
    for (name, value) in sse::HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// One message as an event. The empty opening message becomes a comment.
fn written(message: &[u8]) -> Vec<u8> {
    if message == dispatch::OPEN { sse::KEEP_ALIVE.to_vec() } else { sse::event(message) }
}

impl Stream {
    /// The next event. `None` after the answer.
    async fn next_event(&mut self) -> Option<Vec<u8>> {
        if let Some(message) = self.next.take() {
            return Some(written(&message));
        }
        loop {
            let Some(work) = &mut self.work else {
                // The work is done: send the queued events, then the answer.
                let message = self.queue.try_recv().ok().or_else(|| self.answer.take())?;
                return Some(written(&message));
            };
            tokio::select! {
                biased;
                Some(message) = self.queue.recv() => return Some(written(&message)),
                answer = work => {
                    self.work = None;
                    self.answer = match answer {
                        Answer::Json { bytes, .. } => Some(bytes),
                        Answer::Accepted | Answer::Refused(_) => None,
                    };
                }
                () = tokio::time::sleep(Duration::from_secs(STREAM_KEEP_ALIVE_SECONDS)) => return Some(sse::KEEP_ALIVE.to_vec()),
            }
        }
    }
}
