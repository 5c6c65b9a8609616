//! The verifier takes entries and gives a verdict. It needs only the public keys, keeps at most a few thousand entries in
//! memory, and names the first bad one.
//!
//! The verifier follows the chain entry by entry and collects signatures until there are enough to check on all cores. The
//! verdict does not depend on that: a wrong signature before a broken link is still the first fault.

mod chain;
mod report;
mod signatures;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

pub use report::{AtCheckpoint, Broken, Reason, Report};

use crate::line::{self, LINE_BYTES_MAX};
use crate::{Checkpoint, Entry, EntryHash, Jwk, Jwks};
use signatures::{PENDING_MAX, Pending, first_wrong};

/// A fault of an entry.
type Fault = (Reason, String);

/// Follows a chain.
#[derive(Debug)]
pub struct Verifier {
    keys: HashMap<String, Arc<Jwk>>,
    /// The checkpoints that the trail has not reached yet, the next one last.
    checkpoints: Vec<Checkpoint>,
    workspace: Option<String>,
    checks_signatures: bool,
    threads: usize,

    lines: u64,
    /// The number of entries that were followed. The signatures of the last `pending` ones are still unchecked.
    followed: u64,
    first_sequence: u64,
    /// The previous hash in the first entry.
    before_first: EntryHash,
    last_hash: EntryHash,
    /// The key that must sign the next entry. Any known key may sign the first one.
    next_kid: Option<String>,
    /// Whether the start of the trail is accounted for.
    start_is_good: bool,
    at_checkpoint: Option<AtCheckpoint>,
    signed_by_revoked: u64,
    pending: Vec<Pending>,
    broken: Option<Broken>,
    scratch: String,
}

impl Verifier {
    /// A verifier that trusts these keys. The trail must reach and match every checkpoint, and must belong to the workspace if
    /// one is given.
    pub fn new(keys: &Jwks, checkpoints: impl IntoIterator<Item = Checkpoint>, workspace: Option<&str>) -> Self {
        let mut verifier = Self {
            keys: keys.keys.iter().map(|key| (key.key.kid().to_owned(), Arc::new(key.clone()))).collect(),
            workspace: workspace.map(str::to_owned),
            checks_signatures: true,
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            lines: 0,
            followed: 0,
            first_sequence: 1,
            before_first: EntryHash::GENESIS,
            last_hash: EntryHash::GENESIS,
            next_kid: None,
            start_is_good: true,
            at_checkpoint: None,
            signed_by_revoked: 0,
            pending: Vec::new(),
            broken: None,
            scratch: String::new(),
            checkpoints: Vec::new(),
        };
        for checkpoint in checkpoints {
            verifier.take_checkpoint(checkpoint);
        }
        verifier.checkpoints.sort_by_key(|checkpoint| Reverse(checkpoint.size));
        verifier
    }

    /// Uses this number of threads instead of one per core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Skips the check of entries' signatures. The result then shows accidental damage, but not who wrote the trail.
    #[must_use]
    pub fn without_signatures(mut self) -> Self {
        self.checks_signatures = false;
        self
    }

    /// Whether a fault was found. Later entries are ignored.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Reads the lines of an export, up to the first fault.
    ///
    /// # Errors
    /// If reading fails.
    pub fn push_lines(&mut self, mut lines: impl BufRead) -> io::Result<()> {
        // One byte more than the maximum and the line break: enough to see that a line is too long.
        let most = u64::try_from(LINE_BYTES_MAX + 2).unwrap_or(u64::MAX);
        let mut line = Vec::new();
        while !self.is_broken() && lines.by_ref().take(most).read_until(b'\n', &mut line)? > 0 {
            self.push_line(line.strip_suffix(b"\n").unwrap_or(&line));
            line.clear();
        }
        Ok(())
    }

    /// Adds a line of an export. Blank lines are ignored.
    pub fn push_line(&mut self, line: &[u8]) {
        self.lines += 1;
        if self.is_broken() || line.iter().all(|byte| b" \t\r\n".contains(byte)) {
            return;
        }
        match line::parse(line) {
            Ok(entry) => self.take(&entry, Some(self.lines)),
            Err(why) => self.break_at(self.next_sequence(), Some(self.lines), None, (Reason::Malformed, why)),
        }
    }

    /// Adds an entry from a row. The payload is hashed as stored.
    pub fn push(&mut self, entry: &Entry<'_>) {
        if !self.is_broken() {
            self.take(entry, None);
        }
    }

