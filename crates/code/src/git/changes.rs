//! What one commit changed.

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};

use super::lines;
use super::model::{ChangeType, FileChange};
use super::reader::{Blob, Failure, Node, Read, Reader, Side};
use super::renames::{self, Changed};
use super::trees::{self, Lookup};

/// The most files of one commit that are listed.
const MAX_CHANGES: usize = 1_000;
/// The lines of larger files are not counted.
const MAX_COUNTED: u64 = 4 << 20;

/// The changed files below the project's root, with renames. The second value says whether some are missing.
pub(super) fn between(
    reader: &mut Reader<'_>,
    lookup: &mut Lookup,
    prefix: &[u8],
    old: Option<ObjectId>,
    new: ObjectId,
) -> Read<(Vec<Changed>, bool)> {
    let old = old.map(|tree| project(reader, lookup, tree, prefix)).transpose()?.flatten();
    let new = project(reader, lookup, new, prefix)?;
    let deltas = trees::compare(reader, old, new)?;
    let (changes, are_partial) = renames::with_renames(reader, deltas.list)?;
    Ok((changes, deltas.is_partial || are_partial))
}

/// The changed files of a commit with at most one parent.
pub(super) fn of_commit(reader: &mut Reader<'_>, lookup: &mut Lookup, prefix: &[u8], node: &Node) -> Read<(Vec<Changed>, bool)> {
    if node.is_boundary {
        // Its parent is not here, so what it changed is unknown.
        return Ok((Vec::new(), true));
    }
    let parent = match node.parents.first() {
        Some(parent) => Some(reader.node(parent)?.tree),
        None => None,
    };
    between(reader, lookup, prefix, parent, node.tree)
}

/// The tree of the project's root.
fn project(reader: &mut Reader<'_>, lookup: &mut Lookup, tree: ObjectId, prefix: &[u8]) -> Read<Option<ObjectId>> {
    let found = lookup.find(reader, tree, prefix)?;
    Ok(found.filter(|side| side.mode.is_tree()).map(|side| side.id))
}

/// The changes as they are handed out, with counted lines. The second value says whether some are missing.
pub(super) fn described(reader: &mut Reader<'_>, changes: &[Changed]) -> Read<(Vec<FileChange>, bool)> {
    let mut described = Vec::with_capacity(changes.len().min(MAX_CHANGES));
    let mut is_partial = changes.len() > MAX_CHANGES;
    for change in changes.iter().take(MAX_CHANGES) {
        let lines = match counted(reader, change) {
            Ok(lines) => lines,
            Err(Failure::OverBudget) => return Err(Failure::OverBudget),
            Err(Failure::Damaged(_)) => {
                is_partial = true;
                None
            }
        };
        described.push(with_lines(change, lines));
    }
    Ok((described, is_partial))
}

/// One change as it is handed out.
pub(super) fn with_lines(change: &Changed, lines: Option<(u32, u32)>) -> FileChange {
    let shown = |path: &BStr| path.to_str_lossy().into_owned();
    let change_type = match (&change.from, change.old, change.new) {
        (Some(from), _, _) if renames::name(from) == renames::name(&change.path) => ChangeType::Move,
        (Some(_), _, _) => ChangeType::Rename,
        (None, None, _) => ChangeType::Create,
        (None, Some(_), None) => ChangeType::Delete,
        (None, Some(_), Some(_)) => ChangeType::Update,
    };
    let (lines_added, lines_removed) = lines.unzip();
    let from = change.from.as_ref().map(|from| shown(from.as_bstr()));
    FileChange { path: shown(change.path.as_bstr()), change_type, from, lines_added, lines_removed }
}

fn counted(reader: &mut Reader<'_>, change: &Changed) -> Read<Option<(u32, u32)>> {
    if change.old.zip(change.new).is_some_and(|(old, new)| old.id == new.id) {
        return Ok(Some((0, 0)));
    }
    let (Some(old), Some(new)) = (text(reader, change.old)?, text(reader, change.new)?) else { return Ok(None) };
    Ok(Some(lines::changed(&old, &new)))
}

/// The bytes of one side, empty if there is none. `None` if they are not text, too large, or a submodule.
pub(super) fn text(reader: &mut Reader<'_>, side: Option<Side>) -> Read<Option<Vec<u8>>> {
    let Some(side) = side else { return Ok(Some(Vec::new())) };
    if !side.mode.is_blob_or_symlink() {
        return Ok(None);
    }
    Ok(match reader.blob(&side.id, MAX_COUNTED)? {
        Blob::Bytes(bytes) if !lines::is_binary(&bytes) => Some(bytes),
        Blob::Bytes(_) | Blob::TooLarge(_) => None,
    })
}
