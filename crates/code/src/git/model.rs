//! What the repository's history says, in plain values.

use std::time::Duration;

use base::Timestamp;

/// What happened to a file in a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeType {
    /// The file is new.
    Create,
    /// The file has another content or another mode.
    Update,
    /// The file is gone.
    Delete,
    /// The file has another name, perhaps also in another folder.
    Rename,
    /// The file has the same name in another folder.
    Move,
}

impl ChangeType {
    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Move => "move",
        }
    }
}

/// What one commit did to one file. Paths are relative to the project's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, by its name after the commit. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// What happened.
    pub change_type: ChangeType,
    /// The file's path before, if it was renamed or moved.
    pub from: Option<String>,
    /// Lines that only the new content has. `None` for a binary or very large file, and for a submodule.
    pub lines_added: Option<u32>,
    /// Lines that only the old content has. `None` as for `lines_added`.
    pub lines_removed: Option<u32>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The full id in hexadecimal.
    pub id: String,
    /// When it was committed. Pages are sorted by this time, and time ranges mean this time.
    pub time: Timestamp,
    /// When its author wrote it.
    pub authored_at: Timestamp,
    /// The author's name.
    pub author: String,
    /// The first paragraph of the message, on one line.
    pub subject: String,
    /// Whether it has several parents. Such a commit lists no changes.
    pub is_merge: bool,
    /// What it changed, sorted by path.
    pub changes: Vec<FileChange>,
    /// Whether `changes` misses something: the commit is too large, an object cannot be read, or the history before it is not here.
    pub is_partial: bool,
}

/// One page of commits, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitPage {
    /// The commits.
    pub commits: Vec<Commit>,
    /// Where the next page starts, if there is one. It stays valid when `HEAD` moves.
    pub next: Option<String>,
    /// Whether commits may be missing: the clone is shallow, an object cannot be read, or a budget ran out.
    pub is_partial: bool,
}

/// Which commits to list.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// Only commits of this time or later.
    pub since: Option<Timestamp>,
    /// Only commits of this time or earlier.
    pub until: Option<Timestamp>,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How much one call may cost.
    pub bounds: Bounds,
}

/// How much one call may cost.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Commits of a page.
    pub commits: usize,
    /// Bytes of decompressed objects.
    pub bytes: u64,
    /// Time. It is checked between objects.
    pub wall: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { commits: 50, bytes: 256 << 20, wall: Duration::from_secs(5) }
    }
}

/// The content of a file in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The commit has no such file.
    Missing,
    /// It is not text. Its size in bytes.
    Binary(u64),
    /// It is larger than 16 MiB. Its size in bytes.
    TooLarge(u64),
    /// The text. Bytes that are not UTF-8 are replaced.
    Text(String),
}

/// What a commit did to one file, as a unified diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// What happened, with the number of lines.
    pub change: FileChange,
    /// The unified diff. Empty where a side is binary or very large.
    pub text: String,
    /// Whether `text` misses something: it is too long, or a side cannot be shown.
    pub is_partial: bool,
}

/// Consecutive lines of a file that come from one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameLines {
    /// The first line, counted from 1.
    pub start_line: u32,
    /// How many lines.
    pub lines: u32,
    /// The commit's full id in hexadecimal.
    pub commit: String,
    /// The author's name.
    pub author: String,
    /// When it was committed.
    pub time: Timestamp,
}

/// Where the lines of a file come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// The lines in order. Lines whose origin was not found within the budget are left out.
    pub lines: Vec<BlameLines>,
    /// Whether lines are missing or attributed to the oldest commit that is here, because the clone is shallow, an object cannot be
    /// read, or a budget ran out.
    pub is_partial: bool,
}
