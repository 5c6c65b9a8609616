//! The management API: contract section 12 in JSON. Handlers are thin: `guard` and the domains decide, this module reads
//! requests strictly and speaks answers. It must never reach a row but through a `guard::Access`.

mod agents;
mod allowlist;
mod around;
mod authenticate;
mod body;
mod bricks;
mod console;
mod document;
mod error;
mod extract;
mod health;
mod keys;
mod kit_views;
mod kits;
mod orgs;
mod page;
mod path;
mod projects;
mod rights;
mod roots;
mod sessions;
mod text;
mod users;
mod wire;
mod words;

pub(crate) use around::no_such_route;

use axum::Router;
use axum::middleware::from_fn_with_state;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Shared;

/// Every route of the API, with what happens around each.
pub(crate) fn routes(state: &Shared) -> Router<Shared> {
    let (router, _) = described().split_for_parts();
    router.method_not_allowed_fallback(around::no_such_method).layer(from_fn_with_state(state.clone(), around::around))
}

/// The API's description, as `GET /api/openapi.json` and `docs/openapi.json` hold it.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = described().into_openapi();
    document::finish(&mut document);
    document
}

fn described() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(document::start())
        .merge(orgs::routes())
        .merge(projects::routes())
        .merge(keys::routes())
        .merge(sessions::routes())
        .merge(agents::routes())
        .merge(authenticate::routes())
        .merge(users::routes())
        .merge(console::routes())
        .merge(bricks::routes())
        .merge(kits::routes())
        .merge(health::routes())
}
