//! Which entries of the audit trail.

use base::PageRequest;
use guard::AuditFilter;
use serde::Deserialize;
use utoipa::openapi::path::{Parameter, ParameterIn};
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
