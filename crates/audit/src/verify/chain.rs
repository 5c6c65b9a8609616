//! One step along the chain: checks that an entry follows the previous one, and what it announces about later entries.

use std::sync::Arc;

use super::{AtCheckpoint, Fault, Reason, Verifier};
use crate::announce::{self, KEY_ROTATED, PRUNED};
use crate::canonical::INTEGER_MAX;
use crate::{Entry, EntryHash, Jwk, Signature};

/// The rest of the check of an entry: whether the key made this signature.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) key: Arc<Jwk>,
    pub(super) hash: EntryHash,
    pub(super) signature: Signature,
}

impl Verifier {
    /// Checks everything about an entry except its signature.
    pub(super) fn follow(&mut self, entry: &Entry<'_>) -> Result<Link, Fault> {
        let event = &entry.event;
        let workspace = self.workspace.get_or_insert_with(|| event.workspace.clone().into_owned());
        if *workspace != event.workspace {
            return Err((Reason::Workspace, format!("it belongs to the workspace `{}`, not to `{workspace}`", event.workspace)));
        }
        let expected = self.next_sequence();
        if entry.sequence != expected || !(1..=INTEGER_MAX).contains(&expected) {
            return Err((Reason::Sequence, format!("expected entry {expected}, found {}", entry.sequence)));
        }
        if self.followed == 0 {
            self.begin(entry)?;
        }
        if entry.prev_hash != self.last_hash.hex() {
            return Err((Reason::PrevHash, "its prevHash is not the entryHash of the previous entry".to_owned()));
        }
        let hash = event.hash(entry.sequence, &self.last_hash, &mut self.scratch);
        if entry.entry_hash != hash.hex() {
            return Err((Reason::EntryHash, format!("its entryHash is not the hash of its content, which is {hash}")));
        }
        let key = self.key_of(entry)?;
        let signature = Signature::parse(&entry.signature);
        let signature = signature.ok_or_else(|| (Reason::Signature, "its signature is malformed".to_owned()))?;
        Ok(Link { key, hash, signature })
    }

    /// A trail may begin after entry 1, but then a checkpoint or a later announcement must account for the missing entries.
    fn begin(&mut self, entry: &Entry<'_>) -> Result<(), Fault> {
        let size_before = entry.sequence.saturating_sub(1);
        if size_before > 0 {
            let prev_hash = EntryHash::parse(&entry.prev_hash);
            self.before_first = prev_hash.ok_or_else(|| (Reason::PrevHash, "its prevHash is malformed".to_owned()))?;
            self.last_hash = self.before_first;
        }
        self.start_is_good = size_before == 0;
        while self.checkpoints.pop_if(|next| next.size < size_before).is_some() {
            self.at_checkpoint = Some(AtCheckpoint::BeginsLater);
        }
        if self.checkpoints.last().is_some_and(|next| next.size == size_before) {
            self.compare_with_checkpoints(size_before, &self.before_first.clone())?;
            self.start_is_good = true;
        }
        Ok(())
    }

    fn key_of(&self, entry: &Entry<'_>) -> Result<Arc<Jwk>, Fault> {
        let kid = entry.kid.as_ref();
        let key = self.keys.get(kid).ok_or_else(|| (Reason::UnknownKey, format!("the key set has no key `{kid}`")))?;
        if let Some(expected) = self.next_kid.as_ref().filter(|expected| *expected != kid) {
            let why = format!("signed by the key `{kid}` instead of `{expected}`, and no entry announced the rotation");
            return Err((Reason::UnannouncedKey, why));
        }
        if key.is_revoked_at(entry.event.occurred_at) {
            return Err((Reason::RevokedKey, format!("its key `{kid}` was revoked before")));
        }
        Ok(Arc::clone(key))
    }

    /// Applies what a good entry announces about later entries, and compares it with the checkpoints.
    pub(super) fn listen(&mut self, entry: &Entry<'_>, hash: &EntryHash) -> Result<(), Fault> {
        let malformed = |why: String| (Reason::Malformed, format!("`{}`: {why}", entry.event.event_type));
        let mut next_kid = None;
        match entry.event.event_type.as_ref() {
            KEY_ROTATED => next_kid = Some(announce::next_kid(&entry.event.payload, &entry.kid).map_err(malformed)?),
            PRUNED => {
                let pruned = announce::read_pruned(&entry.event.payload).map_err(malformed)?;
                let missing = self.first_sequence.saturating_sub(1);
                let same = pruned.through_sequence == missing && pruned.head_hash == self.before_first.hex();
                self.start_is_good |= same || pruned.through_sequence > missing;
            }
            _ => {}
        }
        // The key's name is compared for every entry but changes about once a year, so its text is reused.
        if next_kid.is_some() || self.next_kid.is_none() {
            self.next_kid = Some(next_kid.unwrap_or_else(|| entry.kid.clone().into_owned()));
        }
        self.compare_with_checkpoints(entry.sequence, hash)
    }

    /// Compares the entry with every checkpoint at its position.
    fn compare_with_checkpoints(&mut self, size: u64, hash: &EntryHash) -> Result<(), Fault> {
        while let Some(checkpoint) = self.checkpoints.pop_if(|next| next.size == size) {
            if checkpoint.head_hash != hash.hex() {
                let why = format!(
                    "entry {size} had the hash {} when the checkpoint was taken; the trail was rewritten",
                    checkpoint.head_hash
                );
                return Err((Reason::Rewritten, why));
            }
            self.at_checkpoint = Some(AtCheckpoint::Matches);
        }
        Ok(())
    }
}
