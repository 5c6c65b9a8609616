//! The two events that a verifier acts on: a key rotation, and the removal of the oldest entries.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{EntryHash, VerifyingKey};

/// The last event that a key signs. It names the key that signs from the next entry on.
pub const KEY_ROTATED: &str = "audit.key_rotated";
/// The oldest entries were removed by retention.
pub const PRUNED: &str = "audit.pruned";

/// The payload of [`KEY_ROTATED`]. The old key signs that event and so vouches for the new key.
pub fn key_rotated(old: &VerifyingKey, new: &VerifyingKey) -> Value {
    json!({"newKey": new.x(), "newKid": new.kid(), "oldKid": old.kid()})
}

/// The payload of [`PRUNED`]: the entries up to `through_sequence` were removed, and the last of them had the hash `head_hash`.
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

/// Reads the name of the new key from a [`KEY_ROTATED`] payload that the key `kid` signed.
pub(crate) fn next_kid(payload: &str, kid: &str) -> Result<String, String> {
    let said: KeyRotated = serde_json::from_str(payload).map_err(|error| format!("the new key is missing: {error}"))?;
    if said.old_kid != kid {
        return Err(format!("it replaces `{}`, but `{kid}` signed it", said.old_kid));
    }
    match VerifyingKey::parse(&said.new_key) {
        Some(key) if key.kid() == said.new_kid => Ok(said.new_kid),
        _ => Err(format!("`{}` is not the name of the new key", said.new_kid)),
    }
}

/// The payload of [`PRUNED`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pruned {
    pub(crate) through_sequence: u64,
    pub(crate) head_hash: String,
}

pub(crate) fn read_pruned(payload: &str) -> Result<Pruned, String> {
    serde_json::from_str(payload).map_err(|error| format!("the removed range is missing: {error}"))
}
