//! Which entries of the audit trail.

use base::PageRequest;
use guard::AuditFilter;
use serde::{Deserialize, Deserializer, de};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{IntoParams, PartialSchema};

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
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl AuditPage {
    /// What the trail is asked.
    pub(super) fn request(self) -> (AuditFilter, PageRequest) {
        let filter = AuditFilter {
            event_type: self.event_type.map(|text| text.0),
            actor: self.actor_id.map(|text| text.0),
            entity: self.entity_id.map(|text| text.0),
            request: self.request_id.map(|text| text.0),
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
        };
        (filter, request(self.limit, self.cursor))
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
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// The largest number that JSON carries without loss; no trail has so many entries.
const NUMBER_MAX: u64 = (1 << 53) - 1;

/// What `GET /api/audit/newer` takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewerPage {
    #[serde(rename = "org")]
    _org: Option<String>,
    after: Option<Number>,
    limit: Option<Rows>,
}

impl NewerPage {
    /// The number that the entries come after, and how many at most.
    pub(super) fn request(self) -> (u64, u32) {
        (self.after.map_or(0, |number| number.0), request(self.limit, None).rows)
    }
}

/// The number of an entry; 0 comes before the first.
struct Number(u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && *number <= NUMBER_MAX);
        number.map(Self).ok_or_else(|| de::Error::custom("`after` is the number of an entry, or 0"))
    }
}

impl IntoParams for NewerPage {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(NUMBER_MAX));
        let mut parameters = OrgQuery::into_params(&place);
        parameters.push(query("after", "The number of the last entry that is known; without it all are new.", number));
        parameters.extend(Page::into_params(&place).into_iter().filter(|parameter| parameter.name == "limit"));
        parameters
    }
}
