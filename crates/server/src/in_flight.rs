//! What every answer carries: its request's id and its slot.
//!
//! An answer keeps its request's slot until the kernel has taken its last byte. A client that sends requests without reading the
//! answers runs out of slots, and the server does not run out of memory.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::response::Response;
use base::RequestId;
use bytes::Bytes;
use guard::UnderWay;
use http::{HeaderName, HeaderValue};
use http_body::{Frame, SizeHint};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Adds the request's id to an answer. Logs and the audit trail use the same id.
pub(crate) fn stamp<B>(response: &mut http::Response<B>, id: &RequestId) {
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
}

/// The same answer, which keeps `under_way` until it is sent or dropped.
pub(crate) fn until_sent(response: Response, under_way: Arc<UnderWay>) -> Response {
    response.map(|body| Body::new(Holding { body, under_way }))
}

/// A body whose chunks keep a slot.
struct Holding {
    body: Body,
    under_way: Arc<UnderWay>,
}

/// A chunk of an answer. The HTTP layer drops it when it is written, not when it is queued.
struct Piece {
    bytes: Bytes,
    _under_way: Arc<UnderWay>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl http_body::Body for Holding {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let hold = |bytes| Bytes::from_owner(Piece { bytes, _under_way: Arc::clone(&self.under_way) });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(hold))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
