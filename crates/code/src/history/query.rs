//! Questions about history: lists, one version, a file at an earlier time, and differences.

use std::io;
use std::time::Duration;

use base::{Cursor, Error, FileVersionId, Kind, Page, PageRequest, Result, Timestamp};
use similar::{TextDiff, TextDiffConfig};
use store::{AsParam as _, OrgStore, params};

use super::{ChangeType, History, Version, delta, sql};
use crate::path::{CodePath, shown};

/// Time to compare two contents for a reader.
const COMPARE_TIME_MAX: Duration = Duration::from_millis(500);
/// Lines around a change in a difference.
const CONTEXT_LINES: usize = 3;

/// Part of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Within {
    /// One file.
    File(CodePath),
    /// Everything below a folder.
    Folder(CodePath),
}

/// A filter for versions.
#[derive(Clone, Debug, Default)]
pub struct HistoryFilter {
    /// Only of this part of the project.
    pub within: Option<Within>,
    /// Not before this time.
    pub from: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Only these changes. None means all.
    pub changes: Vec<ChangeType>,
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only of this session.
    pub session: Option<String>,
}

/// Which version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The one with this number.
    Number(i64),
    /// The newest one at this time.
    Time(Timestamp),
}

/// A file at an earlier time.
#[derive(Clone, Debug, PartialEq)]
pub enum Past {
    /// History does not reach so far, or the file did not exist yet.
    Unknown,
    /// The file had been deleted.
    Deleted(Version),
    /// Its content is not kept.
    NotKept(Version),
    /// Its content.
    Content(Version, Vec<u8>),
}

/// The difference that a version made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diff {
    /// A unified diff.
    Text {
        /// The diff.
        text: String,
        /// Whether it was longer.
        is_cut: bool,
    },
    /// One of the contents is not text.
    Binary,
    /// One of the contents is not kept.
    NotKept,
}

impl<R: AsRef<OrgStore>> History<R> {
    /// A page of versions, newest first.
    pub async fn list(&self, filter: &HistoryFilter, page: &PageRequest) -> Result<Page<Version>> {
        let from = filter.from.map_or(i64::MIN, Timestamp::ms);
        let until = filter.until.map_or(i64::MAX, Timestamp::ms);
        let (before, before_id) = page.after.as_ref().map_or((i64::MAX, ""), |cursor| (cursor.created_at.ms(), &*cursor.id));
        let is_wanted = |change: ChangeType| filter.changes.is_empty() || filter.changes.contains(&change);
        let word = |change: ChangeType| if is_wanted(change) { change.word() } else { "" };
        let [create, update, delete, moved, renamed] =
            [ChangeType::Create, ChangeType::Update, ChangeType::Delete, ChangeType::Move, ChangeType::Rename].map(word);
        let rows = page.rows.saturating_add(1);
        let mut params = params![
            self.project,
            from,
            until,
            before,
            before_id,
            filter.agent,
            filter.session,
            create,
            update,
            delete,
            moved,
            renamed,
            rows
        ]
        .to_vec();
        let (folder, length);
        let sql = match &filter.within {
            Some(Within::File(path)) => {
                params.push(path.as_param());
                sql::LIST_OF_FILE
            }
            within => {
                folder = if let Some(Within::Folder(path)) = within { format!("{path}/") } else { String::new() };
                length = i64::try_from(folder.chars().count()).unwrap_or(i64::MAX);
                params.extend(params![length, folder]);
                sql::LIST
            }
        };
        let found = self.rows().query(sql, &params, Version::from_row).await?;
        let cursor_of = |version: &Version| Cursor { created_at: version.created_at, id: version.id.to_string() };
        Ok(Page::from_rows(found, page.rows, cursor_of))
    }

    /// One version.
    ///
    /// # Errors
    /// `not_found` if the project has no such version.
    pub async fn version(&self, id: &FileVersionId) -> Result<Version> {
        let found = self.rows().first(sql::BY_ID, &params![self.project, id], Version::from_row).await?;
        found.ok_or_else(|| Error::not_found("version", format!("there is no version `{id}`")))
    }

    /// The newest version of a file, if history knows the file.
    pub async fn newest_version(&self, path: &CodePath) -> Result<Option<Version>> {
        self.at(path, At::Time(Timestamp::from_ms(i64::MAX))).await
    }

    /// A version of a file.
    pub(super) async fn at(&self, path: &CodePath, at: At) -> Result<Option<Version>> {
        match at {
            At::Number(number) => {
                self.rows().first(sql::BY_NUMBER, &params![self.project, path, number], Version::from_row).await
            }
            At::Time(time) => self.rows().first(sql::AS_OF, &params![self.project, path, time], Version::from_row).await,
        }
    }

