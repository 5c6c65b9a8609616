//! What a model expects before a query and before a text. E5 wants `query: ` and `passage: `, for example.

use std::borrow::Cow;

use base::limits::EMBED_PREFIX_CHARS_MAX;
use base::{Error, Result};

use crate::config::EmbedEndpoint;

/// The prefixes of an endpoint's model. Both are empty for most models.
#[derive(Debug)]
pub(super) struct Prefixes {
    query: Prefix,
    text: Prefix,
}

/// What comes before each query, or before each text.
#[derive(Debug)]
pub(super) struct Prefix(String);

impl Prefixes {
    /// Validates the operator's prefixes. Spaces stay as they are, because models are trained with them.
    pub(super) fn new(endpoint: &EmbedEndpoint) -> Result<Self> {
        Ok(Self {
            query: Prefix(checked(&endpoint.query_prefix, "embed_query_prefix", "--embed-query-prefix")?),
            text: Prefix(checked(&endpoint.text_prefix, "embed_text_prefix", "--embed-text-prefix")?),
        })
    }

    /// The prefix of queries.
    pub(super) fn query(&self) -> &Prefix {
        &self.query
    }

    /// The prefix of texts.
    pub(super) fn text(&self) -> &Prefix {
        &self.text
    }

    /// The name that vectors of texts are stored under. It includes everything that affects them, so the prefix of texts is part of
    /// it. The prefix of queries is not: a vector of a query is never stored.
    pub(super) fn stored_name(&self, name: &str, dimension: usize) -> String {
        match self.text.0.as_str() {
            "" => format!("{name}/{dimension}"),
            // Quoted and escaped, so that two settings never have the same name.
            prefix => format!("{name}/{dimension} {prefix:?}"),
        }
    }
}

impl Prefix {
    /// The prefix and the words after it.
    pub(super) fn before<'a>(&self, words: &'a str) -> Cow<'a, str> {
        if self.0.is_empty() { Cow::Borrowed(words) } else { Cow::Owned(format!("{}{words}", self.0)) }
    }
}

fn checked(prefix: &str, member: &'static str, flag: &str) -> Result<String> {
    // Instructions for some models have several lines.
    let is_plain = prefix.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    if is_plain && prefix.chars().count() <= EMBED_PREFIX_CHARS_MAX {
        return Ok(prefix.to_owned());
    }
    let message = format!(
        "a prefix for the embedder must have at most {EMBED_PREFIX_CHARS_MAX} characters, and no control characters except line \
         breaks and tabs; correct {flag}"
    );
    Err(Error::invalid(member, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EmbedKey;

    fn prefixes(query: &str, text: &str) -> Result<Prefixes> {
        Prefixes::new(&EmbedEndpoint {
            url: "http://127.0.0.1:9/v1".into(),
            model: "m".into(),
            dimension: None,
            query_prefix: query.into(),
            text_prefix: text.into(),
            key: EmbedKey::None,
        })
    }

    #[test]
    fn each_prefix_comes_before_its_own_kind() {
        let e5 = prefixes("query: ", "passage: ").unwrap();
        assert_eq!(e5.query().before("who"), "query: who");
        assert_eq!(e5.text().before("me"), "passage: me");
        let none = prefixes("", "").unwrap();
        assert!(matches!(none.query().before("who"), Cow::Borrowed("who")));
        assert!(matches!(none.text().before("me"), Cow::Borrowed("me")));
    }

    #[test]
    fn only_the_prefix_of_texts_is_part_of_the_stored_name() {
        let name = |query: &str, text: &str| prefixes(query, text).unwrap().stored_name("m@host/v1", 8);
        assert_eq!(name("", ""), "m@host/v1/8");
        assert_eq!(name("query: ", ""), "m@host/v1/8");
        assert_eq!(name("query: ", "passage: "), r#"m@host/v1/8 "passage: ""#);
        let texts = ["", " ", "passage: ", "passage:", "passage:\n", "\"", "\\\"", "/8", " \"passage: "];
        let names: std::collections::HashSet<_> = texts.map(|text| name("", text)).into_iter().collect();
        assert_eq!(names.len(), texts.len(), "{names:?}");
    }

    #[test]
    fn a_prefix_is_short_and_printable() {
        assert!(prefixes("Instruct: find\nQuery:\t", &"é".repeat(EMBED_PREFIX_CHARS_MAX)).is_ok());
        let long = "a".repeat(EMBED_PREFIX_CHARS_MAX + 1);
        for (query, text, flag) in [
            (long.as_str(), "", "--embed-query-prefix"),
            ("", long.as_str(), "--embed-text-prefix"),
            ("", "nul \0", "--embed-text-prefix"),
            ("bell \u{7}", "", "--embed-query-prefix"),
        ] {
            assert!(prefixes(query, text).unwrap_err().to_string().contains(flag));
        }
    }
}
