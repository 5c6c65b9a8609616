//! Reads of objects, each within the budget of the call.
//!
//! Nothing here may read an object without counting it, or recurse into objects: a repository can be built to expand without end.

use std::collections::HashMap;
use std::time::Instant;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryMode;
use gix::objs::{CommitRef, CommitRefIter, Find, Kind, TreeRefIter};

use super::model::Bounds;

/// The largest blob that is read.
pub(super) const MAX_BLOB: u64 = 16 << 20;
/// More parents than this are not looked at.
const MAX_PARENTS: usize = 256;
/// The commits that are remembered.
const MAX_RECENT: usize = 2_048;
/// The longest author name and subject that are handed out, in characters.
const MAX_NAME: usize = 200;
const MAX_SUBJECT: usize = 1_000;

/// Why an object was not read.
#[derive(Debug)]
pub(super) enum Failure {
    /// The call's time or bytes are used up.
    OverBudget,
    /// The object is missing, too large to decode, or not what its place says. The text is for the log.
    Damaged(String),
}

impl Failure {
    pub(super) fn damaged(what: &str, id: &gix::oid) -> Self {
        Self::Damaged(format!("{what} {id}"))
    }
}

/// A result of a read.
pub(super) type Read<T> = Result<T, Failure>;

/// A commit's place in the graph.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) id: ObjectId,
    pub(super) tree: ObjectId,
    /// Seconds since the epoch, as the committer says.
    pub(super) time: i64,
    pub(super) parents: Box<[ObjectId]>,
    /// Whether the clone ends here although the commit has parents.
    pub(super) is_boundary: bool,
}

/// Who made a commit and what they said.
pub(super) struct Heading {
    pub(super) author: String,
    pub(super) authored_at: i64,
    pub(super) subject: String,
}

/// A file or folder in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) mode: EntryMode,
    pub(super) id: ObjectId,
}

impl Side {
    /// Whether it is a regular file.
    pub(super) fn is_file(&self) -> bool {
        self.mode.is_blob()
    }

    /// Whether the two are the same content with the same meaning. Odd modes of old repositories count as their modern form.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id && self.mode.kind() == other.mode.kind()
    }
}

/// A blob, as far as it was read.
pub(super) enum Blob {
    /// All its bytes.
    Bytes(Vec<u8>),
    /// Only its size.
    TooLarge(u64),
}

