//! Reading a request's body: bounded in size, bounded in how long it may stand still, and a JSON object. The bytes of a large one
//! are held by its caller's place; a request without a place has a small body.

use axum::extract::{FromRequest, Request};
use base::limits::{JSON_VALUES_MAX, PUBLIC_BODY_BYTES_MAX};
use base::{Kind, limits::Limits};
use bytes::Bytes;
use http::StatusCode;
use mcp::message::depth::excess;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer};

use super::error::{ApiError, Result};
use super::in_place::InPlace;
use crate::body::{self, Unreadable};
use crate::state::Shared;

/// A body of a route whose caller has been let in already.
pub(super) struct Body<T>(pub(super) T);

/// A body of a route that anyone may call: it is small, so that strangers cannot fill the memory.
pub(super) struct PublicBody<T>(pub(super) T);

/// A body that may be left out.
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
        Unreadable::Broken => ApiError::invalid("the body broke off: send it again"),
    })
}

fn too_large(bytes_max: usize) -> ApiError {
    let message = format!("the body is larger than {bytes_max} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, Kind::TooLarge.word(), message)
}

fn too_slow() -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, Kind::Timeout.word(), "the body did not arrive in time: send it again")
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    if excess(bytes, usize::MAX, JSON_VALUES_MAX).is_some() {
        return Err(ApiError::invalid("the body has too many JSON values: send less at once"));
    }
    match serde_json::from_slice::<Object<T>>(bytes) {
        Ok(object) => Ok(object.0),
        Err(error) => Err(ApiError::invalid(format!("the body cannot be used: {error}"))),
    }
}

/// A JSON object, and only that: a derived reader would also take the members as an array, by position.
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
    fn only_an_object_with_known_members_is_read() {
        assert_eq!(parse::<Point>(b" {\"x\": 1} ").ok().map(|point| point.x), Some(1));
        assert_eq!(parse::<Point>(b"{}").ok().map(|point| point.x), Some(0));
        for bad in ["", "[]", "[1]", "null", "1", "{\"y\": 1}", "{\"x\": 1, \"x\": 2}", "{\"x\": \"1\"}", "{} {}"] {
            assert!(parse::<Point>(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
