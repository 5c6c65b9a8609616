//! One step along the chain: does this entry follow the one before it, and what does it say about those to come?

use std::sync::Arc;

use super::{AtCheckpoint, Fault, Reason, Verifier};
use crate::announce::{self, KEY_ROTATED, PRUNED};
use crate::canonical::INTEGER_MAX;
use crate::{Entry, EntryHash, Jwk, Signature};

/// What of an entry is left to check: whether the key made this signature.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) key: Arc<Jwk>,
    pub(super) hash: EntryHash,
    pub(super) signature: Signature,
}

impl Verifier {
    /// Checks everything about an entry but its signature.
    pub(super) fn follow(&mut self, entry: &Entry<'_>) -> Result<Link, Fault> {
        let event = &entry.event;
        let workspace = self.workspace.get_or_insert_with(|| event.workspace.clone().into_owned());
        if *workspace != event.workspace {
            return Err((Reason::Workspace, format!("it is of the workspace `{}`, not of `{workspace}`", event.workspace)));
        }
        let expected = self.next_sequence();
        if entry.sequence != expected || !(1..=INTEGER_MAX).contains(&expected) {
            return Err((Reason::Sequence, format!("entry {expected} belongs here, but {} was found", entry.sequence)));
        }
        if self.followed == 0 {
            self.begin(entry)?;
        }
        if entry.prev_hash != self.last_hash.hex() {
            return Err((Reason::PrevHash, "its prevHash is not the entryHash of the entry before it".to_owned()));
        }
        let hash = event.hash(entry.sequence, &self.last_hash, &mut self.scratch);
        if entry.entry_hash != hash.hex() {
            return Err((Reason::EntryHash, format!("its entryHash is not the hash of what it says, which is {hash}")));
        }
        let key = self.key_of(entry)?;
        let signature = Signature::parse(&entry.signature);
        let signature = signature.ok_or_else(|| (Reason::Signature, "its signature is no signature".to_owned()))?;
        Ok(Link { key, hash, signature })
    }

    /// A trail may begin after its beginning, but must say so: here a checkpoint can, later an announcement.
    fn begin(&mut self, entry: &Entry<'_>) -> Result<(), Fault> {
        let size_before = entry.sequence.saturating_sub(1);
        if size_before > 0 {
            let prev_hash = EntryHash::parse(&entry.prev_hash);
            self.before_first = prev_hash.ok_or_else(|| (Reason::PrevHash, "its prevHash is no hash".to_owned()))?;
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
            let why = format!("the key `{kid}` signed it, but `{expected}` must: no entry before it announces the change");
            return Err((Reason::UnannouncedKey, why));
        }
        if key.is_revoked_at(entry.event.occurred_at) {
            return Err((Reason::RevokedKey, format!("it is later than the revocation of its key `{kid}`")));
        }
        Ok(Arc::clone(key))
    }

    /// Hears what a good entry says about those to come, and compares it with the checkpoints.
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
        // Key names are compared for every entry and change once in a year: the text is kept when it stays the same.
        if next_kid.is_some() || self.next_kid.is_none() {
            self.next_kid = Some(next_kid.unwrap_or_else(|| entry.kid.clone().into_owned()));
        }
        self.compare_with_checkpoints(entry.sequence, hash)
    }

    /// Compares with every checkpoint that was taken here.
    fn compare_with_checkpoints(&mut self, size: u64, hash: &EntryHash) -> Result<(), Fault> {
        while let Some(checkpoint) = self.checkpoints.pop_if(|next| next.size == size) {
            if checkpoint.head_hash != hash.hex() {
                let why = format!(
                    "entry {size} had the hash {} when the checkpoint was taken: the trail was written anew",
                    checkpoint.head_hash
                );
                return Err((Reason::Rewritten, why));
            }
            self.at_checkpoint = Some(AtCheckpoint::Matches);
        }
        Ok(())
    }
}
