//! The shared parts of the OpenAPI document. The operations come from the router, so the two always agree.

use std::collections::BTreeMap;

use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{ComponentsBuilder, ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, Header, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr, Response,
    ResponseBuilder, ServerBuilder,
};
use utoipa::{IntoResponses, ToSchema};

use super::body::{Body, OptionalBody, PublicBody};
use super::error::ErrorBody;
use super::extract::LOGIN_COOKIE;
use super::wire::id_pattern;

const INTRODUCTION: &str = "\
Orgs, projects, keys, sessions, agents, people, bricks and kits of a Toolcrib server.

Send an API key (`Authorization: Bearer rsk_…`) with the scope that the operation names, or a console login: its cookie, and for \
requests that change something also its `x-csrf-token`. The instance admin's key works in any org. An id that is malformed, \
unknown or belongs to another org gets 404. Answers always contain every member, with `null` where there is no value; optional \
members of requests may be omitted. Lists are newest first.";

/// Shared refusals: name in the document, status and description.
const REFUSALS: [(&str, u16, &str); 9] = [
    ("Invalid", 400, "The request is malformed or exceeds a limit. The error says where."),
    ("Unauthorized", 401, "No credential, or one that is malformed, unknown, revoked or expired."),
    ("NotFound", 404, "Not found, or it belongs to another org."),
    ("TooSlow", 408, "The body took too long to arrive."),
    ("Conflict", 409, "The name is taken, or the current state does not allow this."),
    ("TooLarge", 413, "The body is over the limit."),
    ("TooManyRequests", 429, "Too many requests, or too many failed logins in the last minute."),
    ("Internal", 500, "Internal error."),
    ("Unavailable", 503, "The store is unavailable."),
];

/// The document before the routes are added.
pub(super) fn start() -> OpenApi {
    let license = LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new().title("Toolcrib").version(env!("CARGO_PKG_VERSION")).license(Some(license));
    let mut components = ComponentsBuilder::new().schema_from::<ErrorBody>().header("RequestId", request_id());
    for (name, status, when) in REFUSALS {
        components = components.response(name, refusal(status, when));
    }
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("rsk_…");
    let login = ApiKeyValue::with_description(LOGIN_COOKIE, "The console login cookie.");
    let csrf =
        ApiKeyValue::with_description("x-csrf-token", "Required with the login cookie for requests that change something.");
    let components = components
        .security_scheme("key", SecurityScheme::Http(bearer.description(Some("An API key.")).build()))
        .security_scheme("login", SecurityScheme::ApiKey(ApiKey::Cookie(login)))
        .security_scheme("csrf", SecurityScheme::ApiKey(ApiKey::Header(csrf)));
    OpenApiBuilder::new()
        .info(info.description(Some(INTRODUCTION)))
        .servers(Some([ServerBuilder::new().url("/").build()]))
        .components(Some(components.build()))
        .security(Some([requirement(&["key"]), requirement(&["login"])]))
        .build()
}

/// Adds the parts common to all operations: the `x-request-id` header of answers, and the CSRF token for logins on changing
/// operations.
pub(super) fn finish(document: &mut OpenApi) {
    for item in document.paths.paths.values_mut() {
        let PathItem { get, post, put, delete, patch, .. } = item;
        let reading = get.iter_mut().map(|operation| (false, operation));
        let changing = [post, put, delete, patch].into_iter().flatten().map(|operation| (true, operation));
        for (changes, operation) in reading.chain(changing) {
            if changes {
                operation.security.get_or_insert_with(|| vec![requirement(&["key"]), requirement(&["login", "csrf"])]);
            }
            for response in operation.responses.responses.values_mut() {
                if let RefOr::T(response) = response {
                    response.headers.insert("x-request-id".to_owned(), RefOr::Ref(request_id_header()));
                }
            }
        }
    }
}

fn requirement(schemes: &[&str]) -> SecurityRequirement {
    schemes.iter().fold(SecurityRequirement::default(), |all, scheme| all.add(*scheme, Vec::<String>::new()))
}

fn refusal(status: u16, when: &str) -> Response {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name(ErrorBody::name()))).build();
    let response = ResponseBuilder::new()
        .description(when)
        .content("application/json", body)
        .header_ref("x-request-id", request_id_header());
    match status {
        401 => response.header("www-authenticate", text_header("Always `Bearer`.")).build(),
        429 => response.header("retry-after", retry_after()).build(),
        _ => response.build(),
    }
}

fn text_header(description: &str) -> Header {
    let text = ObjectBuilder::new().schema_type(Type::String);
    HeaderBuilder::new().schema(Some(text)).description(Some(description)).build()
}

fn request_id_header() -> Ref {
    Ref::new("#/components/headers/RequestId")
}

fn request_id() -> Header {
    let id = ObjectBuilder::new().schema_type(Type::String).pattern(Some(id_pattern(base::RequestId::PREFIX)));
    HeaderBuilder::new().schema(Some(id)).description(Some("The request's id, also found in logs and the audit trail.")).build()
}

fn retry_after() -> Header {
    let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    HeaderBuilder::new().schema(Some(seconds)).description(Some("Seconds to wait.")).build()
}

/// References to the shared refusals with these statuses.
fn shared(statuses: &[u16]) -> BTreeMap<String, RefOr<Response>> {
    let named = REFUSALS.iter().filter(|(_, status, _)| statuses.contains(status));
    named.map(|(name, status, _)| (status.to_string(), RefOr::Ref(Ref::from_response_name(*name)))).collect()
}

/// The refusals of an operation that needs `right`.
pub(super) fn refusals(right: &str) -> BTreeMap<String, RefOr<Response>> {
    let mut refusals = shared(&[400, 401, 404, 429, 500, 503]);
    let forbidden = refusal(403, &format!("The caller lacks {right}, or the host or origin is not allowed."));
    refusals.insert("403".to_owned(), RefOr::T(forbidden));
    refusals
}

/// The refusals of a public operation.
pub(super) struct Public;

impl IntoResponses for Public {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut refusals = shared(&[400, 500]);
        refusals.insert("403".to_owned(), RefOr::T(refusal(403, "The host or origin is not allowed.")));
        refusals
    }
}

/// The refusals for a missing or invalid credential.
pub(super) struct BadCredential;

impl IntoResponses for BadCredential {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        shared(&[401, 429, 503])
    }
}

/// The refusals of an operation that needs a login.
pub(super) struct LoginOnly;

impl IntoResponses for LoginOnly {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut refusals = shared(&[400, 401, 500, 503]);
        let forbidden = refusal(403, "The `x-csrf-token` is missing or wrong, or the host or origin is not allowed.");
        refusals.insert("403".to_owned(), RefOr::T(forbidden));
        refusals
    }
}

/// The name is taken, or the current state does not allow the operation.
pub(super) struct Conflict;

impl IntoResponses for Conflict {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        shared(&[409])
    }
}

/// An internal error, on a route that can fail in no other way.
pub(super) struct Fault;

impl IntoResponses for Fault {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        shared(&[500])
    }
}

/// The store is unavailable.
pub(super) struct Unready;

impl IntoResponses for Unready {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        shared(&[500, 503])
    }
}

macro_rules! body_refusals {
    ($($body:ident),*) => {$(
        impl<T> IntoResponses for $body<T> {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                shared(&[400, 408, 413])
            }
        }
    )*};
}

body_refusals!(Body, PublicBody, OptionalBody);
