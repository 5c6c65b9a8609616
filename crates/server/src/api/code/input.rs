//! Paths, commits and numbers in requests about code, checked while they are parsed.

use base::limits::{CODE_DEPTH_MAX, CODE_QUERY_CHARS_MAX, CODE_REASON_CHARS_MAX};
use code::{Analysis, CodePath};
use serde::{Deserialize, Deserializer, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The longest path of a file, in bytes. [`CodePath`] checks it.
const PATH_CHARS_MAX: usize = 1_024;
/// The longest name in a path, and a slash.
const NAME_CHARS_MAX: usize = 256;
/// The highest number of a version or an offset: the largest integer that every JSON parser reads exactly.
const NUMBER_MAX: u64 = (1 << 53) - 1;

fn text(chars_min: usize, chars_max: usize, pattern: &str, meaning: &str) -> RefOr<Schema> {
    let schema = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).description(Some(meaning));
    schema.min_length(Some(chars_min)).max_length(Some(chars_max)).into()
}

fn number(min: u64, max: u64, meaning: &str) -> RefOr<Schema> {
    let schema = ObjectBuilder::new().schema_type(Type::Integer).description(Some(meaning));
    schema.minimum(Some(min)).maximum(Some(max)).into()
}

/// The path of a file.
pub(super) struct FilePath(pub(super) CodePath);

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        CodePath::parse(&text).map(Self).map_err(|error| de::Error::custom(error.message()))
    }
}

impl PartialSchema for FilePath {
    fn schema() -> RefOr<Schema> {
        text(1, PATH_CHARS_MAX, "^[^/\\\\\\u0000]", "a path relative to the project's root, with `/` between its names")
    }
}

impl ToSchema for FilePath {}

/// The path of a folder. Empty means the root.
pub(super) struct FolderPath(pub(super) Option<CodePath>);

impl<'de> Deserialize<'de> for FolderPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let path = text.strip_suffix('/').unwrap_or(&text);
        if text.is_empty() {
            return Ok(Self(None));
        }
        CodePath::parse(path).map(|path| Self(Some(path))).map_err(|error| de::Error::custom(error.message()))
    }
}

impl PartialSchema for FolderPath {
    fn schema() -> RefOr<Schema> {
        text(0, PATH_CHARS_MAX, "^[^\\u0000]*$", "a folder relative to the project's root; empty means the root")
    }
}

impl ToSchema for FolderPath {}

macro_rules! texts {
    ($($name:ident, $max:expr, $pattern:literal, $fits:expr, $meaning:literal;)*) => {$(
        #[doc = $meaning]
        pub(super) struct $name(pub(super) String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let fits: fn(&str) -> bool = $fits;
                let is_right = (1..=$max).contains(&text.chars().count()) && fits(&text);
                if is_right { Ok(Self(text)) } else { Err(de::Error::custom($meaning)) }
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                text(1, $max, $pattern, $meaning)
            }
        }

        impl ToSchema for $name {}
    )*};
}

texts! {
    CommitId, 40, "^[0-9a-f]{40}$", |text| text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
        "a commit must be its full id of 40 hexadecimal digits";
    EntryName, NAME_CHARS_MAX, r"^[^\u0000]*$", |text| !text.contains('\0'),
        "a cursor must be the `nextCursor` of the previous page";
    SymbolName, 500, r"^[^\u0000]*$", |text| !text.contains('\0'),
        "a symbol must have 1 to 500 characters, such as `Class.method`";
    CodeQuestion, CODE_QUERY_CHARS_MAX, r"^[^\u0000]*$", |text| !text.contains('\0'),
        "a question must have 1 to 2000 characters and no NUL";
    Reason, CODE_REASON_CHARS_MAX, r"^[^\u0000]*$", |text| !text.contains('\0'),
        "a reason must have 1 to 2000 characters and no NUL";
}

macro_rules! query_numbers {
    ($($name:ident, $min:expr, $max:expr, $meaning:literal;)*) => {$(
        #[doc = $meaning]
        pub(super) struct $name(pub(super) u64);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let number = text.parse().ok().filter(|number| digits && ($min..=$max).contains(number));
                number.map(Self).ok_or_else(|| de::Error::custom($meaning))
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                number($min, $max, $meaning)
            }
        }
    )*};
}

query_numbers! {
    VersionNumber, 1, NUMBER_MAX, "a version must be a whole number from 1";
    Depth, 1, u64::from(CODE_DEPTH_MAX), "a depth must be a whole number from 1 to 64";
}

/// What to find out about a file.
pub(super) struct AnalysisWord(pub(super) Analysis);

impl AnalysisWord {
    const ALL: [(&'static str, Analysis); 5] = [
        ("imports", Analysis::Imports),
        ("exports", Analysis::Exports),
        ("circular", Analysis::Circular),
        ("impact", Analysis::Impact),
        ("full", Analysis::Full),
    ];
    const WORDS: &'static [&'static str] = &["imports", "exports", "circular", "impact", "full"];
}

impl<'de> Deserialize<'de> for AnalysisWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|(known, _)| *known == word);
        found.map(|(_, analysis)| Self(analysis)).ok_or_else(|| de::Error::unknown_variant(&word, Self::WORDS))
    }
}

impl PartialSchema for AnalysisWord {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(Self::WORDS.iter().copied())).into()
    }
}

/// A number from 0 to 1.
pub(super) struct Share(pub(super) f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let is_right = (0.0..=1.0).contains(&number);
        if is_right { Ok(Self(number)) } else { Err(de::Error::custom("a threshold must be a number from 0 to 1")) }
    }
}

impl PartialSchema for Share {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Number).minimum(Some(0)).maximum(Some(1)).into()
    }
}

impl ToSchema for Share {}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads<T: de::DeserializeOwned>(text: &str) -> bool {
        serde_json::from_value::<T>(text.into()).is_ok()
    }

    #[test]
    fn paths_stay_in_the_project() {
        assert!(reads::<FilePath>("src/a.rs") && reads::<FolderPath>("src/") && reads::<FolderPath>(""));
        for bad in ["", "/", "/etc/passwd", "../a", "a/../b", "a//b", "a\\b", ".git/config", "a\0"] {
            assert!(!reads::<FilePath>(bad), "{bad:?}");
        }
        for bad in ["/", "../", "a//", ".git/"] {
            assert!(!reads::<FolderPath>(bad), "{bad:?}");
        }
    }

    #[test]
    fn numbers_and_commits_are_strict() {
        assert!(reads::<VersionNumber>("1") && reads::<Depth>("64") && reads::<CommitId>(&"a1".repeat(20)));
        for bad in ["0", "-1", "+1", "1.0", "", "9007199254740992", "x"] {
            assert!(!reads::<VersionNumber>(bad), "{bad:?}");
        }
        for bad in ["HEAD", &"A1".repeat(20), &"a".repeat(39)] {
            assert!(!reads::<CommitId>(bad), "{bad:?}");
        }
        assert!(!reads::<Depth>("65"));
    }
}