    /// The verdict on all entries so far.
    pub fn finish(mut self) -> Report {
        self.check_pending();
        if self.broken.is_none() && !self.start_is_good {
            let why = format!("the entries before {} are missing, and no later entry accounts for them", self.first_sequence);
            self.broken = Some(broken(Some(self.first_sequence), None, None, (Reason::MissingStart, why)));
            self.followed = 0;
            self.signed_by_revoked = 0;
        }
        // The newest checkpoint is the first one that the trail did not reach.
        if let (None, Some(checkpoint)) = (&self.broken, self.checkpoints.first())
            && self.next_sequence() <= checkpoint.size
        {
            let (size, last) = (checkpoint.size, self.next_sequence() - 1);
            let why = format!("the trail ends after {last}, but it had {size} entries when the checkpoint was taken");
            self.broken = Some(broken(Some(last + 1), None, None, (Reason::CutOff, why)));
        }
        let good = self.followed;
        // In a broken trail, the entries that match a checkpoint may be among the untrusted ones.
        let checkpoint = self.at_checkpoint.filter(|_| self.broken.is_none());
        Report {
            event_count: good,
            first_sequence: (good > 0).then_some(self.first_sequence),
            last_sequence: (good > 0).then(|| self.first_sequence + good - 1),
            broken_at: self.broken,
            signed_by_revoked: self.signed_by_revoked,
            signatures_checked: self.checks_signatures,
            checkpoint,
        }
    }

    /// An untrustworthy checkpoint ends the verification, because the caller relies on it.
    fn take_checkpoint(&mut self, checkpoint: Checkpoint) {
        let why = match self.keys.get(&checkpoint.kid) {
            None => format!("the key set has no key `{}`", checkpoint.kid),
            Some(key) if !checkpoint.is_signed_by(&key.key) => "its signature is wrong".to_owned(),
            Some(key) if checkpoint.time().is_none_or(|time| key.is_revoked_at(time)) => {
                format!("its key `{}` was revoked before", checkpoint.kid)
            }
            Some(_) if self.workspace.as_ref().is_some_and(|workspace| *workspace != checkpoint.workspace_id) => {
                format!("it belongs to the workspace `{}`", checkpoint.workspace_id)
            }
            Some(_) if checkpoint.size == 0 && checkpoint.head_hash != EntryHash::GENESIS.hex() => {
                "its hash is malformed".to_owned()
            }
            Some(_) => {
                self.workspace = Some(checkpoint.workspace_id.clone());
                // Before the first entry, a trail matches every checkpoint of size 0.
                self.at_checkpoint = self.at_checkpoint.or((checkpoint.size == 0).then_some(AtCheckpoint::Matches));
                self.checkpoints.push(checkpoint);
                return;
            }
        };
        let why = format!("the checkpoint of {} cannot be trusted: {why}", checkpoint.at);
        self.broken.get_or_insert(broken(None, None, None, (Reason::Checkpoint, why)));
    }

    /// The sequence number of the next entry.
    fn next_sequence(&self) -> u64 {
        self.first_sequence + self.followed
    }

    fn take(&mut self, entry: &Entry<'_>, line: Option<u64>) {
        if self.followed == 0 {
            self.first_sequence = entry.sequence;
        }
        let place = self.next_sequence();
        match self.follow(entry).and_then(|link| self.listen(entry, &link.hash).map(|()| link)) {
            Ok(link) => {
                self.followed += 1;
                self.last_hash = link.hash;
                self.signed_by_revoked += u64::from(link.key.revoked.is_some());
                if self.checks_signatures {
                    self.pending.push(Pending { link, line, id: entry.event.id.clone().into_owned() });
                }
            }
            Err(fault) => self.break_at(place, line, Some(&entry.event.id), fault),
        }
        if self.pending.len() >= PENDING_MAX {
            self.check_pending();
        }
    }

    /// Checks the pending signatures, and drops the entries from the first wrong one on.
    fn check_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let Some(index) = first_wrong(&pending, self.threads) else { return };
        let wrong = pending.get(index..).unwrap_or_default();
        let revoked = wrong.iter().filter(|one| one.link.key.revoked.is_some()).count();
        self.followed -= u64::try_from(wrong.len()).unwrap_or_default();
        self.signed_by_revoked -= u64::try_from(revoked).unwrap_or_default();
        if let Some(first) = wrong.first() {
            let why = format!("the signature does not match the key `{}`", first.link.key.key.kid());
            let fault = (Reason::Signature, why);
            self.broken = Some(broken(Some(self.next_sequence()), first.line, Some(&first.id), fault));
        }
    }

    /// Ends the verification, unless an earlier signature turns out to be wrong.
    fn break_at(&mut self, sequence: u64, line: Option<u64>, id: Option<&str>, fault: Fault) {
        self.check_pending();
        if self.broken.is_none() {
            self.broken = Some(broken(Some(sequence), line, id, fault));
        }
    }
}

fn broken(sequence: Option<u64>, line: Option<u64>, id: Option<&str>, (reason, message): Fault) -> Broken {
    Broken { sequence, line, id: id.map(str::to_owned), reason, message }
}
