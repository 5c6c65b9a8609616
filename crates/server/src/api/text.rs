//! Text from outside, checked as it is read. Each kind states its rule once: the reader enforces it, and the OpenAPI document
//! prints it. No kind lets a NUL character through, which one of the two engines cannot keep.

use base::limits::{self, NAME_CHARS_MAX};
use serde::{Deserialize, Deserializer, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

macro_rules! texts {
    ($($name:ident, $chars_min:expr, $chars_max:expr, $pattern:expr, $fits:expr, $meaning:literal;)*) => {$(
        #[doc = $meaning]
        pub(super) struct $name(pub(super) String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let long_enough = ($chars_min..=$chars_max).contains(&text.chars().count());
                let fits: fn(&str) -> bool = $fits;
                if long_enough && fits(&text) { Ok(Self(text)) } else { Err(de::Error::custom($meaning)) }
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                text_schema($chars_min, $chars_max, $pattern, $meaning)
            }
        }

        impl ToSchema for $name {}
    )*};
}

fn text_schema(chars_min: usize, chars_max: usize, pattern: &str, meaning: &str) -> RefOr<Schema> {
    let schema = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).description(Some(meaning));
    schema.min_length(Some(chars_min)).max_length(Some(chars_max)).into()
}

texts! {
    Name, 1, NAME_CHARS_MAX, NAME, |text| is_printable(text) && text.chars().any(|c| !c.is_whitespace()),
        "a name has 1 to 120 characters, no control characters, and not only spaces";
    OrgName, 1, NAME_CHARS_MAX, ORG_NAME, |text| is_printable(text) && text.chars().any(|c| c.is_ascii_alphanumeric()),
        "an org's name has 1 to 120 characters, no control characters, and a letter or digit of ASCII for its slug";
    Label, 1, NAME_CHARS_MAX, PRINTABLE, is_printable,
        "a label has 1 to 120 characters and no control characters";
    AuthorName, 1, limits::AUTHOR_CHARS_MAX, PRINTABLE, is_printable,
        "an author or a session has 1 to 200 characters and no control characters";
    Email, 3, EMAIL_CHARS_MAX, EMAIL, is_email,
        "an address has the form name@host, 3 to 254 characters of ASCII without spaces";
    NewPassword, PASSWORD_CHARS_MIN, PASSWORD_CHARS_MAX, NO_NUL, has_no_nul,
        "a password has 12 to 1000 characters and no NUL";
    Presented, 1, PASSWORD_CHARS_MAX, NO_NUL, has_no_nul,
        "a presented credential has 1 to 1000 characters and no NUL";
    RootPath, 1, PATH_CHARS_MAX, ROOT, |text| text.starts_with('/') && has_no_nul(text),
        "a root is an absolute path of at most 4096 characters, without NUL";
    Cedar, 1, limits::POLICY_CHARS_MAX, NO_NUL, has_no_nul,
        "a policy's text has 1 to 1000000 characters and no NUL";
    WebhookUrl, 10, limits::WEBHOOK_URL_CHARS_MAX, WEBHOOK_URL, is_webhook_url,
        "a webhook's address begins with http:// or https:// and has at most 2000 characters of ASCII without spaces";
    EventName, 3, NAME_CHARS_MAX, EVENT, is_event_name,
        "an event is pre-verb, post-verb, verb-error, a type such as key.minted, or a family such as policy.*";
    Question, 1, limits::QUERY_CHARS_MAX, NO_NUL, has_no_nul,
        "a question has 1 to 50000 characters and no NUL";
    Description, 0, limits::DESCRIPTION_CHARS_MAX, NO_NUL, has_no_nul,
        "a description or note has at most 500 characters and no NUL";
    EvaluationPrompt, 0, limits::EVALUATION_PROMPT_CHARS_MAX, NO_NUL, has_no_nul,
        "an evaluation prompt has at most 10000 characters and no NUL; a version without one cannot be published";
}

/// What guard takes: the longest address that mail can have, and passwords between guessable and pointless.
const EMAIL_CHARS_MAX: usize = 254;
const PASSWORD_CHARS_MIN: usize = 12;
const PASSWORD_CHARS_MAX: usize = 1_000;
/// Linux's own limit for a path.
const PATH_CHARS_MAX: usize = 4_096;

const NO_NUL: &str = r"^[^\u0000]*$";
const PRINTABLE: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";
const NAME: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";
const ORG_NAME: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[A-Za-z0-9][^\u0000-\u001f\u007f-\u009f]*$";
const EMAIL: &str = r"^[!-?A-~]+@[!-?A-~]+$";
const ROOT: &str = r"^/[^\u0000]*$";

const WEBHOOK_URL: &str = r"^https?://[!-~]+$";
const EVENT: &str = r"^(pre-verb|post-verb|verb-error|[a-z0-9_]+\.([a-z0-9_.]+|\*))$";

/// Whether the server may go there is asked when it is known who the operator allows.
fn is_webhook_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic()))
}

fn is_event_name(text: &str) -> bool {
    let word = |text: &str, more: &[u8]| {
        let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || more.contains(&byte);
        !text.is_empty() && text.bytes().all(is_part)
    };
    let is_type = || text.split_once('.').is_some_and(|(family, rest)| word(family, b"") && (rest == "*" || word(rest, b".")));
    matches!(text, "pre-verb" | "post-verb" | "verb-error") || is_type()
}

fn has_no_nul(text: &str) -> bool {
    !text.contains('\0')
}

fn is_printable(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

fn is_email(text: &str) -> bool {
    let part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'@');
    text.split_once('@').is_some_and(|(name, host)| part(name) && part(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads<T: de::DeserializeOwned>(text: &str) -> bool {
        serde_json::from_value::<T>(text.into()).is_ok()
    }

    #[test]
    fn names_are_printable_and_not_blank() {
        for good in ["a", " Acme Inc. ", "日本", &"x".repeat(120)] {
            assert!(reads::<Name>(good), "{good:?}");
        }
        for bad in ["", "  ", "\u{3000}", "a\0", "a\n", "\u{85}a", &"x".repeat(121)] {
            assert!(!reads::<Name>(bad), "{bad:?}");
        }
        assert!(reads::<OrgName>("日本 1") && !reads::<OrgName>("日本"));
    }

    #[test]
    fn addresses_have_a_name_and_a_host() {
        for good in ["a@b", "Ann.O'Neil+x@example.com"] {
            assert!(reads::<Email>(good), "{good:?}");
        }
        for bad in ["", "a@", "@b", "a b@c", "a@b@c", "é@b"] {
            assert!(!reads::<Email>(bad), "{bad:?}");
        }
    }

    #[test]
    fn events_are_phases_types_and_families() {
        for good in ["pre-verb", "verb-error", "key.minted", "audit.key_rotated", "policy.*", "a.b.c"] {
            assert!(reads::<EventName>(good), "{good:?}");
        }
        for bad in ["", "*", "pre_verb", "key", "key.", ".minted", "key.min*", "Key.minted", "key.*.x", "a b.c"] {
            assert!(!reads::<EventName>(bad), "{bad:?}");
        }
    }

    #[test]
    fn no_text_holds_a_nul() {
        assert!(!reads::<Presented>("a\0") && !reads::<RootPath>("/a\0") && !reads::<Label>("\0"));
        assert!(!reads::<NewPassword>("twelve chars\0") && !reads::<Description>("\0") && !reads::<EvaluationPrompt>("a\0"));
        assert!(reads::<EvaluationPrompt>("two\nlines") && !reads::<EvaluationPrompt>(&"x".repeat(10_001)));
    }
}
