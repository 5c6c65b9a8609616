//! An entry of the trail, as those who follow from it read it.

use base::{OrgId, Result, Timestamp, limits};
use serde_json::Value;
use store::{OrgStore, Row, params};

use crate::audit;

/// Something that happened in an org.
#[derive(Clone, Debug)]
pub struct Happened {
    /// Its place in the org's trail, from 1.
    pub sequence: i64,
    /// Its id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What (`call.completed`, `key.minted`).
    pub event_type: String,
    /// What kind of actor did it.
    pub actor_type: String,
    /// Who.
    pub actor_id: Option<String>,
    /// What kind of thing it was done to.
    pub entity_type: Option<String>,
    /// To what.
    pub entity_id: Option<String>,
    /// In which request.
    pub request_id: Option<String>,
    /// What else is known; an object.
    pub payload: Value,
}

impl Happened {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            sequence: row.get(0)?,
            id: row.get(1)?,
            at: row.get(2)?,
            event_type: row.get(3)?,
            actor_type: row.get(4)?,
            actor_id: row.get(5)?,
            entity_type: row.get(6)?,
            entity_id: row.get(7)?,
            request_id: row.get(8)?,
            // It was written by us. Should it not read, the rest is still worth telling, and the queue must not stop for it.
            payload: serde_json::from_str(row.text(9)?).unwrap_or_default(),
        })
    }

    /// A member of the payload that is text.
    pub fn text(&self, member: &str) -> Option<&str> {
        self.payload.get(member).and_then(Value::as_str)
    }

    /// How the call ended, if this is one: the event's type without its prefix.
    pub fn call_state(&self) -> Option<&str> {
        self.event_type.strip_prefix("call.")
    }

    /// The name of the failure's kind, if this is a call that failed with one.
    pub fn error_kind(&self) -> Option<&str> {
        self.payload.pointer("/error/kind").and_then(Value::as_str)
    }

    /// Whether this is a call that did not end well after what it changed was made, which an earlier entry tells.
    pub fn effect_stands(&self) -> bool {
        self.payload.get("effectStands").and_then(Value::as_bool).unwrap_or(false)
    }

    /// When the call began.
    pub fn started_at(&self) -> Timestamp {
        self.text("startedAt").and_then(Timestamp::parse_rfc3339).unwrap_or(self.at)
    }
}

/// Events after `sequence`, oldest first, as many as are handed on at once.
pub(super) async fn after(rows: &OrgStore, sequence: i64) -> Result<Vec<Happened>> {
    let params = params![sequence, i64::MAX, limits::RELAY_EVENTS_MAX];
    rows.query(audit::sql::AFTER, &params, Happened::from_row).await
}

/// The one event at `sequence`.
pub(super) async fn at(rows: &OrgStore, sequence: i64) -> Result<Option<Happened>> {
    let before = sequence.saturating_sub(1);
    rows.first(audit::sql::AFTER, &params![before, sequence, 1_u32], Happened::from_row).await
}

/// Where an org's trail ends.
pub(super) async fn newest(rows: &OrgStore) -> Result<i64> {
    Ok(rows.first(audit::sql::LAST, &[], |row| row.get::<i64>(0)).await?.unwrap_or(0))
}

impl crate::guard::Guard {
    /// Waits until some org's trail has grown on this node.
    pub async fn hooks_told(&self) {
        self.ledger.wake.told().await;
    }

    /// The orgs whose trail has grown on this node since the last time.
    pub fn hooks_news(&self) -> impl Iterator<Item = OrgId> + use<> {
        self.ledger.wake.take().into_iter()
    }
}
