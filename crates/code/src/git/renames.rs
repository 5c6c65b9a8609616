//! Pairs files that a commit deletes with files that it creates, as `git log -M` does with its defaults.
//!
//! In this order: equal contents; unique file names that moved to another folder and kept three quarters of their content; then the best
//! pairs of those that kept half of it. A commit with too many candidates gets only the first two steps.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};

use super::reader::{Blob, Read, Reader, Side};
use super::similarity::{FULL, Fingerprint, LEAST, LEAST_BY_NAME, can_reach};
use super::trees::Delta;

/// git's default for `diff.renameLimit`: contents are compared for at most its square of pairs.
const LIMIT: usize = 1_000;
/// How many equal sources git looks at for one destination.
const MAX_EQUAL: usize = 101;
/// How many sources are kept for one destination.
const BEST: usize = 4;
/// Larger files are only paired by equal contents.
const MAX_COMPARED: u64 = 4 << 20;
/// The fingerprints that are kept, in pieces. Each takes 8 bytes.
const MAX_PIECES: usize = 4 << 20;

/// A change of one file, with its former path if it was renamed.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    pub(super) path: BString,
    pub(super) from: Option<BString>,
    pub(super) old: Option<Side>,
    pub(super) new: Option<Side>,
}

/// One file that may be part of a rename.
struct Candidate {
    path: BString,
    side: Side,
    /// The index of its partner.
    partner: Option<usize>,
}

/// Finds the renames among `deltas`. The second value says whether some may be missing because of a limit.
pub(super) fn with_renames(reader: &mut Reader<'_>, deltas: Vec<Delta>) -> Read<(Vec<Changed>, bool)> {
    let mut changes = Vec::with_capacity(deltas.len());
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for Delta { path, old, new } in deltas {
        match (old, new) {
            (Some(side), None) => sources.push(Candidate { path, side, partner: None }),
            (None, Some(side)) => targets.push(Candidate { path, side, partner: None }),
            (old, new) => changes.push(Changed { path, from: None, old, new }),
        }
    }
    let mut is_partial = false;
    if !sources.is_empty() && !targets.is_empty() {
        let mut pairing = Pairing { sources, targets, contents: Contents::default() };
        pairing.by_equal_content();
        pairing.by_unique_name(reader)?;
        is_partial = pairing.by_similarity(reader)? || pairing.contents.has_skipped;
        (sources, targets) = (pairing.sources, pairing.targets);
    }
    for target in targets {
        let source = target.partner.and_then(|source| sources.get(source));
        let (from, old) = source.map(|source| (source.path.clone(), source.side)).unzip();
        changes.push(Changed { path: target.path, from, old, new: Some(target.side) });
    }
    let gone = sources.into_iter().filter(|source| source.partner.is_none());
    changes.extend(gone.map(|source| Changed { path: source.path, from: None, old: Some(source.side), new: None }));
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok((changes, is_partial))
}

struct Pairing {
    sources: Vec<Candidate>,
    targets: Vec<Candidate>,
    contents: Contents,
}

impl Pairing {
    fn pair(&mut self, source: usize, target: usize) {
        if let (Some(from), Some(to)) = (self.sources.get_mut(source), self.targets.get_mut(target)) {
            (from.partner, to.partner) = (Some(target), Some(source));
        }
    }

    fn by_equal_content(&mut self) {
        let mut equal: HashMap<ObjectId, Vec<usize>> = HashMap::new();
        for (index, source) in self.sources.iter().enumerate() {
            equal.entry(source.side.id).or_default().push(index);
        }
        for target in 0..self.targets.len() {
            let Some(wanted) = self.targets.get(target) else { continue };
            let fits = |source: &Candidate| {
                let both_files = source.side.is_file() && wanted.side.is_file();
                source.partner.is_none() && (both_files || source.side.mode.kind() == wanted.side.mode.kind())
            };
            let candidates = equal.get(&wanted.side.id).into_iter().flatten().copied();
            let mut fitting = candidates.filter(|index| self.sources.get(*index).is_some_and(fits)).take(MAX_EQUAL).peekable();
            let first = fitting.peek().copied();
            let same_name =
                fitting.find(|index| self.sources.get(*index).is_some_and(|source| name(&source.path) == name(&wanted.path)));
            if let Some(source) = same_name.or(first) {
                self.pair(source, target);
            }
        }
    }

    fn by_unique_name(&mut self, reader: &mut Reader<'_>) -> Read<()> {
        let (sources, targets) = (unique_names(&self.sources), unique_names(&self.targets));
        let mut pairs: Vec<_> = sources.iter().filter_map(|(name, source)| Some(((*source)?, (*targets.get(name)?)?))).collect();
        pairs.sort_unstable();
        for (source, target) in pairs {
            if self.score(reader, source, target, LEAST_BY_NAME)? >= LEAST_BY_NAME {
                self.pair(source, target);
            }
        }
        Ok(())
    }

