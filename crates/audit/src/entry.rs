//! An entry: an event with its position in the chain. It is a row in the store and a line in an export.

use std::borrow::Cow;

use serde::ser::{Error as _, Serialize, SerializeStruct, Serializer};
use serde_json::value::RawValue;

use crate::Event;
use crate::canonical::{write_optional, write_string};

/// An event and the fields that the chain adds. Hashes, signature and key are plain texts, as in a row or a line. The verifier
/// checks them, not the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What happened.
    pub event: Event<'a>,
    /// Its number in the workspace, from 1, without gaps.
    pub sequence: u64,
    /// The hash of the entry before it, in hex.
    pub prev_hash: Cow<'a, str>,
    /// Its own hash, in hex.
    pub entry_hash: Cow<'a, str>,
    /// The signature over its hash, in base64url.
    pub signature: Cow<'a, str>,
    /// The name of the key that signed.
    pub kid: Cow<'a, str>,
}

impl Entry<'_> {
    /// Appends the entry as a line of an export, with a line break. The payload is copied without parsing it.
    pub fn write_line(&self, out: &mut Vec<u8>) {
        let event = &self.event;
        let mut line = String::with_capacity(event.payload.len() + 800);
        let member = |line: &mut String, name: &str, text: Option<&str>| {
            line.push_str(name);
            write_optional(line, text);
        };
        member(&mut line, "{\"id\":", Some(&event.id));
        member(&mut line, ",\"workspaceId\":", Some(&event.workspace));
        line.push_str(",\"sequenceNumber\":");
        line.push_str(&self.sequence.to_string());
        member(&mut line, ",\"occurredAt\":", Some(&event.occurred_at.rfc3339()));
        member(&mut line, ",\"eventType\":", Some(&event.event_type));
        member(&mut line, ",\"actorType\":", Some(&event.actor_type));
        member(&mut line, ",\"actorId\":", event.actor_id.as_deref());
        member(&mut line, ",\"entityType\":", event.entity_type.as_deref());
        member(&mut line, ",\"entityId\":", event.entity_id.as_deref());
        member(&mut line, ",\"requestId\":", event.request_id.as_deref());
        line.push_str(",\"payload\":");
        line.push_str(&event.payload);
        for (name, text) in [
            (",\"prevHash\":", &self.prev_hash),
            (",\"entryHash\":", &self.entry_hash),
            (",\"signature\":", &self.signature),
            (",\"kid\":", &self.kid),
        ] {
            line.push_str(name);
            write_string(&mut line, text);
        }
        line.push_str("}\n");
        out.extend_from_slice(line.as_bytes());
    }
}

/// The same members in the same order as in a line, for API answers with entries.
impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = &self.event;
        let payload: &RawValue = serde_json::from_str(&event.payload).map_err(S::Error::custom)?;
        let mut entry = serializer.serialize_struct("Entry", 15)?;
        entry.serialize_field("id", &event.id)?;
        entry.serialize_field("workspaceId", &event.workspace)?;
        entry.serialize_field("sequenceNumber", &self.sequence)?;
        entry.serialize_field("occurredAt", &event.occurred_at)?;
        entry.serialize_field("eventType", &event.event_type)?;
        entry.serialize_field("actorType", &event.actor_type)?;
        entry.serialize_field("actorId", &event.actor_id)?;
        entry.serialize_field("entityType", &event.entity_type)?;
        entry.serialize_field("entityId", &event.entity_id)?;
        entry.serialize_field("requestId", &event.request_id)?;
        entry.serialize_field("payload", payload)?;
        entry.serialize_field("prevHash", &self.prev_hash)?;
        entry.serialize_field("entryHash", &self.entry_hash)?;
        entry.serialize_field("signature", &self.signature)?;
        entry.serialize_field("kid", &self.kid)?;
        entry.end()
    }
}
