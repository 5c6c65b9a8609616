//! Ids, times, numbers and covers on the wire, each with its schema for the OpenAPI document.

use std::marker::PhantomData;

use base::limits::{ALLOWLIST_ENTRIES_MAX, CODE_RESULTS_MAX, GRAPH_HITS_MAX, GRAPH_HOPS_MAX, MEMORY_HITS_MAX, SESSION_TTL_SECONDS_MAX};
use base::{Scope, ScopeSet, Timestamp};
use guard::{AgentCover, Cover, Listed, ProjectCover};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// An id without its prefix: 128 bits in Crockford's base 32.
const ID_BODY: &str = "[0-7][0-9a-hjkmnp-tv-z]{25}";

/// The pattern of ids with `prefix`.
pub(super) fn id_pattern(prefix: &str) -> String {
    format!("^{prefix}{ID_BODY}$")
}

macro_rules! ids {
    ($($name:ident),* $(,)?) => {$(
        #[doc = concat!("A `", stringify!($name), "` on the wire.")]
        #[derive(Clone, Serialize, Deserialize)]
        #[serde(transparent)]
        pub(super) struct $name(pub(super) base::$name);

        impl From<base::$name> for $name {
            fn from(id: base::$name) -> Self {
                Self(id)
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let pattern = id_pattern(base::$name::PREFIX);
                ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

ids!(OrgId, ProjectId, KeyId, SessionId, AgentId, UserId, BrickId, BrickVersionId, KitId, KitVersionId, ObservationId, WebhookId);
ids!(TripletId, EntityId, DecisionId, FileVersionId);

/// A time, as RFC 3339.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Time(pub(super) Timestamp);

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Self {
        Self(time)
    }
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::DateTime);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

impl ToSchema for Time {}

macro_rules! numbers {
    ($($name:ident, $type:ty, $min:expr, $max:expr, $meaning:literal;)*) => {$(
        #[doc = $meaning]
        #[derive(Clone, Copy, Serialize)]
        #[serde(transparent)]
        pub(super) struct $name(pub(super) $type);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = deserializer.deserialize_any(WholeNumber)?;
                let number = <$type>::try_from(number).ok().filter(|number| ($min..=$max).contains(number));
                number.map(Self).ok_or_else(|| de::Error::custom($meaning))
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let schema = ObjectBuilder::new().schema_type(Type::Integer).description(Some($meaning));
                schema.minimum(Some($min)).maximum(Some($max)).into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

numbers! {
    TtlSeconds, u64, 1, SESSION_TTL_SECONDS_MAX, "a session's lifetime must be 1 to 2592000 seconds (30 days)";
    SequenceNumber, u64, 1, SEQUENCE_MAX, "a sequence number must be a whole number from 1";
    HitCount, u32, 1, MEMORY_HITS_MAX, "the number of hits must be 1 to 200";
    LineNumber, u64, 1, SEQUENCE_MAX, "a line number must be a whole number from 1";
    TripletCount, u32, 1, GRAPH_HITS_MAX, "the number of triplets must be 1 to 100";
    CodeHitCount, u32, 1, CODE_RESULTS_MAX, "the number of hits must be 1 to 100";
    HitOffset, u32, 0, 100_000, "an offset must be 0 to 100000";
    FileVersionNumber, u64, 1, SEQUENCE_MAX, "a version must be a whole number from 1";
    Hops, u32, 0, GRAPH_HOPS_MAX, "the number of hops must be 0 to 4";
    CallsPerMinute, u32, 1, u32::MAX, "a rate must be 1 to 4294967295 calls a minute; to block an agent, disable it";
}

/// The largest integer that every JSON parser reads exactly.
pub(super) const SEQUENCE_MAX: u64 = (1 << 53) - 1;

/// Parses an integer as JSON Schema defines it, so `60.0` is accepted too.
struct WholeNumber;

impl de::Visitor<'_> for WholeNumber {
    type Value = u64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_u64<E>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        let whole = base::number::whole(number).and_then(|whole| u64::try_from(whole).ok());
        whole.ok_or_else(|| E::invalid_type(de::Unexpected::Float(number), &self))
    }
}

/// A list of scopes.
pub(super) struct Scopes(pub(super) ScopeSet);

impl Serialize for Scopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.words())
    }
}

impl<'de> Deserialize<'de> for Scopes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = bounded(Vec::<String>::deserialize(deserializer)?)?;
        let unknown = |word| de::Error::custom(format_args!("there is no scope `{word}`"));
        ScopeSet::parse(words.iter().map(String::as_str)).map(Self).map_err(unknown)
    }
}

