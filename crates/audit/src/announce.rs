//! The two events that the chain itself listens to: a new key, and a beginning that was removed.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{EntryHash, VerifyingKey};

/// The last event that a key signs: it names the key that signs from the next entry on.
pub const KEY_ROTATED: &str = "audit.key_rotated";
/// Entries from the beginning were removed, as retention asks for.
pub const PRUNED: &str = "audit.pruned";

/// The payload of [`KEY_ROTATED`]. The old key signs that event, and so vouches for the new one.
pub fn key_rotated(old: &VerifyingKey, new: &VerifyingKey) -> Value {
    json!({"newKey": new.x(), "newKid": new.kid(), "oldKid": old.kid()})
}

/// The payload of [`PRUNED`]: entries up to `through_sequence`, whose hash was `head_hash`, are gone.
pub fn pruned(through_sequence: u64, head_hash: &EntryHash) -> Value {
    json!({"headHash": head_hash.hex(), "throughSequence": through_sequence})
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyRotated {
    new_kid: String,
    new_key: String,
    old_kid: String,
}

/// The name of the key that follows the one named `kid`, as a payload of [`KEY_ROTATED`] announces it.
pub(crate) fn next_kid(payload: &str, kid: &str) -> Result<String, String> {
    let said: KeyRotated = serde_json::from_str(payload).map_err(|error| format!("it does not name the new key: {error}"))?;
    if said.old_kid != kid {
        return Err(format!("it replaces `{}`, but `{kid}` signed it", said.old_kid));
    }
    match VerifyingKey::parse(&said.new_key) {
        Some(key) if key.kid() == said.new_kid => Ok(said.new_kid),
        _ => Err(format!("`{}` is not the name of the new key", said.new_kid)),
    }
}

/// What a payload of [`PRUNED`] says is gone.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pruned {
    pub(crate) through_sequence: u64,
    pub(crate) head_hash: String,
}

pub(crate) fn read_pruned(payload: &str) -> Result<Pruned, String> {
    serde_json::from_str(payload).map_err(|error| format!("it does not say what was removed: {error}"))
}
