//! The router for all paths except the doors, which are matched before it.

use axum::Router;

use crate::api;
use crate::state::Shared;

/// Routes everything except the doors.
pub(crate) fn router(state: Shared) -> Router {
    Router::new().merge(api::routes(&state)).fallback(api::no_such_route).with_state(state)
}
