//! Parses an exported line. White space, the order of members and escapes do not matter. Every member must be present exactly
//! once, and no other member is allowed.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::canonical::{self, INTEGER_MAX};
use crate::event::exact_time;
use crate::{Entry, Event};

/// The maximum length of a line, without its line break.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// An upper bound for what a line adds to its event: two hashes, a signature, a key's name, and the names of these members.
pub(crate) const SEAL_BYTES_MAX: usize = 1_024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    workspace_id: Cow<'a, str>,
    sequence_number: u64,
    #[serde(borrow)]
    occurred_at: Cow<'a, str>,
    #[serde(borrow)]
    event_type: Cow<'a, str>,
    #[serde(borrow)]
    actor_type: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "present")]
    actor_id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "present")]
    entity_type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "present")]
    entity_id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "present")]
    request_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: &'a RawValue,
    #[serde(borrow)]
    prev_hash: Cow<'a, str>,
    #[serde(borrow)]
    entry_hash: Cow<'a, str>,
    #[serde(borrow)]
    signature: Cow<'a, str>,
    #[serde(borrow)]
    kid: Cow<'a, str>,
}

/// A member that may be null but not missing.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
    Ok(Option::<Borrowed<'a>>::deserialize(deserializer)?.map(|text| text.0))
}

/// Parses an entry, or says why the line is not one.
pub(crate) fn parse(line: &[u8]) -> Result<Entry<'_>, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("the line is longer than {LINE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(line).map_err(|error| format!("the line is not UTF-8: {error}"))?;
    if !canonical::is_object(text) {
        return Err("the line is not a JSON object".to_owned());
    }
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| format!("the line is not an entry: {error}"))?;
    if !(1..=INTEGER_MAX).contains(&line.sequence_number) {
        return Err(format!("{} is not a sequence number", line.sequence_number));
    }
    let occurred_at =
        exact_time(&line.occurred_at).ok_or_else(|| format!("`{}` is not a time in the format of entries", line.occurred_at))?;
    let payload = canonical::read(line.payload.get()).map_err(|error| format!("invalid payload: {error}"))?;
    let payload = canonical::text_of(&payload).map_err(|fault| format!("invalid payload: {fault}"))?;
    Ok(Entry {
        event: Event {
            id: line.id,
            workspace: line.workspace_id,
            occurred_at,
            event_type: line.event_type,
            actor_type: line.actor_type,
            actor_id: line.actor_id,
            entity_type: line.entity_type,
            entity_id: line.entity_id,
            request_id: line.request_id,
            payload: payload.into(),
        },
        sequence: line.sequence_number,
        prev_hash: line.prev_hash,
        entry_hash: line.entry_hash,
        signature: line.signature,
        kid: line.kid,
    })
}
