//! Extractors for handlers: an authorized access, ids from the path, a strict query. Each type also describes its parameters and
//! refusals in the OpenAPI document.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::{FromRequestParts, RawPathParams};
use base::RequestId;
use guard::{Access, Credential};
use http::request::Parts;
use http::{HeaderMap, Method, header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoResponses;
use utoipa::openapi::{RefOr, Response};

use super::document;
use super::error::{ApiError, Result};
use super::in_place::InPlace;
use super::rights::Right;
use super::visit::Visit;
use crate::state::Shared;

/// The console's login cookie.
pub(super) const LOGIN_COOKIE: &str = "toolcrib_login";
const CSRF_HEADER: &str = "x-csrf-token";
/// The path parameter that names an org, by id or slug.
pub(super) const ORG_PARAMETER: &str = "orgId";

/// A caller in an org who has the right `R`.
pub(super) struct Admitted<R> {
    access: Access,
    visit: Visit,
    place: InPlace,
    right: PhantomData<R>,
}

impl<R> Admitted<R> {
    /// Marks the answer as showing data written by agents, for routes whose right does not imply it.
    pub(super) fn reads(&self, what: &'static str) {
        self.visit.reads(what);
    }

    /// Reserves `bytes` more memory for the answer within the limits of the caller, its org and the server.
    pub(super) fn hold(&self, bytes: usize) -> base::Result<()> {
        self.place.more(bytes)
    }
}

impl<R> Deref for Admitted<R> {
    type Target = Access;

    fn deref(&self) -> &Access {
        &self.access
    }
}

impl<R: Right> FromRequestParts<Shared> for Admitted<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let org = asked_org(parts, state).await;
        let LetIn { access, visit, place } = let_in(parts, state, Accepts::KeysAndLogins, org.as_deref()).await?;
        R::check(&access)?;
        if let Some(what) = R::READS {
            visit.reads(what);
        }
        let access = access.in_request(InRequest::of(parts).0);
        Ok(Self { access, visit, place, right: PhantomData })
    }
}

impl<R: Right> IntoResponses for Admitted<R> {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        document::refusals(R::NEEDS)
    }
}

/// Which credentials a route takes.
#[derive(Clone, Copy)]
pub(super) enum Accepts {
    KeysAndLogins,
    /// Only a login. A key is not accepted, even together with a login.
    Logins,
}

/// A caller with a valid credential, before its rights are checked.
pub(super) struct LetIn {
    pub(super) access: Access,
    visit: Visit,
    place: InPlace,
}

/// Authenticates a management call. It notes the caller for the audit trail, charges the rate limit and takes a place.
pub(super) async fn let_in(parts: &mut Parts, state: &Shared, accepts: Accepts, org: Option<&str>) -> Result<LetIn> {
    let visit = Visit::of(parts, state).await;
    let presented = match accepts {
        Accepts::KeysAndLogins => credential(parts),
        Accepts::Logins => Credential { authorization: None, ..credential(parts) },
    };
    let access = visit.by(state.guard.access(&presented, org).await)?;
    let place = InPlace::of(&parts.extensions);
    place.take(state.guard.begin(&access).await?);
    Ok(LetIn { access, visit, place })
}

/// The request's id, as in `x-request-id` and the audit trail.
pub(super) struct InRequest(pub(super) RequestId);

impl InRequest {
    fn of(parts: &Parts) -> Self {
        // The middleware around every route has set it.
        Self(parts.extensions.get::<RequestId>().copied().unwrap_or_else(RequestId::next))
    }
}

impl FromRequestParts<Shared> for InRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self> {
        Ok(Self::of(parts))
    }
}

/// The org named by the path, or else by `?org=`. Text that cannot be an id or slug matches no org.
pub(super) async fn asked_org(parts: &mut Parts, state: &Shared) -> Option<String> {
    let in_path = path_parameter(parts, state, ORG_PARAMETER).await;
    let asked = in_path.or_else(|| {
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).ok()?;
        pairs.0.into_iter().find_map(|(name, value)| (name == "org").then_some(value))
    })?;
    Some(if asked.contains('\0') { String::new() } else { asked })
}

/// A path parameter. If it is not UTF-8 it reads as empty, which matches nothing.
pub(super) async fn path_parameter(parts: &mut Parts, state: &Shared, name: &str) -> Option<String> {
    match RawPathParams::from_request_parts(parts, state).await {
        Ok(parameters) => parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned()),
        Err(_) => Some(String::new()),
    }
}

/// The credential of a request.
pub(super) fn credential(parts: &Parts) -> Credential<'_> {
    // A header that is not text is a malformed credential, not a missing one.
    let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap_or_default());
    Credential {
        authorization: text(header::AUTHORIZATION.as_str()),
        login: login_cookie(&parts.headers),
        csrf: text(CSRF_HEADER),
        changes: !matches!(parts.method, Method::GET | Method::HEAD),
    }
}

fn login_cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    pairs.find_map(|(name, value)| (name == LOGIN_COOKIE).then_some(value))
}

/// The instance admin, on routes outside any org.
pub(super) struct InstanceAdmin;

impl FromRequestParts<Shared> for InstanceAdmin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let visit = Visit::of(parts, state).await;
        let credential = credential(parts);
        match state.guard.instance_access(&credential).await {
            Ok(()) => return Ok(Self),
            Err(guard::Refusal::Failed(error)) => return Err(error.into()),
            Err(_) => {}
        }
        // A known caller who is not the admin gets 403, which its org's audit trail records. An unknown caller gets 401.
        visit.by(state.guard.access(&credential, None).await)?;
        Err(base::Error::new(base::Kind::NotPermitted, "this needs the instance admin's key").into())
    }
}

impl IntoResponses for InstanceAdmin {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        document::refusals("the instance admin's key")
    }
}

/// The query. Only known parameters are accepted, each at most once.
pub(super) struct Query<T>(pub(super) T);

/// A query without parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

impl<T: DeserializeOwned> FromRequestParts<Shared> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self> {
        match axum::extract::Query::try_from_uri(&parts.uri) {
            Ok(query) => Ok(Self(query.0)),
            Err(rejection) => {
                let text = rejection.body_text();
                let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
                // The query parser puts the parameter's name first.
                Err(ApiError::invalid(match reason.split_once(": ") {
                    Some((parameter, reason)) => format!("invalid query parameter `{parameter}`: {reason}"),
                    None => format!("invalid query: {reason}"),
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderValue, Request};

    fn parts(method: Method, headers: &[(&'static str, &str)]) -> Parts {
        let mut request = Request::new(());
        *request.method_mut() = method;
        for (name, value) in headers {
            request.headers_mut().append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        request.into_parts().0
    }

    #[test]
    fn the_login_cookie_is_found_among_others() {
        let parts = parts(Method::POST, &[("cookie", "a=b; toolcrib_login=tcl_1"), ("x-csrf-token", "tcc_1")]);
        let credential = credential(&parts);
        assert_eq!((credential.login, credential.csrf, credential.changes), (Some("tcl_1"), Some("tcc_1"), true));
        assert_eq!(credential.authorization, None);
    }

    #[test]
    fn unreadable_authorization_header_does_not_fall_back_to_the_cookie() {
        let parts = parts(Method::GET, &[("authorization", "Bearer é"), ("cookie", "toolcrib_login=tcl_1")]);
        let credential = credential(&parts);
        assert_eq!((credential.authorization, credential.changes), (Some(""), false));
    }
}
