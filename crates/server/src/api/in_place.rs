//! The slot of a management call. The extractor that authenticates the call takes the slot. The memory of the body and of the
//! answer is charged to it.

use std::sync::{Arc, OnceLock};

use axum::response::{IntoResponse, Response};
use base::limits::SMALL_ANSWER_BYTES;
use base::{Error, Kind};
use guard::{Refusal, UnderWay};
use http::Extensions;
use http_body::Body as _;

use super::error::ApiError;
use crate::in_flight;

/// A slot that is filled once the caller is known.
#[derive(Clone, Default)]
pub(super) struct InPlace(Arc<Taken>);

#[derive(Default)]
struct Taken {
    under_way: OnceLock<Arc<UnderWay>>,
    /// Why the answer's memory was refused.
    refused: OnceLock<Refusal>,
}

impl InPlace {
    /// The slot of the request with these extensions.
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// Fills the slot.
    pub(super) fn take(&self, under_way: UnderWay) {
        // A request is admitted only once. A second value would be dropped, which is correct too.
        let _ = self.0.under_way.set(Arc::new(under_way));
    }

    pub(super) fn under_way(&self) -> Option<&UnderWay> {
        self.0.under_way.get().map(Arc::as_ref)
    }

    /// Reserves `bytes` more before they are allocated.
    pub(super) fn more(&self, bytes: usize) -> base::Result<()> {
        self.under_way().map_or(Ok(()), |under_way| under_way.hold(bytes)).map_err(|refusal| {
            // Domain code can only return an error. The refusal is kept here and becomes the answer.
            let _ = self.0.refused.set(refusal);
            Error::new(Kind::Unavailable, "too much memory is held by unread answers; read them, then retry")
        })
    }

    /// Charges the answer's bytes in place of the request's bytes. A large answer to a read is refused if its bytes do not fit; the
    /// answer to a change is always sent.
    pub(super) fn settle(&self, is_question: bool, response: Response) -> Response {
        let Some(under_way) = self.0.under_way.get() else { return response };
        if let Some(refusal) = self.0.refused.get() {
            under_way.settle(0);
            return ApiError::from(refusal.clone()).into_response();
        }
        let bytes = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
        if !is_question || bytes <= SMALL_ANSWER_BYTES {
            under_way.settle(bytes);
            return response;
        }
        under_way.settle(0);
        match under_way.hold(bytes) {
            Ok(()) => response,
            Err(refusal) => ApiError::from(refusal).into_response(),
        }
    }

    /// The answer, which keeps the slot until it is sent.
    pub(super) fn until_sent(self, response: Response) -> Response {
        match self.0.under_way.get() {
            Some(under_way) => in_flight::until_sent(response, Arc::clone(under_way)),
            None => response,
        }
    }
}
