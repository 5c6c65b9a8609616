//! Filters for audit entries, from the command line and for the API.

use anyhow::{Result, bail};
use base::event::is_of;
use base::{AgentId, KeyId, SessionId, Timestamp, UserId};
use clap::Args;
use serde_json::Value;

use crate::client::encode;
use crate::commands::ListArgs;
use crate::duration::parse_seconds;
use crate::workplace::Workplace;

/// The instance admin's id in the audit trail.
const OPERATOR: &str = "instance-admin";

/// The lists to search, and the field that holds the name.
const NAMED: [(&str, &str); 3] = [("agents", "name"), ("keys", "name"), ("users", "email")];

/// Selects audit entries.
#[derive(Args, Debug)]
pub(super) struct FilterArgs {
    /// Only events of this type, such as call.refused, or of this family, such as policy.*
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// Only actions of this session, agent, key or user, by id, name or email
    #[arg(long, value_name = "ACTOR")]
    actor: Option<String>,
    /// Only events about this tool, id or policy
    #[arg(long, value_name = "ID")]
    entity: Option<String>,
    /// Only events of this request, by the x-request-id of its response
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Start: 2h or 7d ago, or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// End (exclusive): 2h or 7d ago, or an RFC 3339 time
    #[arg(long, value_name = "TIME", conflicts_with = "follow")]
    until: Option<String>,
    /// Keep printing new entries
    #[arg(long)]
    pub(super) follow: bool,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// A filter for the API.
pub(super) struct Filter {
    event_type: Option<String>,
    actor: Option<String>,
    entity: Option<String>,
    request: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

impl FilterArgs {
    /// Resolves names to ids, and durations to times.
    pub(super) async fn resolve(&self, place: &Workplace, now: Timestamp) -> Result<Filter> {
        let since = self.since.as_deref().map(|text| parse_past(text, now)).transpose()?;
        let until = self.until.as_deref().map(|text| parse_past(text, now)).transpose()?;
        let actor = match &self.actor {
            Some(named) => Some(actor_id(place, named).await?),
            None => None,
        };
        let (event_type, entity, request) = (self.event_type.clone(), self.entity.clone(), self.request.clone());
        Ok(Filter { event_type, actor, entity, request, since, until })
    }
}

impl Filter {
    pub(super) fn path(&self, place: &Workplace) -> String {
        let mut path = place.query("/api/audit");
        for (name, value) in [
            ("eventType", &self.event_type),
            ("actorId", &self.actor),
            ("entityId", &self.entity),
            ("requestId", &self.request),
            ("since", &self.since),
            ("until", &self.until),
        ] {
            if let Some(value) = value {
                path.push_str(&format!("&{name}={}", encode(value)));
            }
        }
        path
    }

    /// Whether a new entry matches the filter.
    pub(super) fn passes(&self, entry: &Value) -> bool {
        let member = |name: &str| entry.get(name).and_then(Value::as_str);
        let asked = [("actorId", &self.actor), ("entityId", &self.entity), ("requestId", &self.request)];
        let is_wanted = |wanted: &String| member("eventType").is_some_and(|event_type| is_of(event_type, wanted));
        self.event_type.as_ref().is_none_or(is_wanted)
            && asked.iter().all(|(name, value)| value.is_none() || member(name) == value.as_deref())
    }
}

/// The id of `--actor` in the audit trail. `named` is an id, the name of an agent or key, or a user's email.
async fn actor_id(place: &Workplace, named: &str) -> Result<String> {
    let prefixes = [SessionId::PREFIX, AgentId::PREFIX, KeyId::PREFIX, UserId::PREFIX];
    if named == OPERATOR || prefixes.iter().any(|prefix| named.starts_with(prefix)) {
        return Ok(named.to_owned());
    }
    let mut found = Vec::new();
    for (member, label) in NAMED {
        found.extend(place.ids_called(&place.path(&format!("/{member}")), member, &[label], named).await?);
    }
    match found.as_slice() {
        [id] => Ok(id.clone()),
        [] => bail!(
            "no agent, key or user of org `{}` is named `{named}`; run `toolcrib agent list`, `toolcrib key list` or \
             `toolcrib user list`",
            place.org
        ),
        several => bail!("several actors are named `{named}`; use an id: {}", several.join(", ")),
    }
}

/// Parses a past time: a duration before now, a date (its start), or an RFC 3339 time.
pub(super) fn parse_past(text: &str, now: Timestamp) -> Result<String> {
    if let Ok(seconds) = parse_seconds(text) {
        let ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        return Ok(now.plus_ms(ms.saturating_neg()).rfc3339());
    }
    match Timestamp::parse_rfc3339(text).or_else(|| Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z"))) {
        Some(time) => Ok(time.rfc3339()),
        None => bail!("`{text}` is not a time; write 2h, 7d, 2026-11-30, or 2026-11-30T12:00:00Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_durations_or_rfc_3339() {
        let now = Timestamp::parse_rfc3339("2026-11-15T12:00:00Z").unwrap();
        assert_eq!(parse_past("2h", now).unwrap(), "2026-11-15T10:00:00.000Z");
        assert_eq!(parse_past("2026-11-01T00:00:00Z", now).unwrap(), "2026-11-01T00:00:00.000Z");
        assert!(parse_past("yesterday", now).unwrap_err().to_string().contains("`yesterday` is not a time"));
    }

    #[test]
    fn new_entries_are_filtered_by_type_and_actor() {
        let filter = |event_type: Option<&str>, actor: Option<&str>| Filter {
            event_type: event_type.map(str::to_owned),
            actor: actor.map(str::to_owned),
            entity: None,
            request: None,
            since: None,
            until: None,
        };
        let entry = json!({"eventType": "call.refused", "actorId": "agt_1", "entityId": null});
        assert!(filter(None, None).passes(&entry) && filter(Some("call.refused"), Some("agt_1")).passes(&entry));
        assert!(filter(Some("call.*"), None).passes(&entry) && !filter(Some("key.*"), None).passes(&entry));
        assert!(!filter(Some("key.minted"), None).passes(&entry) && !filter(Some("call.refused"), Some("agt_2")).passes(&entry));
    }
}
