//! The members of `params` that several methods share, as raw JSON text.

use std::borrow::Cow;

use base::{Error, Kind};
use serde_json::value::RawValue;

use crate::object::{self, Member};

/// The top level of `params`. Absent params count as an empty object.
#[derive(Clone, Copy, Debug, Default)]
pub struct Params<'a> {
    raw: Option<&'a RawValue>,
    meta: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    uri: Option<&'a RawValue>,
    arguments: Option<&'a RawValue>,
    cursor: Option<&'a RawValue>,
    input_responses: Option<&'a RawValue>,
    request_state: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// Reads the top level of `params`.
    ///
    /// # Errors
    /// If they are not an object, or have a duplicate member.
    pub fn read(raw: Option<&'a RawValue>) -> Result<Self, Error> {
        let Some(params) = raw else { return Ok(Self::default()) };
        const NAMES: [&str; 7] = ["_meta", "name", "uri", "arguments", "cursor", "inputResponses", "requestState"];
        let [meta, name, uri, arguments, cursor, input_responses, request_state] =
            object::members(params.get(), &NAMES).map_err(|_| unreadable())?;
        Ok(Self { raw, meta, name, uri, arguments, cursor, input_responses, request_state })
    }

    /// Members that only one method has.
    pub fn members<const N: usize>(&self, names: &[&'static str; N]) -> Result<[Member<'a>; N], Error> {
        let found = object::members(self.raw.map_or("{}", RawValue::get), names).map_err(|_| unreadable())?;
        let mut names = names.iter();
        Ok(found.map(|raw| Member::new(names.next().copied().unwrap_or_default(), raw)))
    }

    pub(super) fn meta(&self) -> Option<&'a RawValue> {
        self.meta
    }

    /// The name of the requested tool or prompt.
    pub fn name(&self) -> Result<Cow<'a, str>, Error> {
        Member::new("name", self.name).text()
    }

    /// The requested resource.
    pub fn uri(&self) -> Result<Cow<'a, str>, Error> {
        Member::new("uri", self.uri).text()
    }

    /// The arguments of a tool or prompt, which must be an object if present.
    pub fn arguments(&self) -> Result<Option<&'a RawValue>, Error> {
        Member::new("arguments", self.arguments).optional_object()
    }

    /// The cursor of a list.
    pub fn cursor(&self) -> Result<Option<Cow<'a, str>>, Error> {
        Member::new("cursor", self.cursor).optional_text()
    }

    /// The answers to the server's questions, which must be an object if present. An explicit null is refused, because it can
    /// only be a failed attempt to answer.
    pub fn input_responses(&self) -> Result<Option<&'a RawValue>, Error> {
        match self.input_responses {
            Some(raw) if !object::is_object(raw) => Err(Error::invalid("inputResponses", "`inputResponses` must be an object")),
            raw => Ok(raw),
        }
    }

    /// The state that the server sent with its question. The client carried it, so verify it before use.
    pub fn request_state(&self) -> Result<Option<Cow<'a, str>>, Error> {
        Member::new("requestState", self.request_state).optional_text()
    }
}

fn unreadable() -> Error {
    Error::new(Kind::InvalidParams, "`params` must be an object without duplicate members")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &'static str) -> Params<'static> {
        Params::read(Some(serde_json::from_str(json).unwrap())).unwrap()
    }

    #[test]
    fn members_are_found_and_checked() {
        let params = read(r#"{"name":"kits.get","arguments":{"a":1},"cursor":null,"requestState":5,"other":[]}"#);
        assert_eq!(params.name().unwrap(), "kits.get");
        assert_eq!(params.arguments().unwrap().unwrap().get(), r#"{"a":1}"#);
        assert_eq!(params.cursor().unwrap(), None);
        assert_eq!(params.request_state().unwrap_err().data()["parameter"], "requestState");
        assert_eq!(params.uri().unwrap_err().message(), "`uri` is missing");
        assert!(Params::read(None).unwrap().arguments().unwrap().is_none());
    }

    #[test]
    fn answers_must_be_an_object() {
        assert!(read(r#"{"inputResponses":null}"#).input_responses().is_err());
        assert!(read(r#"{"inputResponses":[1]}"#).input_responses().is_err());
        assert!(read("{}").input_responses().unwrap().is_none());
        assert!(read(r#"{"inputResponses":{}}"#).input_responses().unwrap().is_some());
    }

    #[test]
    fn duplicate_members_are_refused() {
        let raw: &RawValue = serde_json::from_str(r#"{"name":"a","name":"b"}"#).unwrap();
        assert_eq!(Params::read(Some(raw)).unwrap_err().kind(), Kind::InvalidParams);
    }

    #[test]
    fn members_of_one_method_know_their_names() {
        let [level, other] = read(r#"{"level":3}"#).members(&["level", "other"]).unwrap();
        assert_eq!(level.text().unwrap_err().data()["parameter"], "level");
        assert!(other.raw().is_none());
    }
}
