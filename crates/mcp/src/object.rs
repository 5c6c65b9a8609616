//! Reads the top level of a JSON object and keeps its members as raw text.
//!
//! Only the requested members are kept, so an object with a million members costs no memory. A duplicate member is refused: if
//! two readers used different ones, a check could be bypassed.

use std::borrow::Cow;
use std::fmt;

use base::Error;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members `names` of the object `json`, in that order.
///
/// # Errors
/// Bad syntax is a syntax error. Anything but an object, and a duplicate of a requested member, are data errors.
pub fn members<'a, const N: usize>(json: &'a str, names: &[&str; N]) -> serde_json::Result<[Option<&'a RawValue>; N]> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let found = Wanted(names).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(found)
}

struct Wanted<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Wanted<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for Wanted<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(position) = map.next_key_seed(Name(self.0))? {
            match position.and_then(|position| found.get_mut(position)) {
                Some(Some(_)) => return Err(de::Error::custom("duplicate member")),
                Some(place) => *place = Some(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

/// Finds a key among the requested names without copying it.
struct Name<'n>(&'n [&'n str]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}

/// The string in `raw`, borrowed unless it has escapes; `None` for any other type.
pub fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    match inner.contains('\\') {
        false => Some(Cow::Borrowed(inner)),
        true => serde_json::from_str(raw.get()).ok().map(Cow::Owned),
    }
}

/// Whether `raw` is an object.
pub fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Whether `raw` is a string or a number, which an id or a progress token must be.
pub fn is_string_or_number(raw: &RawValue) -> bool {
    raw.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

/// One member of `params`, with its name for errors. An explicit `null` counts as absent.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    name: &'static str,
    raw: Option<&'a RawValue>,
}

impl<'a> Member<'a> {
    /// The member called `name`.
    pub fn new(name: &'static str, raw: Option<&'a RawValue>) -> Self {
        Self { name, raw: raw.filter(|raw| raw.get() != "null") }
    }

    /// The raw text, if the member is present.
    pub fn raw(self) -> Option<&'a RawValue> {
        self.raw
    }

    /// The member, which must be present.
    pub fn required(self) -> Result<&'a RawValue, Error> {
        self.raw.ok_or_else(|| Error::invalid(self.name, format!("`{}` is missing", self.name)))
    }

    /// A string, if the member is present.
    pub fn optional_text(self) -> Result<Option<Cow<'a, str>>, Error> {
        self.raw.map(|raw| text(raw).ok_or_else(|| self.must_be("a string"))).transpose()
    }

    /// A string, which must be present.
    pub fn text(self) -> Result<Cow<'a, str>, Error> {
        text(self.required()?).ok_or_else(|| self.must_be("a string"))
    }

    /// An object, if the member is present.
    pub fn optional_object(self) -> Result<Option<&'a RawValue>, Error> {
        self.raw.map(|raw| if is_object(raw) { Ok(raw) } else { Err(self.must_be("an object")) }).transpose()
    }

    /// A boolean; absent means false.
    pub fn flag(self) -> Result<bool, Error> {
        match self.raw.map(RawValue::get) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(self.must_be("a boolean")),
        }
    }

    /// The error for a value of the wrong type.
    pub fn must_be(self, what: &str) -> Error {
        Error::invalid(self.name, format!("`{}` must be {what}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> String {
        match members(json, &["a", "b"]) {
            Ok(found) => found.map(|raw| raw.map_or("-", RawValue::get)).join(" "),
            Err(error) if error.is_data() => "data".to_owned(),
            Err(_) => "syntax".to_owned(),
        }
    }

    #[test]
    fn members_are_found_in_any_order_and_keep_their_text() {
        assert_eq!(shown(r#"{"b": [1, 2.50], "x": {"a": 0}, "a":1e400}"#), "1e400 [1, 2.50]");
        assert_eq!(shown(r#"{"\u0061": "escaped name"}"#), "\"escaped name\" -");
        assert_eq!(shown("{}"), "- -");
    }

    #[test]
    fn non_objects_and_duplicates_are_data_errors() {
        assert_eq!(shown("[]"), "data");
        assert_eq!(shown("null"), "data");
        assert_eq!(shown(r#"{"a": 1, "a": 2}"#), "data");
        assert_eq!(shown(r#"{"x": 1, "x": 2}"#), "- -");
        assert_eq!(shown(r#"{"a": 1"#), "syntax");
        assert_eq!(shown(r#"{"a": 1} 2"#), "syntax");
    }

    #[test]
    fn strings_are_borrowed_unless_escaped() {
        let read = |json: &'static str| text(serde_json::from_str(json).unwrap());
        assert!(matches!(read(r#""plain""#), Some(Cow::Borrowed("plain"))));
        assert_eq!(read(r#""a\/\u0062""#).as_deref(), Some("a/b"));
        assert_eq!(read(r#""\ud800""#), None);
        assert_eq!(read("17"), None);
    }

    #[test]
    fn wrong_types_name_the_parameter() {
        let member = |json: &'static str| Member::new("uri", Some(serde_json::from_str(json).unwrap()));
        assert_eq!(member("7").text().unwrap_err().message(), "`uri` must be a string");
        assert_eq!(member("null").text().unwrap_err().message(), "`uri` is missing");
        assert_eq!(member("null").optional_text().unwrap(), None);
        assert!(member("[]").flag().is_err() && member("{}").optional_object().is_ok());
    }
}
