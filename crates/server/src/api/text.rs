//! Text from requests, validated while it is parsed. Each type states its rule once, for the parser and for the OpenAPI document.
//! No type accepts a NUL character, because PostgreSQL cannot store one.

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
        "a name must have 1 to 120 characters, no control characters, and not only spaces";
    OrgName, 1, NAME_CHARS_MAX, ORG_NAME, |text| is_printable(text) && text.chars().any(|c| c.is_ascii_alphanumeric()),
        "an org's name must have 1 to 120 characters, no control characters, and an ASCII letter or digit for its slug";
    Label, 1, NAME_CHARS_MAX, PRINTABLE, is_printable,
        "a label must have 1 to 120 characters and no control characters";
    AuthorName, 1, limits::AUTHOR_CHARS_MAX, PRINTABLE, is_printable,
        "an author or session must have 1 to 200 characters and no control characters";
    Email, 3, limits::EMAIL_CHARS_MAX, EMAIL, is_email,
        "an email address must have the form name@host, with 3 to 254 ASCII characters and no spaces";
    NewPassword, limits::PASSWORD_CHARS_MIN, limits::PASSWORD_CHARS_MAX, NO_NUL, has_no_nul,
        "a password must have 12 to 1000 characters and no NUL";
    Presented, 1, limits::PASSWORD_CHARS_MAX, NO_NUL, has_no_nul,
        "a credential must have 1 to 1000 characters and no NUL";
    RootPath, 1, limits::ROOT_CHARS_MAX, ROOT, |text| text.starts_with('/') && has_no_nul(text),
        "a root must be an absolute path of at most 4096 characters, without NUL";
    Cedar, 1, limits::POLICY_CHARS_MAX, NO_NUL, has_no_nul,
        "a policy must have 1 to 1000000 characters and no NUL";
    WebhookUrl, 10, limits::WEBHOOK_URL_CHARS_MAX, WEBHOOK_URL, is_webhook_url,
        "a webhook's URL must begin with http:// or https:// and have at most 2000 ASCII characters, without spaces";
    Question, 1, limits::QUERY_CHARS_MAX, NO_NUL, has_no_nul,
        "a question must have 1 to 50000 characters and no NUL";
    Description, 0, limits::DESCRIPTION_CHARS_MAX, NO_NUL, has_no_nul,
        "a description or note may have at most 500 characters and no NUL";
    EvaluationPrompt, 0, limits::EVALUATION_PROMPT_CHARS_MAX, NO_NUL, has_no_nul,
        "an evaluation prompt may have at most 10000 characters and no NUL; without one a version cannot be published";
}

const NO_NUL: &str = r"^[^\u0000]*$";
const PRINTABLE: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";
const NAME: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";
const ORG_NAME: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[A-Za-z0-9][^\u0000-\u001f\u007f-\u009f]*$";
const EMAIL: &str = r"^[!-?A-~]+@[!-?A-~]+$";
const ROOT: &str = r"^/[^\u0000]*$";

const WEBHOOK_URL: &str = r"^https?://[!-~]+$";

/// Checks only the form. Whether the server may connect to the host is checked later, with the operator's settings.
fn is_webhook_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic()))
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
    fn email_needs_a_name_and_a_host() {
        for good in ["a@b", "Ann.O'Neil+x@example.com"] {
            assert!(reads::<Email>(good), "{good:?}");
        }
        for bad in ["", "a@", "@b", "a b@c", "a@b@c", "é@b"] {
            assert!(!reads::<Email>(bad), "{bad:?}");
        }
    }

    #[test]
    fn no_text_type_accepts_a_nul() {
        assert!(!reads::<Presented>("a\0") && !reads::<RootPath>("/a\0") && !reads::<Label>("\0"));
        assert!(!reads::<NewPassword>("twelve chars\0") && !reads::<Description>("\0") && !reads::<EvaluationPrompt>("a\0"));
        assert!(reads::<EvaluationPrompt>("two\nlines") && !reads::<EvaluationPrompt>(&"x".repeat(10_001)));
    }
}