impl PartialSchema for Scopes {
    fn schema() -> RefOr<Schema> {
        let words = std::iter::once("*").chain(Scope::ALL.iter().map(|scope| scope.word()));
        let word = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words));
        ArrayBuilder::new().items(word).max_items(Some(ALLOWLIST_ENTRIES_MAX)).into()
    }
}

impl ToSchema for Scopes {}

/// `"all"`, or a list of ids.
struct AllOrSome<T>(&'static str, PhantomData<T>);

impl<'de, T: Listed + Deserialize<'de>> de::Visitor<'de> for AllOrSome<T> {
    type Value = Cover<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"all\" or a list of {} ids", self.0)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Cover<T>, E> {
        if word == "all" { Ok(Cover::All) } else { Err(E::invalid_value(de::Unexpected::Str(word), &self)) }
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, ids: A) -> Result<Cover<T>, A::Error> {
        let ids = Vec::<T>::deserialize(de::value::SeqAccessDeserializer::new(ids))?;
        Ok(Cover::only(bounded(ids)?))
    }
}

macro_rules! covers {
    ($($name:ident, $cover:ident, $id:ident, $noun:literal;)*) => {$(
        #[doc = concat!("`\"all\"`, or a list of ", $noun, " ids.")]
        pub(super) struct $name(pub(super) $cover);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match &self.0 {
                    Cover::All => serializer.serialize_str("all"),
                    Cover::Only(_) => serializer.collect_seq(self.0.listed()),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(AllOrSome($noun, PhantomData)).map(Self)
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let all = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["all"]));
                let some = ArrayBuilder::new().items(Ref::from_schema_name(stringify!($id)));
                OneOfBuilder::new().item(all).item(some.max_items(Some(ALLOWLIST_ENTRIES_MAX))).into()
            }
        }

        impl ToSchema for $name {
            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                schemas.push(($id::name().into_owned(), $id::schema()));
            }
        }
    )*};
}

covers! {
    Projects, ProjectCover, ProjectId, "project";
    Agents, AgentCover, AgentId, "agent";
}

/// Refuses a list that is too long.
pub(super) fn bounded<T, E: de::Error>(list: Vec<T>) -> Result<Vec<T>, E> {
    if list.len() > ALLOWLIST_ENTRIES_MAX {
        return Err(E::custom(format_args!("a list may have at most {ALLOWLIST_ENTRIES_MAX} entries")));
    }
    Ok(list)
}

/// For an optional member of a change whose value may be `null`: distinguishes `null` from an absent member.
pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_may_have_a_decimal_point() {
        let read = |value| serde_json::from_value::<TtlSeconds>(value).ok().map(|seconds| seconds.0);
        assert_eq!(read(json!(60)), Some(60));
        assert_eq!(read(json!(60.0)), Some(60));
        for bad in [json!(0), json!(-1), json!(0.5), json!(1e300), json!("60"), json!(true), json!(2_592_001)] {
            assert_eq!(read(bad.clone()), None, "{bad}");
        }
    }

    #[test]
    fn covers_round_trip() {
        let id = base::ProjectId::new(Timestamp::from_ms(1));
        for form in [json!("all"), json!([id]), json!([])] {
            let projects: Projects = serde_json::from_value(form.clone()).unwrap();
            assert_eq!(serde_json::to_value(projects).unwrap(), form);
        }
        for bad in [json!("ALL"), json!("none"), json!(["x"]), json!(null), json!({"All": "all"}), json!({"all": null})] {
            assert!(serde_json::from_value::<Projects>(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn id_pattern_matches_the_id_alphabet() {
        let id = base::ProjectId::new(Timestamp::from_ms(1));
        assert!(id_pattern("prj_").starts_with("^prj_[0-7]"));
        assert!(id.as_str().bytes().skip(4).all(|byte| !b"ilou".contains(&byte)));
    }

    #[test]
    fn an_unknown_scope_is_named() {
        let error = serde_json::from_value::<Scopes>(json!(["org:read", "org:eat"])).err().unwrap();
        assert_eq!(error.to_string(), "there is no scope `org:eat`");
    }
}
