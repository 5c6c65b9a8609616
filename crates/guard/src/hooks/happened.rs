//! Audit entries as events for followers of the trail.

use base::{OrgId, Result, Timestamp, limits};
use serde_json::Value;
use store::{OrgStore, Row, params};

use crate::audit;

/// An event in an org.
#[derive(Clone, Debug)]
pub struct Happened {
    /// Its sequence number in the org's trail, from 1.
    pub sequence: i64,
    /// Its id.
    pub id: String,
    /// When it happened.
    pub at: Timestamp,
    /// The event type (`call.completed`, `key.minted`).
    pub event_type: String,
    /// The type of the actor.
    pub actor_type: String,
    /// The actor.
    pub actor_id: Option<String>,
    /// The type of the entity.
    pub entity_type: Option<String>,
    /// The entity.
    pub entity_id: Option<String>,
    /// The request.
    pub request_id: Option<String>,
    /// Details, as an object.
    pub payload: Value,
}

impl Happened {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            sequence: row.get("sequence")?,
            id: row.get("id")?,
            at: row.get("occurred_at")?,
            event_type: row.get("event_type")?,
            actor_type: row.get("actor_type")?,
            actor_id: row.get("actor_id")?,
            entity_type: row.get("entity_type")?,
            entity_id: row.get("entity_id")?,
            request_id: row.get("request_id")?,
            // We wrote the payload ourselves. If it cannot be parsed, the rest is still useful and must not block the queue.
            payload: serde_json::from_str(row.text("payload")?).unwrap_or_default(),
        })
    }

    /// A text member of the payload.
    pub fn text(&self, member: &str) -> Option<&str> {
        self.payload.get(member).and_then(Value::as_str)
    }

    /// The outcome of a call: the event type without its prefix. `None` for other events.
    pub fn call_state(&self) -> Option<&str> {
        self.event_type.strip_prefix("call.")
    }

    /// The kind of a failed call's error.
    pub fn error_kind(&self) -> Option<&str> {
        self.payload.pointer("/error/kind").and_then(Value::as_str)
    }

    /// Whether a call failed after its change was committed. An earlier entry records the change.
    pub fn effect_stands(&self) -> bool {
        self.payload.get("effectStands").and_then(Value::as_bool).unwrap_or(false)
    }

    /// How long the call took.
    pub fn duration_us(&self) -> i64 {
        let ms = self.payload.get("durationMs").and_then(Value::as_f64).unwrap_or(0.0);
        (ms * 1_000.0).round() as i64
    }

    /// When the call began.
    pub fn started_at(&self) -> Timestamp {
        self.text("startedAt").and_then(Timestamp::parse_rfc3339).unwrap_or(self.at)
    }
}

/// A batch of events after `sequence`, oldest first.
pub(super) async fn after(rows: &OrgStore, sequence: i64) -> Result<Vec<Happened>> {
    let params = params![sequence, i64::MAX, limits::RELAY_EVENTS_MAX];
    rows.query(audit::sql::AFTER, &params, Happened::from_row).await
}

/// The event at `sequence`.
pub(super) async fn at(rows: &OrgStore, sequence: i64) -> Result<Option<Happened>> {
    let before = sequence.saturating_sub(1);
    rows.first(audit::sql::AFTER, &params![before, sequence, 1_u32], Happened::from_row).await
}

/// The last sequence number of an org's trail.
pub(super) async fn newest(rows: &OrgStore) -> Result<i64> {
    Ok(rows.first(audit::sql::LAST, &[], |row| row.get::<i64>("sequence")).await?.unwrap_or(0))
}

impl crate::guard::Guard {
    /// Waits until an org's trail has grown on this node.
    pub async fn hooks_told(&self) {
        self.ledger.wake.told().await;
    }

    /// The orgs whose trail has grown on this node since the last call.
    pub fn hooks_news(&self) -> impl Iterator<Item = OrgId> + use<> {
        self.ledger.wake.take().into_iter()
    }
}
