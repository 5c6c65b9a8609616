//! The place of a management call among those under way. The extractor that lets the call in takes it; the body is read and the
//! answer is sent at its expense.

use std::sync::{Arc, OnceLock};

use axum::response::{IntoResponse, Response};
use base::limits::SMALL_ANSWER_BYTES;
use guard::UnderWay;
use http::{Extensions, Method};
use http_body::Body as _;

use super::error::ApiError;
use crate::in_flight;

/// A place that is taken once the caller is known.
#[derive(Clone, Default)]
pub(super) struct InPlace(Arc<OnceLock<Arc<UnderWay>>>);

impl InPlace {
    /// The place of the request with these extensions.
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// Takes the place.
    pub(super) fn take(&self, under_way: UnderWay) {
        // A request is let in once; a second place would be given back at once.
        let _ = self.0.set(Arc::new(under_way));
    }

    pub(super) fn under_way(&self) -> Option<&UnderWay> {
        self.0.get().map(Arc::as_ref)
    }

    /// The answer, which holds the place until it is sent. A large answer to a question is refused when its bytes do not fit; an
    /// answer that tells of a change is always sent.
    pub(super) fn hold(self, method: &Method, response: Response) -> Response {
        let Some(under_way) = self.0.get() else { return response };
        let bytes = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
        // The request's body is gone.
        under_way.settle(0);
        let fits = if method == Method::GET && bytes > SMALL_ANSWER_BYTES { under_way.hold(bytes) } else { Ok(()) };
        let response = match fits {
            Ok(()) => response,
            Err(refusal) => ApiError::from(refusal).into_response(),
        };
        in_flight::until_sent(response, Arc::clone(under_way))
    }
}