    /// A file as it was.
    ///
    /// # Errors
    /// `not_found` if a version is asked for by a number that the file does not have.
    pub async fn text_at(&self, path: &CodePath, at: At) -> Result<Past> {
        let Some(version) = self.at(path, at).await? else {
            return match at {
                At::Number(number) => Err(no_version(path, number)),
                At::Time(_) => Ok(Past::Unknown),
            };
        };
        if !version.exists() {
            return Ok(Past::Deleted(version));
        }
        Ok(match self.content_of(&version).await? {
            Some(content) => Past::Content(version, content),
            None => Past::NotKept(version),
        })
    }

    /// The unified diff of a version against the one before, at most `bytes_max` bytes of it.
    pub async fn diff(&self, version: &Version, bytes_max: usize) -> Result<Diff> {
        let before = match version.number {
            1 => None,
            number => self.at(&version.path, At::Number(number - 1)).await?,
        };
        let (old, new) = (self.state_before(version, before.as_ref()).await?, self.state_of(version).await?);
        let (Some(old), Some(new)) = (old, new) else { return Ok(Diff::NotKept) };
        let path = version.path.clone();
        store::compute(self.rows().org(), move || unified(&path, old.as_deref(), new.as_deref(), bytes_max)).await
    }
}

/// The error for a number that a file does not have.
pub(super) fn no_version(path: &CodePath, number: i64) -> Error {
    let path = shown(path.as_str());
    Error::new(Kind::NotFound, format!("`{path}` has no version {number}; list its history")).with("missing", "version")
}

/// The unified diff of two contents.
fn unified(path: &CodePath, old: Option<&[u8]>, new: Option<&[u8]>, bytes_max: usize) -> Diff {
    let text = |content: Option<&[u8]>| {
        let content = content.unwrap_or_default();
        std::str::from_utf8(content)
            .ok()
            .filter(|text| !text.contains('\0'))
            .map(|text| (text.to_owned(), delta::is_comparable(content)))
    };
    let (Some((old_text, old_fits)), Some((new_text, new_fits))) = (text(old), text(new)) else { return Diff::Binary };
    if !old_fits || !new_fits {
        return Diff::Text { text: String::new(), is_cut: true };
    }
    let name = |side: &str, content: Option<&[u8]>| content.map_or_else(|| "/dev/null".to_owned(), |_| format!("{side}/{path}"));
    let diff: TextDiff<'_, '_, str> = TextDiffConfig::default().timeout(COMPARE_TIME_MAX).diff_lines(&*old_text, &*new_text);
    let mut out = Bounded { bytes: Vec::new(), bytes_max };
    let written = diff.unified_diff().context_radius(CONTEXT_LINES).header(&name("a", old), &name("b", new)).to_writer(&mut out);
    let is_cut = written.is_err();
    let mut text = String::from_utf8_lossy(&out.bytes).into_owned();
    if is_cut {
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    }
    Diff::Text { text, is_cut }
}

/// Takes a limited number of bytes and refuses the rest.
struct Bounded {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.bytes_max.saturating_sub(self.bytes.len()));
        self.bytes.extend(bytes.iter().take(taken));
        if taken == 0 && !bytes.is_empty() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_unified_and_bounded() {
        let path = CodePath::parse("src/a.rs").unwrap();
        let of = |old: Option<&str>, new: Option<&str>, max| unified(&path, old.map(str::as_bytes), new.map(str::as_bytes), max);
        let expected = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\\ No newline at end of file\n";
        assert_eq!(of(Some("one\ntwo\n"), Some("one\n2"), 1_000), Diff::Text { text: expected.to_owned(), is_cut: false });
        let Diff::Text { text, is_cut } = of(None, Some("one\ntwo\n"), 49) else { panic!() };
        assert_eq!((&*text, is_cut), ("--- /dev/null\n+++ b/src/a.rs\n@@ -0,0 +1,2 @@\n", true));
        assert_eq!(of(Some("a"), Some("a"), 50), Diff::Text { text: String::new(), is_cut: false });
        assert_eq!(unified(&path, Some(b"\xff"), Some(b"a"), 50), Diff::Binary);
        assert_eq!(of(Some("a\0"), None, 50), Diff::Binary);
        let huge = "\n".repeat(300_000);
        assert_eq!(of(Some(&huge), Some("a"), 50), Diff::Text { text: String::new(), is_cut: true });
    }
}
