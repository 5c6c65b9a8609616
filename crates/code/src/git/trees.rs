//! Looks up a path in a tree, and compares two trees.
//!
//! Both compare object ids first: what has the same id is never read.

use std::cmp::Ordering;
use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};

use super::reader::{Failure, Read, Reader, Side};

/// The deepest folder that is looked at.
const MAX_DEPTH: usize = 128;
/// The most files of one comparison. The rest of a larger one is left out.
const MAX_DELTAS: usize = 20_000;
/// The most answers that are remembered.
const MAX_REMEMBERED: usize = 16_384;

/// A file that is not the same in two trees.
#[derive(Clone, Debug)]
pub(super) struct Delta {
    pub(super) path: BString,
    pub(super) old: Option<Side>,
    pub(super) new: Option<Side>,
}

/// The files that are not the same in two trees.
#[derive(Default)]
pub(super) struct Deltas {
    /// Sorted by path.
    pub(super) list: Vec<Delta>,
    /// Whether files are missing, because there are too many.
    pub(super) is_partial: bool,
}

/// Compares the trees below `old` and `new`.
pub(super) fn compare(reader: &mut Reader<'_>, old: Option<ObjectId>, new: Option<ObjectId>) -> Read<Deltas> {
    let mut deltas = Deltas::default();
    let mut folders = vec![(BString::default(), 0, old, new)];
    while let Some((folder, depth, old, new)) = folders.pop() {
        if old == new {
            continue;
        }
        if depth > MAX_DEPTH || deltas.list.len() > MAX_DELTAS {
            deltas.is_partial = true;
            continue;
        }
        let (old, new) = (reader.entries(old.as_deref())?, reader.entries(new.as_deref())?);
        for (name, old, new) in paired(old, new) {
            let path = joined(&folder, &name);
            let folder_of = |side: Option<Side>| side.filter(|side| side.mode.is_tree()).map(|side| side.id);
            if folder_of(old).is_some() || folder_of(new).is_some() {
                folders.push((path, depth + 1, folder_of(old), folder_of(new)));
            } else {
                deltas.list.push(Delta { path, old, new });
            }
        }
    }
    deltas.list.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(deltas)
}

type Named = (BString, Side);

/// The names whose sides differ. A file and a folder of one name are two names, as in git's own order of entries.
fn paired(old: Vec<Named>, new: Vec<Named>) -> Vec<(BString, Option<Side>, Option<Side>)> {
    let mut pairs = Vec::new();
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => in_tree_order(one, other),
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        match (before, after) {
            (Some((name, before)), Some((_, after))) if !before.is_same(&after) => pairs.push((name, Some(before), Some(after))),
            (Some((name, before)), None) => pairs.push((name, Some(before), None)),
            (None, Some((name, after))) => pairs.push((name, None, Some(after))),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}

fn in_tree_order(one: &Named, other: &Named) -> Ordering {
    let key = |named: &Named| named.1.mode.is_tree().then_some(b'/');
    let bytes = |named: &Named| named.0.iter().copied().chain(key(named)).collect::<Vec<u8>>();
    // Almost all neighbours differ in their names, so that the two allocations are rare.
    match one.0.as_bstr().cmp(other.0.as_bstr()) {
        Ordering::Equal => key(one).cmp(&key(other)),
        _ if one.0.starts_with(&other.0) || other.0.starts_with(&one.0) => bytes(one).cmp(&bytes(other)),
        order => order,
    }
}

fn joined(folder: &BString, name: &BString) -> BString {
    if folder.is_empty() {
        return name.clone();
    }
    let mut path = BString::from(Vec::with_capacity(folder.len() + 1 + name.len()));
    path.extend_from_slice(folder);
    path.push(b'/');
    path.extend_from_slice(name);
    path
}

/// Looks up paths in trees and remembers the answers: neighbouring commits share most of their folders.
#[derive(Default)]
pub(super) struct Lookup {
    /// By folder and the rest of the path.
    known: HashMap<(ObjectId, BString), Option<Side>>,
}

impl Lookup {
    /// The file or folder at `path` below `tree`. An empty path is the tree itself.
    pub(super) fn find(&mut self, reader: &mut Reader<'_>, tree: ObjectId, path: &[u8]) -> Read<Option<Side>> {
        let mut at = Side { mode: gix::objs::tree::EntryKind::Tree.into(), id: tree };
        let mut rest = path;
        let mut passed = Vec::new();
        let mut found = Some(at);
        while !rest.is_empty() {
            if passed.len() > MAX_DEPTH {
                return Err(Failure::damaged("too deep a tree", &tree));
            }
            let key = (at.id, BString::from(rest));
            if let Some(known) = self.known.get(&key) {
                found = *known;
                break;
            }
            passed.push(key);
            let (name, below) = rest.split_once_str(b"/").unwrap_or((rest, b""));
            found = child(reader, &at, name, !below.is_empty())?;
            let Some(next) = found else { break };
            (at, rest) = (next, below);
        }
        if self.known.len() + passed.len() > MAX_REMEMBERED {
            self.known.clear();
        }
        self.known.extend(passed.into_iter().map(|key| (key, found)));
        Ok(found)
    }

    /// The file at `path`, which is neither a folder nor a submodule.
    pub(super) fn file(&mut self, reader: &mut Reader<'_>, tree: ObjectId, path: &[u8]) -> Read<Option<Side>> {
        Ok(self.find(reader, tree, path)?.filter(|side| side.mode.is_blob_or_symlink()))
    }
}

fn child(reader: &mut Reader<'_>, folder: &Side, name: &[u8], needs_folder: bool) -> Read<Option<Side>> {
    if !folder.mode.is_tree() {
        return Ok(None);
    }
    let mut found = None;
    reader.each_entry(&folder.id, |entry, side| {
        let is_it = entry == name && (side.mode.is_tree() || !needs_folder);
        if is_it {
            found = Some(side);
        }
        !is_it
    })?;
    Ok(found)
}
