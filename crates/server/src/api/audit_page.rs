//! Which entries of the audit trail.

use base::PageRequest;
use guard::AuditFilter;
use serde::{Deserialize, Deserializer, de};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{IntoParams, PartialSchema};

use super::error::{ApiError, Result};
use super::page::{After, OrgQuery, Page, Rows, query, request};
use super::text::Label;
use super::wire::Time;

/// The filters of `GET /api/audit`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AuditPage {
    #[serde(rename = "org")]
    _org: Option<String>,
    event_type: Option<Label>,
    actor_id: Option<Label>,
    entity_id: Option<Label>,
    request_id: Option<Label>,
    since: Option<Time>,
    until: Option<Time>,
    after: Option<Number>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

/// The number of an entry; 0 comes before the first.
pub(super) struct Number(u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.parse().ok().filter(|number| *number <= i64::MAX.unsigned_abs());
        number.map(Self).ok_or_else(|| de::Error::custom("`after` is the number of an entry, or 0"))
    }
}

/// What of the trail is asked for.
pub(super) enum Asked {
    /// Entries that pass a filter, newest first.
    Back(AuditFilter, PageRequest),
    /// All entries with a higher number than this, oldest first, and how many at most.
    On(u64, u32),
}

impl AuditPage {
    /// What the trail is asked.
    pub(super) fn request(self) -> Result<Asked> {
        let filter = AuditFilter {
            event_type: self.event_type.map(|text| text.0),
            actor: self.actor_id.map(|text| text.0),
            entity: self.entity_id.map(|text| text.0),
            request: self.request_id.map(|text| text.0),
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
        };
        let is_filtered = filter != AuditFilter::default() || self.cursor.is_some();
        let page = request(self.limit, self.cursor);
        match self.after {
            Some(_) if is_filtered => Err(ApiError::invalid("`after` goes with `limit` alone: filter the entries as they come")),
            Some(number) => Ok(Asked::On(number.0, page.rows)),
            None => Ok(Asked::Back(filter, page)),
        }
    }
}

impl IntoParams for AuditPage {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = OrgQuery::into_params(&place);
        for (name, description) in [
            ("eventType", "Only what happened in this way, such as `call.refused` or `key.minted`."),
            ("actorId", "Only what this session, agent, key or person did."),
            ("entityId", "Only what happened to this: a tool's name, an id, a policy."),
            ("requestId", "Only what this request did: the answer's `x-request-id`."),
        ] {
            parameters.push(query(name, description, Label::schema()));
        }
        parameters.push(query("since", "Not before this time.", Time::schema()));
        parameters.push(query("until", "Before this time.", Time::schema()));
        let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
        let meaning = "All entries after this number, oldest first: for following the trail. Goes with `limit` alone.";
        parameters.push(query("after", meaning, number));
        parameters.extend(Page::into_params(&place));
        parameters
    }
}
