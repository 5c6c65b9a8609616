//! Which path leads where.

use axum::Router;

use crate::state::Shared;
use crate::{api, doors};

/// Everything the server answers.
pub(crate) fn router(state: Shared) -> Router {
    Router::new().merge(doors::routes()).merge(api::routes(&state)).fallback(api::no_such_route).with_state(state)
}
