//! Reads request bodies: JSON objects with a size limit and a time limit. The memory of a large body is charged to its caller.
//! Without a known caller, only a small body is accepted.

use axum::extract::{FromRequest, Request};
use base::limits::{JSON_VALUES_MAX, Limits, PUBLIC_BODY_BYTES_MAX};
use bytes::Bytes;
use mcp::codes::Cause;
use mcp::message::depth::excess;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer};

use super::error::{ApiError, Result};
use super::in_place::InPlace;
use crate::body::{self, Unreadable};
use crate::state::Shared;

/// The body of a route that requires a credential.
pub(super) struct Body<T>(pub(super) T);

/// The body of a public route. It must be small, so that anonymous callers cannot fill the memory.
pub(super) struct PublicBody<T>(pub(super) T);

/// An optional body.
pub(super) struct OptionalBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Shared> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Shared) -> Result<Self> {
        parse(&read(request, state.limits.body_bytes_max, &state.limits).await?).map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest<Shared> for PublicBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Shared) -> Result<Self> {
        let bytes_max = state.limits.body_bytes_max.min(PUBLIC_BODY_BYTES_MAX);
        parse(&read(request, bytes_max, &state.limits).await?).map(Self)
    }
}

impl<T: DeserializeOwned + Default> FromRequest<Shared> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Shared) -> Result<Self> {
        let bytes = read(request, state.limits.body_bytes_max, &state.limits).await?;
        match bytes.trim_ascii() {
            b"" | b"null" => Ok(Self(T::default())),
            bytes => parse(bytes).map(Self),
        }
    }
}

async fn read(request: Request, bytes_max: usize, limits: &Limits) -> Result<Bytes> {
    let place = InPlace::of(request.extensions());
    let under_way = place.under_way();
    let bytes_max = if under_way.is_some() { bytes_max } else { bytes_max.min(PUBLIC_BODY_BYTES_MAX) };
    body::read(request.into_body(), bytes_max, limits, under_way).await.map_err(|reason| match reason {
        Unreadable::Full(refusal) => refusal.into(),
        Unreadable::TooLarge { bytes_max } => too_large(bytes_max),
        Unreadable::TooSlow => too_slow(),
        Unreadable::Broken => ApiError::new(Cause::BodyBroken, "connection closed mid-body; send the request again"),
    })
}

fn too_large(bytes_max: usize) -> ApiError {
    let message = format!("the body is larger than the limit of {bytes_max} bytes");
    ApiError::new(Cause::BodyTooLarge, message)
}

fn too_slow() -> ApiError {
    ApiError::new(Cause::BodyTooSlow, "the body took too long to arrive; send the request again")
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    if excess(bytes, usize::MAX, JSON_VALUES_MAX).is_some() {
        return Err(ApiError::invalid("too many JSON values in the body; split it into several requests"));
    }
    match serde_json::from_slice::<Object<T>>(bytes) {
        Ok(object) => Ok(object.0),
        Err(error) => Err(ApiError::invalid(format!("invalid body: {}", reason(&error)))),
    }
}

/// What is wrong with the body. The position is kept only for a JSON syntax error: for an invalid member it would mislead.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) if error.is_data() => reason.to_owned(),
        _ => text,
    }
}

/// Accepts only a JSON object. A derived reader would also accept an array of the members in order.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Members<T> {
            type Value = T;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members))
            }
        }

        deserializer.deserialize_map(Members(std::marker::PhantomData)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Point {
        #[serde(default)]
        x: i32,
    }

    #[test]
    fn body_must_be_an_object_with_known_members() {
        assert_eq!(parse::<Point>(b" {\"x\": 1} ").ok().map(|point| point.x), Some(1));
        assert_eq!(parse::<Point>(b"{}").ok().map(|point| point.x), Some(0));
        for bad in ["", "[]", "[1]", "null", "1", "{\"y\": 1}", "{\"x\": 1, \"x\": 2}", "{\"x\": \"1\"}", "{} {}"] {
            assert!(parse::<Point>(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_syntax_errors_name_a_position() {
        let refused = |text: &str| reason(&serde_json::from_str::<Point>(text).err().unwrap());
        assert_eq!(refused("{\"y\": 1}"), "unknown field `y`, expected `x`");
        assert!(!refused("{\"x\": \"1\"}").contains("line"));
        // A syntax error keeps its position.
        assert!(refused("{\"x\": 1").contains("at line 1 column 7"), "{}", refused("{\"x\": 1"));
    }
}
