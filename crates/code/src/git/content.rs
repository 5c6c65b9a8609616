//! One file in one commit: its text, and what the commit did to it.

use base::{Error, Result};
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};

use super::changes;
use super::lines;
use super::log::unreadable;
use super::model::{Content, FileDiff};
use super::reader::{Blob, Failure, MAX_BLOB, Node, Read, Reader};
use super::trees::Lookup;

/// The longest diff.
const MAX_DIFF: usize = 256 << 10;

/// The commit with this full id.
pub(super) fn commit(reader: &mut Reader<'_>, id: &str) -> Result<Node> {
    let unknown =
        || Error::not_found("commit", format!("there is no commit `{id}` in this repository; take an id from its history"));
    let id = ObjectId::from_hex(id.as_bytes()).map_err(|_| unknown())?;
    match reader.node(&id) {
        Err(Failure::Damaged(_)) => Err(unknown()),
        other => answered(other),
    }
}

/// The error for a read that failed.
pub(super) fn answered<T>(read: Read<T>) -> Result<T> {
    read.map_err(|failure| match failure {
        Failure::OverBudget => Error::new(base::Kind::Timeout, "reading the repository's history took too long; ask for less"),
        Failure::Damaged(log) => unreadable(log),
    })
}

/// `path` below the project's root as a path in the repository.
pub(super) fn full_path(prefix: &[u8], path: &[u8]) -> BString {
    let parts: &[&[u8]] = if prefix.is_empty() { &[path] } else { &[prefix, path] };
    BString::from(parts.join(&b'/'))
}

/// The text of a file in a commit.
pub(super) fn text_at(reader: &mut Reader<'_>, node: &Node, full_path: &[u8]) -> Read<Content> {
    let Some(side) = Lookup::default().file(reader, node.tree, full_path)? else { return Ok(Content::Missing) };
    Ok(match reader.blob(&side.id, MAX_BLOB)? {
        Blob::TooLarge(size) => Content::TooLarge(size),
        Blob::Bytes(bytes) if lines::is_binary(&bytes) => Content::Binary(bytes.len() as u64),
        Blob::Bytes(bytes) => {
            Content::Text(String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().to_str_lossy().into_owned()))
        }
    })
}

/// What a commit did to a file, against the commit's first parent. `None` if it did not touch it.
pub(super) fn diff(reader: &mut Reader<'_>, node: &Node, prefix: &[u8], path: &[u8]) -> Read<Option<FileDiff>> {
    let first_parent = Node { parents: node.parents.first().copied().into_iter().collect(), ..node.clone() };
    let (changes, mut is_partial) = changes::of_commit(reader, &mut Lookup::default(), prefix, &first_parent)?;
    // A file that was renamed away is found by its former name.
    let is_former = |from: &Option<BString>| from.as_ref().is_some_and(|from| *from == path);
    let found =
        changes.iter().find(|change| change.path == path).or_else(|| changes.iter().find(|change| is_former(&change.from)));
    let Some(change) = found else { return Ok(None) };
    let (old, new) = (changes::text(reader, change.old)?, changes::text(reader, change.new)?);
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(Some(FileDiff { change: changes::with_lines(change, None), text: String::new(), is_partial: true }));
    };
    let described = changes::with_lines(change, Some(lines::changed(&old, &new)));
    let (body, is_cut) = lines::unified(&old, &new, MAX_DIFF);
    is_partial |= is_cut;
    let side = |is_there: bool, sign: &str, path: &str| if is_there { format!("{sign}/{path}") } else { "/dev/null".to_owned() };
    let old_name = side(change.old.is_some(), "a", described.from.as_ref().unwrap_or(&described.path));
    let new_name = side(change.new.is_some(), "b", &described.path);
    let text = if body.is_empty() { body } else { format!("--- {old_name}\n+++ {new_name}\n{body}") };
    Ok(Some(FileDiff { change: described, text, is_partial }))
}
