//! Paging of lists by `limit`, `cursor` and `nextCursor`.

use base::limits::{PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX};
use base::{Cursor, PageRequest};
use serde::{Deserialize, Deserializer, de};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Required, Schema};
use utoipa::{IntoParams, PartialSchema};

use super::path::ORG_PATTERN;
use super::words::Status;

/// The pattern of [`Cursor::encode`].
const CURSOR: &str = "^[0-7][0-9a-f]{15}-[0-9A-Za-z_]{1,64}$";

/// Query parameters of a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl Page {
    /// The page for `guard`.
    pub(super) fn request(self) -> PageRequest {
        request(self.limit, self.cursor)
    }
}

pub(super) fn request(limit: Option<Rows>, cursor: Option<After>) -> PageRequest {
    PageRequest { rows: limit.map_or(PAGE_ROWS_DEFAULT, |rows| rows.0), after: cursor.map(|after| after.0) }
}

impl IntoParams for Page {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let rows = ObjectBuilder::new().schema_type(Type::Integer).default(Some(PAGE_ROWS_DEFAULT.into()));
        let rows = rows.minimum(Some(1)).maximum(Some(PAGE_ROWS_MAX));
        let cursor = ObjectBuilder::new().schema_type(Type::String).pattern(Some(CURSOR));
        vec![
            query("limit", "The number of rows.", rows),
            query("cursor", "The `nextCursor` of the previous page. Default: start with the newest rows.", cursor),
        ]
    }
}

/// `?org=` on a route without an org in its path. The access reads it; it is declared here so that it is accepted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrgQuery {
    #[serde(rename = "org")]
    _org: Option<String>,
}

impl IntoParams for OrgQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let org = ObjectBuilder::new().schema_type(Type::String).pattern(Some(ORG_PATTERN));
        vec![query("org", "The org's id or slug. Only the instance admin needs it; for others it is the credential's org.", org)]
    }
}

/// Query parameters of a page of bricks or kits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusPage {
    #[serde(rename = "org")]
    _org: Option<String>,
    status: Option<Status>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl StatusPage {
    /// The filter and the page for `kits`.
    pub(super) fn request(self) -> (Option<kits::Status>, PageRequest) {
        (self.status.map(|status| status.0), request(self.limit, self.cursor))
    }
}

impl IntoParams for StatusPage {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = OrgQuery::into_params(&place);
        parameters.push(query("status", "Only rows with this status.", Status::schema()));
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// An optional query parameter.
pub(super) fn query(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query).required(Required::False);
    parameter.description(Some(description)).schema(Some(schema)).build()
}

/// `limit`.
pub(super) struct Rows(u32);

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let rows = text.parse().ok().filter(|rows| digits && (1..=PAGE_ROWS_MAX).contains(rows));
        rows.map(Self).ok_or_else(|| de::Error::custom(format_args!("`limit` must be a whole number from 1 to {PAGE_ROWS_MAX}")))
    }
}

/// `cursor`.
pub(super) struct After(Cursor);

impl<'de> Deserialize<'de> for After {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let invalid = || de::Error::custom("invalid cursor; restart without one");
        Cursor::decode(&text).map(Self).ok_or_else(invalid)
    }
}

/// The items of a page as the API shows them, and the `nextCursor` of the answer.
pub(super) fn shown<T, V: From<T>>(page: base::Page<T>) -> (Vec<V>, Option<String>) {
    (page.items.into_iter().map(V::from).collect(), next_cursor(page.next.as_ref()))
}

/// The `nextCursor` of an answer.
pub(super) fn next_cursor(next: Option<&Cursor>) -> Option<String> {
    next.map(Cursor::encode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::Query;

    fn page(query: &str) -> Option<PageRequest> {
        let uri = format!("/api/orgs?{query}").parse().unwrap();
        Query::<Page>::try_from_uri(&uri).ok().map(|page| page.0.request())
    }

    #[test]
    fn limit_must_be_a_whole_number_in_range() {
        assert_eq!(page("").unwrap().rows, 50);
        assert_eq!(page("limit=200").unwrap().rows, 200);
        for bad in ["limit=0", "limit=201", "limit=", "limit=%2B5", "limit=5.0", "limit=1&limit=2", "limit=x", "rows=1"] {
            assert!(page(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn only_our_own_cursors_are_accepted() {
        let cursor = Cursor { created_at: base::Timestamp::from_ms(1), id: "prj_1".into() };
        assert_eq!(page(&format!("cursor={}", cursor.encode())).unwrap().after, Some(cursor));
        assert!(page("cursor=").is_none() && page("cursor=x").is_none());
    }
}
