//! Every answer has an `x-request-id` header. Logs and the audit trail use the same id.

use base::RequestId;
use http::{HeaderName, HeaderValue, Response};

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Adds the id to an answer.
pub(crate) fn stamp<B>(response: &mut Response<B>, id: &RequestId) {
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(HEADER, value);
    }
}
