//! Query parameters of the audit routes.

use base::near::nearest;
use base::{EventChoice, PageRequest};
use guard::AuditFilter;
use serde::{Deserialize, Deserializer, de};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema};

use super::page::{After, OrgQuery, Page, Rows, query, request};
use super::text::Label;
use super::wire::{SEQUENCE_MAX, Time};

/// The filters of `GET /api/audit`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AuditPage {
    #[serde(rename = "org")]
    _org: Option<String>,
    event_type: Option<EventFilter>,
    actor_id: Option<Label>,
    entity_id: Option<Label>,
    request_id: Option<Label>,
    since: Option<Time>,
    until: Option<Time>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl AuditPage {
    /// The filter and the page for `guard`.
    pub(super) fn request(self) -> (AuditFilter, PageRequest) {
        let filter = AuditFilter {
            event_type: self.event_type.map(|choice| choice.0),
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
        let event_types = "Only events of this type, such as `call.refused`, or of this family, such as `policy.*`.";
        parameters.push(query("eventType", event_types, EventFilter::schema()));
        for (name, description) in [
            ("actorId", "Only events caused by this session, agent, key or user."),
            ("entityId", "Only events about this entity: a tool's name, an id or a policy."),
            ("requestId", "Only events of this request, by its `x-request-id`."),
        ] {
            parameters.push(query(name, description, Label::schema()));
        }
        parameters.push(query("since", "Only events at or after this time.", Time::schema()));
        parameters.push(query("until", "Only events before this time.", Time::schema()));
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// An event type, or a family of them.
struct EventFilter(EventChoice);

impl<'de> Deserialize<'de> for EventFilter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wanted = String::deserialize(deserializer)?;
        EventChoice::parse(&wanted).map(Self).ok_or_else(|| {
            let known = EventChoice::words();
            let hint = match nearest(&wanted, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "use an event type (`key.minted`) or a family (`policy.*`)".to_owned(),
            };
            de::Error::custom(format!("there is no event type `{wanted}`; {hint}"))
        })
    }
}

impl PartialSchema for EventFilter {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(EventChoice::words())).into()
    }
}

/// Query parameters of `GET /api/audit/newer`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewerPage {
    #[serde(rename = "org")]
    _org: Option<String>,
    after: Option<Number>,
    limit: Option<Rows>,
}

impl NewerPage {
    /// The sequence number to start after, and the page size.
    pub(super) fn request(self) -> (u64, u32) {
        (self.after.map_or(0, |number| number.0), request(self.limit, None).rows)
    }
}

/// The sequence number of an entry. 0 is before the first.
struct Number(u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && *number <= SEQUENCE_MAX);
        number.map(Self).ok_or_else(|| de::Error::custom("`after` must be the sequence number of an entry, or 0"))
    }
}

impl IntoParams for NewerPage {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(SEQUENCE_MAX));
        let mut parameters = OrgQuery::into_params(&place);
        parameters.push(query(
            "after",
            "The sequence number of the last entry you have. Default: start at the first entry.",
            number,
        ));
        parameters.extend(Page::into_params(&place).into_iter().filter(|parameter| parameter.name == "limit"));
        parameters
    }
}
