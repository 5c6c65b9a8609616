//! The result of a verification.

use serde::{Serialize, Serializer};

/// Why a trail is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The line is not an entry, or an announcement in it is malformed.
    Malformed,
    /// The entry belongs to another workspace.
    Workspace,
    /// An entry is missing, repeated or out of order.
    Sequence,
    /// The entry does not follow the one before it.
    PrevHash,
    /// The entry was changed after it was hashed.
    EntryHash,
    /// The key set does not have the entry's key.
    UnknownKey,
    /// The key changed without an announcement by the old key.
    UnannouncedKey,
    /// The key of the entry was revoked before.
    RevokedKey,
    /// The signature does not match the key.
    Signature,
    /// The first entries are missing, and nothing accounts for them.
    MissingStart,
    /// The checkpoint itself cannot be trusted.
    Checkpoint,
    /// The trail has another entry at the checkpoint's position.
    Rewritten,
    /// The trail ends before the checkpoint's position.
    CutOff,
}

/// The first fault of a trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// The expected sequence number; none if the checkpoint itself is at fault.
    pub sequence: Option<u64>,
    /// The line number, from 1, if lines were read.
    pub line: Option<u64>,
    /// The id of the entry at this position.
    pub id: Option<String>,
    /// The reason as a word.
    pub reason: Reason,
    /// The reason as a sentence.
    pub message: String,
}

/// How the trail relates to the newest checkpoint. The older ones match too, or the trail begins after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AtCheckpoint {
    /// The trail has the checkpoint's hash at the checkpoint's position.
    Matches,
    /// The trail begins after the checkpoint's position, so they cannot be compared.
    BeginsLater,
}

/// The result of a verification. The counts cover the entries that are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of good entries: all of them, or those before the first fault.
    pub event_count: u64,
    /// The sequence number of the first good entry.
    pub first_sequence: Option<u64>,
    /// The sequence number of the last good entry.
    pub last_sequence: Option<u64>,
    /// The first fault; none in a valid trail.
    pub broken_at: Option<Broken>,
    /// The number of good entries signed by a key before its revocation. A thief of the key could have made them too. Only a
    /// checkpoint from before the theft, stored elsewhere, can tell.
    pub signed_by_revoked: u64,
    /// Whether signatures were checked.
    pub signatures_checked: bool,
    /// How a valid trail relates to the checkpoint, if one was given.
    pub checkpoint: Option<AtCheckpoint>,
}

impl Report {
    /// Whether no fault was found.
    pub fn is_valid(&self) -> bool {
        self.broken_at.is_none()
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire<'a> {
            valid: bool,
            event_count: u64,
            first_sequence: Option<u64>,
            last_sequence: Option<u64>,
            broken_at: Option<u64>,
            broken: Option<&'a Broken>,
            signed_by_revoked: u64,
            signatures_checked: bool,
            checkpoint: Option<AtCheckpoint>,
        }
        let wire = Wire {
            valid: self.is_valid(),
            event_count: self.event_count,
            first_sequence: self.first_sequence,
            last_sequence: self.last_sequence,
            broken_at: self.broken_at.as_ref().and_then(|broken| broken.sequence),
            broken: self.broken_at.as_ref(),
            signed_by_revoked: self.signed_by_revoked,
            signatures_checked: self.signatures_checked,
            checkpoint: self.checkpoint,
        };
        wire.serialize(serializer)
    }
}
