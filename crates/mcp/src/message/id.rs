//! The id of a request, which is echoed with its JSON type and value unchanged.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::object;

/// A string or a number exactly as the caller wrote it, or `null` if there is none.
///
/// It is never parsed as a number: neither 64 bits nor a double can represent every legal id.
#[derive(Clone)]
pub struct Id<'a>(Option<Cow<'a, RawValue>>);

impl<'a> Id<'a> {
    /// `null`: for the answer to a message without a readable id.
    pub const NULL: Id<'static> = Id(None);

    /// The id in `raw`, if it is a string or a number.
    pub fn legal(raw: &'a RawValue) -> Option<Self> {
        object::is_string_or_number(raw).then_some(Self(Some(Cow::Borrowed(raw))))
    }

    /// The id as JSON text.
    pub fn json(&self) -> &str {
        self.0.as_deref().map_or("null", RawValue::get)
    }

    /// Whether there is none.
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// The same id, free of the body it was read from.
    pub fn into_owned(self) -> Id<'static> {
        Id(self.0.map(|raw| Cow::Owned(raw.into_owned())))
    }
}

impl fmt::Debug for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.json())
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.json())
    }
}

/// Two ids are equal if their text is: `1` and `1.0` are different requests.
impl PartialEq for Id<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for Id<'_> {}

impl std::hash::Hash for Id<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.json().hash(state);
    }
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_deref().serialize(serializer)
    }
}
