//! Path parameters. A malformed id and an unknown id both get 404.

use axum::extract::FromRequestParts;
use http::request::Parts;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::error::{ApiError, Result};
use super::extract::{ORG_PARAMETER, path_parameter};
use super::wire::id_pattern;
use crate::state::Shared;

/// An id that can be a path parameter.
pub(super) trait PathId: Sized + Send {
    /// The parameter's name.
    const PARAMETER: &'static str;
    /// The noun for messages and the document.
    const WHAT: &'static str;
    /// The prefix of such ids.
    const PREFIX: &'static str;

    /// Parses the id.
    fn parse(text: &str) -> Option<Self>;
}

macro_rules! path_ids {
    ($($id:ty, $parameter:literal, $what:literal;)*) => {$(
        impl PathId for $id {
            const PARAMETER: &'static str = $parameter;
            const WHAT: &'static str = $what;
            const PREFIX: &'static str = <$id>::PREFIX;

            fn parse(text: &str) -> Option<Self> {
                <$id>::parse(text)
            }
        }
    )*};
}

path_ids! {
    base::ProjectId, "projectId", "project";
    base::KeyId, "keyId", "key";
    base::SessionId, "sessionId", "session";
    base::AgentId, "agentId", "agent";
    base::UserId, "userId", "user";
    base::BrickId, "brickId", "brick";
    base::KitId, "kitId", "kit";
    base::WebhookId, "webhookId", "webhook";
    base::ObservationId, "observationId", "observation";
    base::TripletId, "tripletId", "triplet";
    base::EntityId, "entityId", "entity";
    base::DecisionId, "decisionId", "decision";
}

/// An id in the path.
pub(super) struct Id<T>(pub(super) T);

impl<T: PathId> FromRequestParts<Shared> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let text = path_parameter(parts, state, T::PARAMETER).await;
        text.and_then(|text| T::parse(&text)).map(Self).ok_or_else(no_such::<T>)
    }
}

/// The answer for an unknown id.
pub(super) fn no_such<T: PathId>() -> ApiError {
    ApiError::not_found(T::WHAT)
}

impl<T: PathId> IntoParams for Id<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![path(T::PARAMETER, &format!("The {}'s id.", T::WHAT), &id_pattern(T::PREFIX))]
    }
}

/// A name that can be a path parameter. It is not one of our ids, and it may not exist.
pub(super) trait PathName: Send {
    /// The parameter's name.
    const PARAMETER: &'static str;
    /// The noun for the document.
    const WHAT: &'static str;
    /// The pattern of such names.
    const PATTERN: &'static str;
}

macro_rules! path_names {
    ($($(#[$doc:meta])* $name:ident, $parameter:literal, $what:literal, $pattern:literal;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl PathName for $name {
            const PARAMETER: &'static str = $parameter;
            const WHAT: &'static str = $what;
            const PATTERN: &'static str = $pattern;
        }
    )*};
}

path_names! {
    /// A policy's name.
    PolicyName, "policyId", "policy's name", "^[a-z0-9][a-z0-9_.-]{0,63}$";
    /// An audit key's thumbprint.
    KeyName, "kid", "signing key's id", "^[A-Za-z0-9_-]{43}$";
    /// A workspace, by id only.
    WorkspaceName, "workspaceId", "workspace's id", "^[^/]+$";
}

/// A name in the path.
pub(super) struct Named<T>(String, std::marker::PhantomData<T>);

impl<T> Named<T> {
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

impl<T: PathName> FromRequestParts<Shared> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let text = path_parameter(parts, state, T::PARAMETER).await.unwrap_or_default();
        // PostgreSQL refuses a NUL in text, and no name contains one.
        let text = if text.contains('\0') { String::new() } else { text };
        Ok(Self(text, std::marker::PhantomData))
    }
}

impl<T: PathName> IntoParams for Named<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![path(T::PARAMETER, &format!("The {}.", T::WHAT), T::PATTERN)]
    }
}

/// A pattern that matches an org's id and its slug.
pub(super) const ORG_PATTERN: &str = "^[0-9a-z_-]{1,120}$";

/// Documents the org in the path. The access itself reads it.
pub(super) struct OrgPath;

impl IntoParams for OrgPath {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![path(ORG_PARAMETER, "The org's id or slug.", ORG_PATTERN)]
    }
}

fn path(name: &str, description: &str, pattern: &str) -> Parameter {
    let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern));
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True);
    parameter.description(Some(description)).schema(Some(text)).build()
}
