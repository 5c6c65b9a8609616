//! Which path leads where, the doors' aside: they are found before the router is asked.

use axum::Router;

use crate::api;
use crate::state::Shared;

/// Everything the server answers besides the doors.
pub(crate) fn router(state: Shared) -> Router {
    Router::new().merge(api::routes(&state)).fallback(api::no_such_route).with_state(state)
}
