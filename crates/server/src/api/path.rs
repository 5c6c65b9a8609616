//! Parameters of the path. An id that is malformed and one that does not exist are the same to a caller: 404.

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

/// An id that a path can hold.
pub(super) trait PathId: Sized + Send {
    /// The parameter's name.
    const PARAMETER: &'static str;
    /// What it names, in a sentence.
    const WHAT: &'static str;
    /// What every such id begins with.
    const PREFIX: &'static str;

    /// Reads it.
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
}

/// The id in the path.
pub(super) struct Id<T>(pub(super) T);

impl<T: PathId> FromRequestParts<Shared> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let text = path_parameter(parts, state, T::PARAMETER).await;
        text.and_then(|text| T::parse(&text)).map(Self).ok_or_else(no_such::<T>)
    }
}

/// The answer for an id that names nothing here.
pub(super) fn no_such<T: PathId>() -> ApiError {
    ApiError::not_found(T::WHAT)
}

impl<T: PathId> IntoParams for Id<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![path(T::PARAMETER, &format!("The {}'s id.", T::WHAT), &id_pattern(T::PREFIX))]
    }
}

/// A name that a path can hold: not an id of ours, and whatever it is, it may exist or not.
pub(super) trait PathName: Send {
    /// The parameter's name.
    const PARAMETER: &'static str;
    /// What it names, in a sentence.
    const WHAT: &'static str;
    /// What such a name looks like.
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
    /// A policy's own name.
    PolicyName, "policyId", "policy's name", "^[a-z0-9][a-z0-9_.-]{0,63}$";
    /// An audit key's thumbprint.
    KeyName, "kid", "signing key's id", "^[A-Za-z0-9_-]{43}$";
    /// A workspace, by id only.
    WorkspaceName, "workspaceId", "workspace's id", "^[^/]+$";
}

/// The name in the path.
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
        // One of the two engines cannot be asked for a NUL; nothing is called so.
        let text = if text.contains('\0') { String::new() } else { text };
        Ok(Self(text, std::marker::PhantomData))
    }
}

impl<T: PathName> IntoParams for Named<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![path(T::PARAMETER, &format!("The {}.", T::WHAT), T::PATTERN)]
    }
}

/// What an org's id and slug have in common.
pub(super) const ORG_PATTERN: &str = "^[0-9a-z_-]{1,120}$";

/// Documents the org in the path; the access itself reads it.
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
