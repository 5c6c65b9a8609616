//! Which entries of the trail: as a person says it, and as the API takes it.

use anyhow::{Result, bail};
use base::Timestamp;
use clap::Args;
use serde_json::Value;

use super::actor;
use crate::client::encode;
use crate::commands::ListArgs;
use crate::duration::parse_seconds;
use crate::workplace::Workplace;

/// Which entries.
#[derive(Args, Debug)]
pub(super) struct FilterArgs {
    /// Only events of this type, such as call.refused or policy.saved
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// Only what this session, agent, key or person did, by id, name or address
    #[arg(long, value_name = "ACTOR")]
    actor: Option<String>,
    /// Only what happened to this: a tool's name, an id, a policy
    #[arg(long, value_name = "ID")]
    entity: Option<String>,
    /// Only what this request did: the answer's x-request-id
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Not before this time: 2h or 7d ago, or a time in RFC 3339
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before this time: 2h or 7d ago, or a time in RFC 3339
    #[arg(long, value_name = "TIME", conflicts_with = "follow")]
    until: Option<String>,
    /// Go on with new entries as they come
    #[arg(long)]
    pub(super) follow: bool,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// A filter as the API takes it.
pub(super) struct Filter {
    event_type: Option<String>,
    actor: Option<String>,
    entity: Option<String>,
    request: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

impl FilterArgs {
    /// With ids in the place of names, and times in the place of spans.
    pub(super) async fn resolve(&self, place: &Workplace, now: Timestamp) -> Result<Filter> {
        let since = self.since.as_deref().map(|text| moment(text, now)).transpose()?;
        let until = self.until.as_deref().map(|text| moment(text, now)).transpose()?;
        let actor = match &self.actor {
            Some(named) => Some(actor::id_of(place, named).await?),
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

    /// Whether an entry that has just come is one of those that are asked for.
    pub(super) fn passes(&self, entry: &Value) -> bool {
        let asked =
            [("eventType", &self.event_type), ("actorId", &self.actor), ("entityId", &self.entity), ("requestId", &self.request)];
        asked.iter().all(|(name, value)| value.is_none() || entry.get(name).and_then(Value::as_str) == value.as_deref())
    }
}

/// A time that was: a span before now, a day's beginning, or the time itself.
pub(super) fn moment(text: &str, now: Timestamp) -> Result<String> {
    if let Ok(seconds) = parse_seconds(text) {
        let ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        return Ok(now.plus_ms(ms.saturating_neg()).rfc3339());
    }
    match Timestamp::parse_rfc3339(text).or_else(|| Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z"))) {
        Some(time) => Ok(time.rfc3339()),
        None => bail!("`{text}` is no time: write 2h, 7d, 2026-11-30, or 2026-11-30T12:00:00Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_spans_ago_or_themselves() {
        let now = Timestamp::parse_rfc3339("2026-11-15T12:00:00Z").unwrap();
        assert_eq!(moment("2h", now).unwrap(), "2026-11-15T10:00:00.000Z");
        assert_eq!(moment("2026-11-01T00:00:00Z", now).unwrap(), "2026-11-01T00:00:00.000Z");
        assert!(moment("yesterday", now).unwrap_err().to_string().contains("`yesterday` is no time"));
    }

    #[test]
    fn what_comes_is_filtered_as_what_is_listed() {
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
        assert!(!filter(Some("key.minted"), None).passes(&entry) && !filter(Some("call.refused"), Some("agt_2")).passes(&entry));
    }
}
