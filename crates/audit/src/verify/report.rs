//! What a verification found.

use serde::{Serialize, Serializer};

/// Why a trail is not what it claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The line is no entry, or an announcement in it cannot be understood.
    Malformed,
    /// The entry belongs to another workspace.
    Workspace,
    /// An entry is missing, stands twice, or stands elsewhere.
    Sequence,
    /// The entry does not follow the one before it.
    PrevHash,
    /// The entry was changed after it was hashed.
    EntryHash,
    /// The key set does not have the entry's key.
    UnknownKey,
    /// The key changed without the old one saying so.
    UnannouncedKey,
    /// The entry is later than its key's revocation.
    RevokedKey,
    /// The signature is not the key's.
    Signature,
    /// The trail does not begin at its beginning, and nothing in it says why.
    MissingStart,
    /// The checkpoint itself cannot be believed.
    Checkpoint,
    /// The trail has another entry where the checkpoint was taken.
    Rewritten,
    /// The trail ends before the checkpoint does.
    CutOff,
}

/// The first place at which a trail is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// The sequence number that belongs there; none if the checkpoint itself is at fault.
    pub sequence: Option<u64>,
    /// The line, from 1, where lines were read.
    pub line: Option<u64>,
    /// The id of the entry that was found there.
    pub id: Option<String>,
    /// Why, as a word.
    pub reason: Reason,
    /// Why, as a sentence.
    pub message: String,
}

/// How the trail stands to the newest checkpoint that was given. It agrees with the others too, or begins after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AtCheckpoint {
    /// It has the checkpoint's hash at the checkpoint's place.
    Matches,
    /// It begins only after the checkpoint's place, so they cannot be compared.
    BeginsLater,
}

/// What a verification found. The counts are of entries that were found good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many entries are good: all of them, or those before the first bad one.
    pub event_count: u64,
    /// The first good one's sequence number.
    pub first_sequence: Option<u64>,
    /// The last good one's.
    pub last_sequence: Option<u64>,
    /// The first bad place; none in a good trail.
    pub broken_at: Option<Broken>,
    /// How many good entries were signed, before its revocation, by a key that is revoked now. Who stole the key could have
    /// made them too: only a checkpoint from before that time, kept elsewhere, tells.
    pub signed_by_revoked: u64,
    /// Whether signatures were checked at all.
    pub signatures_checked: bool,
    /// How a good trail stands to the checkpoint, if one was given.
    pub checkpoint: Option<AtCheckpoint>,
}

impl Report {
    /// Whether nothing is wrong.
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