    /// Returns whether there are too many pairs to compare.
    fn by_similarity(&mut self, reader: &mut Reader<'_>) -> Read<bool> {
        let sources: Vec<usize> = free(&self.sources);
        let targets: Vec<usize> = free(&self.targets);
        if sources.len().saturating_mul(targets.len()) > LIMIT * LIMIT {
            return Ok(true);
        }
        let mut best = Vec::new();
        for target in targets {
            let mut of_target = Vec::with_capacity(BEST);
            for source in &sources {
                let score = self.score(reader, *source, target, LEAST)?;
                keep_best(&mut of_target, ((Reverse(score), Reverse(self.has_same_name(*source, target))), *source, target));
            }
            best.extend(of_target.into_iter().filter(|((score, _), _, _)| score.0 >= LEAST));
        }
        best.sort_by_key(|(rank, _, _)| *rank);
        for (_, source, target) in best {
            let is_free = |candidate: Option<&Candidate>| candidate.is_some_and(|candidate| candidate.partner.is_none());
            if is_free(self.sources.get(source)) && is_free(self.targets.get(target)) {
                self.pair(source, target);
            }
        }
        Ok(false)
    }

    fn has_same_name(&self, source: usize, target: usize) -> bool {
        let names = (self.sources.get(source), self.targets.get(target));
        matches!(names, (Some(source), Some(target)) if name(&source.path) == name(&target.path))
    }

    fn score(&mut self, reader: &mut Reader<'_>, source: usize, target: usize, least: u64) -> Read<u64> {
        let (Some(source), Some(target)) = (self.sources.get(source), self.targets.get(target)) else { return Ok(0) };
        if !source.side.is_file() || !target.side.is_file() {
            return Ok(0);
        }
        if source.side.id == target.side.id {
            return Ok(FULL);
        }
        let (old, new) = (self.contents.size(reader, source.side.id)?, self.contents.size(reader, target.side.id)?);
        if !can_reach(least, old, new) {
            return Ok(0);
        }
        let (old, new) = (self.contents.fingerprint(reader, source.side.id)?, self.contents.fingerprint(reader, target.side.id)?);
        Ok(old.zip(new).map_or(0, |(old, new)| old.score(&new)))
    }
}

/// The score and whether the names are equal, best first; the source; the target.
type Scored = ((Reverse<u64>, Reverse<bool>), usize, usize);

/// Keeps the best sources of one target. Which of several equal ones stays decides between equal pairs, so it is done as git does it.
fn keep_best(kept: &mut Vec<Scored>, scored: Scored) {
    if kept.len() < BEST {
        return kept.push(scored);
    }
    let worst = kept.iter_mut().reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
    if let Some(worst) = worst.filter(|worst| scored.0 < worst.0) {
        *worst = scored;
    }
}

/// The index of the file with each name that only one free candidate has.
fn unique_names(candidates: &[Candidate]) -> HashMap<&[u8], Option<usize>> {
    let mut names = HashMap::new();
    for (index, candidate) in candidates.iter().enumerate().filter(|(_, candidate)| candidate.partner.is_none()) {
        names.entry(name(&candidate.path)).and_modify(|unique| *unique = None).or_insert(Some(index));
    }
    names
}

fn free(candidates: &[Candidate]) -> Vec<usize> {
    candidates.iter().enumerate().filter(|(_, candidate)| candidate.partner.is_none()).map(|(index, _)| index).collect()
}

/// The last part of a path.
pub(super) fn name(path: &[u8]) -> &[u8] {
    path.rsplit_once_str(b"/").map_or(path, |(_, name)| name)
}

/// Sizes and fingerprints of the contents that were looked at.
#[derive(Default)]
struct Contents {
    sizes: HashMap<ObjectId, u64>,
    fingerprints: HashMap<ObjectId, Option<Rc<Fingerprint>>>,
    pieces: usize,
    has_skipped: bool,
}

impl Contents {
    fn size(&mut self, reader: &mut Reader<'_>, id: ObjectId) -> Read<u64> {
        if let Some(size) = self.sizes.get(&id) {
            return Ok(*size);
        }
        let size = reader.blob_size(&id)?;
        self.sizes.insert(id, size);
        Ok(size)
    }

    /// `None` for a file that is too large to compare.
    fn fingerprint(&mut self, reader: &mut Reader<'_>, id: ObjectId) -> Read<Option<Rc<Fingerprint>>> {
        if let Some(fingerprint) = self.fingerprints.get(&id) {
            reader.check()?;
            return Ok(fingerprint.clone());
        }
        let fingerprint = match reader.blob(&id, MAX_COMPARED)? {
            Blob::Bytes(bytes) => Some(Rc::new(Fingerprint::of(&bytes))),
            Blob::TooLarge(_) => None,
        };
        self.has_skipped |= fingerprint.is_none();
        self.pieces = self.pieces.saturating_add(fingerprint.as_ref().map_or(0, |fingerprint| fingerprint.pieces()));
        if self.pieces > MAX_PIECES {
            self.fingerprints.clear();
            self.pieces = 0;
        }
        self.fingerprints.insert(id, fingerprint.clone());
        Ok(fingerprint)
    }
}