/// Reads the objects of one repository for one call.
pub(super) struct Reader<'r> {
    repository: &'r gix::Repository,
    graph: Option<gix::commitgraph::Graph>,
    shallow: Vec<ObjectId>,
    empty_tree: ObjectId,
    deadline: Option<Instant>,
    bytes_left: u64,
    buffer: Vec<u8>,
    recent: HashMap<ObjectId, Node>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(repository: &'r gix::Repository, bounds: &Bounds) -> Self {
        let shallow = match repository.shallow_commits() {
            Ok(Some(commits)) => commits.iter().copied().collect(),
            Ok(None) | Err(_) => Vec::new(),
        };
        // Like git: a graph file may name parents that a shallow clone does not have.
        let graph = shallow.is_empty().then(|| repository.commit_graph_if_enabled().ok().flatten()).flatten();
        Self {
            repository,
            graph,
            shallow,
            empty_tree: ObjectId::empty_tree(repository.object_hash()),
            deadline: Instant::now().checked_add(bounds.wall),
            bytes_left: bounds.bytes,
            buffer: Vec::new(),
            recent: HashMap::new(),
        }
    }

    /// Whether the call may go on.
    pub(super) fn check(&self) -> Read<()> {
        let in_time = self.deadline.is_none_or(|deadline| Instant::now() < deadline);
        if in_time && self.bytes_left > 0 { Ok(()) } else { Err(Failure::OverBudget) }
    }

    /// Reads an object of `kind` into `buffer`.
    fn fetch(&mut self, id: &gix::oid, kind: Kind, buffer: &mut Vec<u8>) -> Read<()> {
        self.check()?;
        buffer.clear();
        if kind == Kind::Tree && id == self.empty_tree {
            return Ok(());
        }
        // gix refuses an object that needs more memory than the limit the repository was opened with.
        let found = self.repository.objects.try_find(id, buffer).map_err(|error| Failure::Damaged(format!("{id}: {error}")))?;
        let found = found.ok_or_else(|| Failure::damaged("missing object", id))?;
        let (is_kind, length) = (found.kind == kind, found.data.len());
        buffer.truncate(length);
        self.bytes_left = self.bytes_left.saturating_sub(length as u64);
        if is_kind { Ok(()) } else { Err(Failure::damaged("unexpected kind of object", id)) }
    }

    /// A commit's place in the graph.
    pub(super) fn node(&mut self, id: &gix::oid) -> Read<Node> {
        self.check()?;
        if let Some(node) = self.recent.get(id) {
            return Ok(node.clone());
        }
        let node = match self.node_in_graph(id) {
            Some(node) => node,
            None => {
                let mut buffer = std::mem::take(&mut self.buffer);
                let node = self.fetch(id, Kind::Commit, &mut buffer).and_then(|()| self.decode(id, &buffer));
                self.buffer = buffer;
                node?
            }
        };
        self.remember(std::slice::from_ref(&node));
        Ok(node)
    }

    /// Remembers commits that are likely to be asked for next: the parents of a commit mostly follow it.
    pub(super) fn remember(&mut self, nodes: &[Node]) {
        if self.recent.len() + nodes.len() > MAX_RECENT {
            self.recent.clear();
        }
        self.recent.extend(nodes.iter().map(|node| (node.id, node.clone())));
    }

    fn node_in_graph(&self, id: &gix::oid) -> Option<Node> {
        let graph = self.graph.as_ref()?;
        let commit = graph.commit_by_id(id)?;
        let time = i64::try_from(commit.committer_timestamp()).ok()?;
        let tree = commit.root_tree_id().to_owned();
        let parents: Result<Box<[_]>, _> =
            commit.iter_parents().take(MAX_PARENTS).map(|parent| parent.map(|at| graph.id_at(at).to_owned())).collect();
        Some(Node { id: id.to_owned(), tree, time, parents: parents.ok()?, is_boundary: false })
    }

    fn decode(&self, id: &gix::oid, data: &[u8]) -> Read<Node> {
        let damaged = || Failure::damaged("unreadable commit", id);
        let commit = || CommitRefIter::from_bytes(data, id.kind());
        let tree = commit().tree_id().map_err(|_| damaged())?;
        let time = commit().committer().map_err(|_| damaged())?.seconds();
        let mut parents: Box<[_]> = commit().parent_ids().take(MAX_PARENTS).collect();
        let is_boundary = !parents.is_empty() && self.shallow.iter().any(|shallow| *shallow == id);
        if is_boundary {
            parents = Box::default();
        }
        Ok(Node { id: id.to_owned(), tree, time, parents, is_boundary })
    }

    /// Who made a commit and what they said.
    pub(super) fn heading(&mut self, id: &gix::oid) -> Read<Heading> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let heading = self.fetch(id, Kind::Commit, &mut buffer).and_then(|()| {
            let commit = CommitRef::from_bytes(&buffer, id.kind()).map_err(|_| Failure::damaged("unreadable commit", id))?;
            let author = commit.author().map_err(|_| Failure::damaged("unreadable author", id))?;
            let short = |text: &[u8], most: usize| text.to_str_lossy().trim().chars().take(most).collect::<String>();
            let subject = short(commit.message_summary().as_ref(), MAX_SUBJECT);
            Ok(Heading { author: short(author.name, MAX_NAME), authored_at: author.seconds(), subject })
        });
        self.buffer = buffer;
        heading
    }

    /// Calls `visit` with each entry of a tree, until it returns `false`.
    pub(super) fn each_entry(&mut self, tree: &gix::oid, mut visit: impl FnMut(&[u8], Side) -> bool) -> Read<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = self.fetch(tree, Kind::Tree, &mut buffer).and_then(|()| {
            for entry in TreeRefIter::from_bytes(&buffer, tree.kind()) {
                let entry = entry.map_err(|_| Failure::damaged("unreadable tree", tree))?;
                if !visit(entry.filename, Side { mode: entry.mode, id: entry.oid.to_owned() }) {
                    break;
                }
            }
            Ok(())
        });
        self.buffer = buffer;
        done
    }

    /// The entries of a tree.
    pub(super) fn entries(&mut self, tree: Option<&gix::oid>) -> Read<Vec<(BString, Side)>> {
        let mut entries = Vec::new();
        if let Some(tree) = tree {
            self.each_entry(tree, |name, side| {
                entries.push((name.into(), side));
                true
            })?;
        }
        Ok(entries)
    }

    /// The size of a blob, without decoding it.
    pub(super) fn blob_size(&mut self, id: &gix::oid) -> Read<u64> {
        self.check()?;
        let header = self.repository.try_find_header(id).map_err(|error| Failure::Damaged(format!("{id}: {error}")))?;
        let header = header.ok_or_else(|| Failure::damaged("missing object", id))?;
        if header.kind() == Kind::Blob { Ok(header.size()) } else { Err(Failure::damaged("unexpected kind of object", id)) }
    }

    /// A blob of at most `most` bytes.
    pub(super) fn blob(&mut self, id: &gix::oid, most: u64) -> Read<Blob> {
        let size = self.blob_size(id)?;
        if size > most.min(MAX_BLOB) {
            return Ok(Blob::TooLarge(size));
        }
        let mut bytes = Vec::new();
        self.fetch(id, Kind::Blob, &mut bytes)?;
        Ok(Blob::Bytes(bytes))
    }
}
