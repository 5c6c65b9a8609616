//! An entry of the trail, from a row of the database or of a backup.

use std::borrow::Cow;

use audit::{Entry, Event};
use base::{Result, Timestamp};
use store::Row;

/// A row with the columns of `audit_events`. Its texts live for `'a`.
pub(crate) trait EntryRow<'a> {
    /// A text that is never null.
    fn text(&self, column: &str) -> Result<Cow<'a, str>>;
    /// A text or null.
    fn maybe(&self, column: &str) -> Result<Option<Cow<'a, str>>>;
    /// A number that is never null.
    fn int(&self, column: &str) -> Result<i64>;
}

/// A row of the database must not be used after its statement, so its texts are copied.
impl EntryRow<'static> for Row<'_> {
    fn text(&self, column: &str) -> Result<Cow<'static, str>> {
        self.get::<String>(column).map(Cow::Owned)
    }

    fn maybe(&self, column: &str) -> Result<Option<Cow<'static, str>>> {
        Ok(self.get::<Option<String>>(column)?.map(Cow::Owned))
    }

    fn int(&self, column: &str) -> Result<i64> {
        self.get(column)
    }
}

/// An entry of `workspace`'s trail.
pub(crate) fn entry_from_row<'a>(workspace: impl Into<Cow<'a, str>>, row: &impl EntryRow<'a>) -> Result<Entry<'a>> {
    // In the order of the statements' columns, which `Row` reads fastest.
    let sequence = row.int("sequence")?.unsigned_abs();
    let event = Event {
        id: row.text("id")?,
        workspace: workspace.into(),
        occurred_at: Timestamp::from_ms(row.int("occurred_at")?),
        event_type: row.text("event_type")?,
        actor_type: row.text("actor_type")?,
        actor_id: row.maybe("actor_id")?,
        entity_type: row.maybe("entity_type")?,
        entity_id: row.maybe("entity_id")?,
        request_id: row.maybe("request_id")?,
        payload: row.text("payload")?,
    };
    Ok(Entry {
        event,
        sequence,
        prev_hash: row.text("prev_hash")?,
        entry_hash: row.text("entry_hash")?,
        signature: row.text("signature")?,
        kid: row.text("kid")?,
    })
}
