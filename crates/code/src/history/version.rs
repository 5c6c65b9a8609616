//! One version of a file, as stored and as shown.

use base::{Author, FileVersionId, Result, Timestamp};
use store::Row;

use crate::files::Sha256;
use crate::path::CodePath;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word for it.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The one with this word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.word() == word)
            }
        }
    };
}

words! {
    /// What happened to a file.
    ChangeType {
        /// It is new, or history meets it for the first time.
        Create = "create",
        /// Its content changed.
        Update = "update",
        /// It is gone.
        Delete = "delete",
        /// It came from another folder.
        Move = "move",
        /// It got another name in its folder.
        Rename = "rename",
    }
}

words! {
    /// Where a change came from.
    ChangeSource {
        /// A write through this server.
        Toolcrib = "toolcrib",
        /// Someone changed the file on disk.
        Disk = "disk",
        /// A commit.
        Git = "git",
    }
}

/// How far a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Its file is being written, or was when the process was killed.
    InProgress,
    /// The file had this content.
    Done,
}

impl State {
    pub(crate) const fn number(self) -> i64 {
        match self {
            Self::InProgress => 0,
            Self::Done => 1,
        }
    }
}

/// A version of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// Its id.
    pub id: FileVersionId,
    /// The file.
    pub path: CodePath,
    /// Its number: 1, 2, … for each file.
    pub number: i64,
    /// What happened.
    pub change: ChangeType,
    /// Where the change came from.
    pub source: ChangeSource,
    /// Who made it. What someone changed on disk has the author `disk`.
    pub author: Author,
    /// How the caller calls itself.
    pub label: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The path before a move or a rename.
    pub moved_from: Option<CodePath>,
    /// The version before.
    pub parent: Option<FileVersionId>,
    /// The content before. `None` if there was none, or it is not known.
    pub sha256_before: Option<Sha256>,
    /// The content after. `None` if the file is gone, or too large.
    pub sha256_after: Option<Sha256>,
    /// Its size in bytes, unless the file is gone.
    pub size: Option<i64>,
    /// How many lines are new, if both contents were known.
    pub lines_added: Option<i64>,
    /// How many lines are gone, if both contents were known.
    pub lines_removed: Option<i64>,
    /// When it was recorded.
    pub created_at: Timestamp,
    pub(crate) state: State,
    pub(crate) steps: Option<i64>,
}

impl Version {
    /// Whether the file exists in this version.
    pub fn exists(&self) -> bool {
        self.change != ChangeType::Delete
    }

    /// Whether the content of this version can be shown.
    pub fn is_kept(&self) -> bool {
        self.steps.is_some()
    }

    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        let path = |name: &str| Ok::<_, base::Error>(row.get::<Option<String>>(name)?.map(|text| CodePath::from_row(&text)));
        let digest = |name: &str| Sha256::from_row(row.get::<Option<String>>(name)?.as_deref());
        let damaged = || base::Error::internal("a stored version is damaged");
        Ok(Self {
            id: FileVersionId::from_row(row.text("id")?),
            path: CodePath::from_row(row.text("path")?),
            number: row.get("version")?,
            change: ChangeType::parse(row.text("change_type")?).ok_or_else(damaged)?,
            source: ChangeSource::parse(row.text("source")?).ok_or_else(damaged)?,
            author: Author { agent: row.get("agent_id")?, session: row.get("session_id")? },
            label: row.get("label")?,
            reason: row.get("reason")?,
            moved_from: path("moved_from")?,
            parent: row.get::<Option<String>>("parent_id")?.map(|id| FileVersionId::from_row(&id)),
            sha256_before: digest("sha256_before")?,
            sha256_after: digest("sha256_after")?,
            size: row.get("size")?,
            lines_added: row.get("lines_added")?,
            lines_removed: row.get("lines_removed")?,
            created_at: row.get("created_at")?,
            state: if row.get::<i64>("state")? == State::InProgress.number() { State::InProgress } else { State::Done },
            steps: row.get("steps")?,
        })
    }
}
