//! Drains the rest of a refused request's body. Closing the connection at once would reset it, and many clients would never read the
//! answer. So the rest is read and discarded first, within limits.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use base::limits::{LINGER_BYTES_MAX, LINGER_IDLE_SECONDS, LINGER_SECONDS};
use bytes::Bytes;
use http::{Request, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// A request's body, which hands its unread rest to [`Unread`].
pub(crate) struct Watched {
    body: Option<Incoming>,
    rest: Option<Arc<Mutex<Option<Incoming>>>>,
}

/// The unread rest of a body.
pub(crate) struct Unread {
    rest: Option<Arc<Mutex<Option<Incoming>>>>,
    /// The client sent `Expect: 100-continue`. If it is refused, it does not send the body.
    asks_first: bool,
}

/// Wraps the body of a request.
pub(crate) fn watch(request: Request<Incoming>) -> (Request<Watched>, Unread) {
    let rest = (!request.body().is_end_stream()).then(Arc::default);
    let asks_first = request.headers().contains_key(header::EXPECT);
    (request.map(|body| Watched { body: Some(body), rest: rest.clone() }), Unread { rest, asks_first })
}

impl Unread {
    /// Discards the rest until it ends, exceeds the limit or takes too long. Returns whether the body ended.
    pub(crate) async fn drain(self) -> bool {
        let rest = self.rest.and_then(|rest| rest.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(mut rest) = rest else { return true };
        if self.asks_first {
            return false;
        }
        let thrown_away = async {
            let mut bytes = 0;
            let idle = Duration::from_secs(LINGER_IDLE_SECONDS);
            while let Ok(Some(Ok(frame))) = tokio::time::timeout(idle, rest.frame()).await {
                bytes += frame.data_ref().map_or(0, Bytes::len);
                if bytes > LINGER_BYTES_MAX {
                    break;
                }
            }
            rest.is_end_stream()
        };
        // After the time limit the connection is closed anyway.
        tokio::time::timeout(Duration::from_secs(LINGER_SECONDS), thrown_away).await.unwrap_or(false)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let (Some(body), Some(rest)) = (self.body.take(), &self.rest)
            && !body.is_end_stream()
        {
            *rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
