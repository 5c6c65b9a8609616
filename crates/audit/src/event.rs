//! An event, from its draft to its position in the chain.
//!
//! Canonicalization is the expensive part and does not depend on the position, so it comes first ([`Draft::prepare`]). Only one
//! hash over a few bytes and one signature must wait for the previous entry ([`Prepared::seal`]).

use std::borrow::Cow;

use base::{Error, Result, Timestamp};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::canonical::{self, write_optional, write_string};
use crate::line::{LINE_BYTES_MAX, SEAL_BYTES_MAX};
use crate::{Entry, EntryHash, Signature, SigningKey};

/// A column's text.
pub type Text = Cow<'static, str>;

/// A new event.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The event's id.
    pub id: Text,
    /// The workspace of the chain.
    pub workspace: Text,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// The type of the event.
    pub event_type: Text,
    /// The type of the actor.
    pub actor_type: Text,
    /// The actor, if known.
    pub actor_id: Option<Text>,
    /// The type of the affected entity, if there is one.
    pub entity_type: Option<Text>,
    /// The affected entity.
    pub entity_id: Option<Text>,
    /// The id of the request that caused it, as in the answer's header.
    pub request_id: Option<Text>,
    /// All other data. Integers beyond 2^53 - 1 must be strings.
    pub payload: Value,
}

impl Draft {
    /// Makes the event canonical. After this step, nothing can fail.
    ///
    /// # Errors
    /// If the payload has no canonical form, the event is too long for a line, or its time is not between 1970 and 9999.
    pub fn prepare(self) -> Result<Prepared> {
        let refused =
            |why: &dyn std::fmt::Display| Error::internal(format_args!("the event {} cannot be audited: {why}", self.id));
        let payload = canonical::text_of(&self.payload).map_err(|fault| refused(&fault))?;
        if exact_time(&self.occurred_at.rfc3339()) != Some(self.occurred_at) {
            return Err(refused(&"its time is before 1970 or after 9999"));
        }
        let event = Event {
            id: self.id,
            workspace: self.workspace,
            occurred_at: self.occurred_at,
            event_type: self.event_type,
            actor_type: self.actor_type,
            actor_id: self.actor_id,
            entity_type: self.entity_type,
            entity_id: self.entity_id,
            request_id: self.request_id,
            payload: payload.into(),
        };
        let (mut head, mut tail) = (String::with_capacity(event.payload.len() + 400), String::new());
        event.write_head(&mut head);
        event.write_tail(&mut tail);
        if head.len() + tail.len() + SEAL_BYTES_MAX > LINE_BYTES_MAX {
            let id = &event.id;
            return Err(Error::internal(format_args!(
                "the event {id} cannot be audited: it is longer than {LINE_BYTES_MAX} bytes"
            )));
        }
        Ok(Prepared { event, head: Sha256::new_with_prefix(head), tail })
    }
}

/// Parses a time, if it has exactly our format and is not before 1970.
pub(crate) fn exact_time(text: &str) -> Option<Timestamp> {
    Timestamp::parse_rfc3339(text).filter(|time| time.ms() >= 0 && time.rfc3339() == text)
}

/// The columns of an event. The payload is already canonical JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The event's id.
    pub id: Cow<'a, str>,
    /// The workspace of the chain.
    pub workspace: Cow<'a, str>,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// The type of the event.
    pub event_type: Cow<'a, str>,
    /// The type of the actor.
    pub actor_type: Cow<'a, str>,
    /// The actor, if known.
    pub actor_id: Option<Cow<'a, str>>,
    /// The type of the affected entity, if there is one.
    pub entity_type: Option<Cow<'a, str>>,
    /// The affected entity.
    pub entity_id: Option<Cow<'a, str>>,
    /// The id of the request that caused it.
    pub request_id: Option<Cow<'a, str>>,
    /// All other data, as canonical JSON.
    pub payload: Cow<'a, str>,
}

impl Event<'_> {
    /// The canonical form up to the sequence number. The members below are already in canonical order.
    fn write_head(&self, out: &mut String) {
        out.push_str("{\"actorId\":");
        write_optional(out, self.actor_id.as_deref());
        out.push_str(",\"actorType\":");
        write_string(out, &self.actor_type);
        out.push_str(",\"entityId\":");
        write_optional(out, self.entity_id.as_deref());
        out.push_str(",\"entityType\":");
        write_optional(out, self.entity_type.as_deref());
        out.push_str(",\"eventType\":");
        write_string(out, &self.event_type);
        out.push_str(",\"id\":");
        write_string(out, &self.id);
        out.push_str(",\"occurredAt\":\"");
        out.push_str(&self.occurred_at.rfc3339());
        out.push_str("\",\"payload\":");
        out.push_str(&self.payload);
        out.push_str(",\"requestId\":");
        write_optional(out, self.request_id.as_deref());
        out.push_str(",\"sequenceNumber\":");
    }

    /// The canonical form after the sequence number.
    fn write_tail(&self, out: &mut String) {
        out.push_str(",\"workspaceId\":");
        write_string(out, &self.workspace);
        out.push('}');
    }

    /// The hash at this position. `scratch` is overwritten, so a loop can reuse it and allocate nothing.
    pub(crate) fn hash(&self, sequence: u64, prev_hash: &EntryHash, scratch: &mut String) -> EntryHash {
        scratch.clear();
        self.write_head(scratch);
        scratch.push_str(&sequence.to_string());
        self.write_tail(scratch);
        scratch.push_str(&prev_hash.hex());
        EntryHash::from_bytes(Sha256::digest(scratch.as_bytes()).into())
    }
}

/// An event that lacks only its position in the chain.
#[derive(Clone)]
pub struct Prepared {
    event: Event<'static>,
    /// The state of the hash before the sequence number.
    head: Sha256,
    tail: String,
}

impl Prepared {
    /// The columns of its row.
    pub fn event(&self) -> &Event<'static> {
        &self.event
    }

    /// Gives the event its position. This costs one signature.
    pub fn seal(&self, sequence: u64, prev_hash: &EntryHash, key: &SigningKey) -> Sealed {
        let mut hash = self.head.clone();
        hash.update(sequence.to_string());
        hash.update(&self.tail);
        hash.update(prev_hash.hex());
        let entry_hash = EntryHash::from_bytes(hash.finalize().into());
        Sealed { entry_hash, signature: key.sign(entry_hash.as_bytes()) }
    }

    /// The entry of the sealed event.
    pub fn entry(&self, sequence: u64, prev_hash: &EntryHash, sealed: &Sealed, key: &SigningKey) -> Entry<'static> {
        Entry {
            event: self.event.clone(),
            sequence,
            prev_hash: prev_hash.hex().into(),
            entry_hash: sealed.entry_hash.hex().into(),
            signature: sealed.signature.to_string().into(),
            kid: key.kid().to_owned().into(),
        }
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Prepared").field(&self.event).finish()
    }
}

/// What the chain adds to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The entry's hash. The next entry refers to it.
    pub entry_hash: EntryHash,
    /// The signature over that hash.
    pub signature: Signature,
}
