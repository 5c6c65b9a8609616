//! What people ask about a project's code: its tree, old contents, who wrote each line, and undoing changes.
//!
//! Undoing adds versions like every write. Nothing here removes history.

use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Author, Error, FileVersionId, Result};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use store::{Change, OrgStore};
use syntax::Language;

use super::{Codebase, PastChange};
use super::read::FileContent;
use crate::git::{BlameLines, Bounds, Content};
use crate::history::{ChangeSource, RolledBack, Version, Writer};
use crate::index::Snapshot;
use crate::path::CodePath;

/// How long a question about the whole project waits for an index that is being built.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time to compare a file with its committed content.
const COMPARE_TIME_MAX: Duration = Duration::from_millis(500);
/// More changed files than this are left to the background.
const REFRESHED_MAX: usize = 20;
/// Lines that are compared.
const LINES_MAX: usize = 200_000;

/// A page of what is directly in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreePage {
    /// Folders and files, by name.
    pub entries: Vec<TreeEntry>,
    /// The `after` of the next page, if there is one.
    pub next: Option<String>,
}

/// A folder or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEntry {
    /// A folder.
    Folder {
        /// Its path.
        path: String,
        /// The number of files in it and below.
        files: u64,
    },
    /// A file.
    File {
        /// Its path.
        path: String,
        /// Its size in bytes when it was last looked at.
        size: u64,
        /// Its programming language, if it is known.
        language: Option<&'static str>,
        /// The number of its symbols.
        symbols: u64,
    },
}

impl TreeEntry {
    /// Its path.
    pub fn path(&self) -> &str {
        match self {
            Self::Folder { path, .. } | Self::File { path, .. } => path,
        }
    }

    /// The last name of its path, with a slash if it is a folder.
    fn name(&self) -> String {
        let name = self.path().rsplit('/').next().unwrap_or_default();
        if matches!(self, Self::Folder { .. }) { format!("{name}/") } else { name.to_owned() }
    }
}

/// Where the lines of a file come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileBlame {
    /// The lines in order. Lines of an unknown origin are left out.
    pub spans: Vec<LineOrigin>,
    /// Whether lines may be missing or belong to an older change: the clone is shallow, or looking further took too long.
    pub is_partial: bool,
}

/// Lines next to each other that came with one change.
#[derive(Clone, Debug, PartialEq)]
pub struct LineOrigin {
    /// The first line, counted from 1.
    pub start_line: u32,
    /// How many lines.
    pub lines: u32,
    /// The change.
    pub change: Origin,
}

/// The change that brought some lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A version of this server's history.
    Version(Arc<Version>),
    /// A commit.
    Commit {
        /// Its full id.
        id: String,
        /// Its author's name.
        author: String,
        /// When it was committed.
        time: base::Timestamp,
    },
    /// A change on disk that is neither in history nor committed.
    Uncommitted,
}

impl Origin {
    /// Where the change was made.
    pub fn source(&self) -> ChangeSource {
        match self {
            Self::Version(version) => version.source,
            Self::Commit { .. } => ChangeSource::Git,
            Self::Uncommitted => ChangeSource::Disk,
        }
    }
}

impl<R: AsRef<OrgStore> + Clone> Codebase<R> {
    /// What is directly in a folder, or in the root: at most `limit` entries whose names come after `after`. It waits a moment for an
    /// index that is being built.
    ///
    /// # Errors
    /// `not_found` if the index has no such folder.
    pub async fn tree(&self, folder: Option<&CodePath>, after: Option<String>, limit: usize) -> Result<TreePage> {
        if !self.index.coverage().is_complete {
            self.index.settled(PATIENCE).await;
        }
        let folder = folder.cloned();
        self.ask(None, move |snapshot| {
            let page = listed(snapshot, folder.as_ref(), after.as_deref().unwrap_or_default(), limit);
            match folder {
                Some(folder) if page.entries.is_empty() && after.is_none() => {
                    Err(Error::not_found("folder", format!("there is no folder `{folder}` in the index")))
                }
                _ => Ok(page),
            }
        })
        .await
    }

    /// The path that leads to a file without symbolic links, as history knows it.
    pub async fn real(&self, path: &CodePath) -> Result<CodePath> {
        self.place.files.real(path).await
    }

    /// The numbers of the versions behind changes. A commit has none.
    pub async fn numbers_of(&self, changes: &[PastChange]) -> Result<Vec<Option<i64>>> {
        let history = self.history();
        let mut numbers = Vec::with_capacity(changes.len());
        for change in changes {
            let id = FileVersionId::parse(&change.id).filter(|_| change.source != ChangeSource::Git);
            numbers.push(match id {
                Some(id) => Some(history.version(&id).await?.number),
                None => None,
            });
        }
        Ok(numbers)
    }

    /// The content of a file in a commit. `None` if the project has no repository.
    pub async fn in_commit(&self, path: &CodePath, commit: String) -> Result<Option<Content>> {
        let (place, path) = (Arc::clone(&self.place), path.clone());
        let work = move || place.repository().map(|repository| repository.text_at(path.as_str(), &commit)).transpose();
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }

    /// Who wrote each line of a file as it is now: from this server's history if it has the content, else from the repository.
    ///
    /// # Errors
    /// `not_found` if there is no such file; `invalid_params` if it is not text.
    pub async fn blame(&self, path: &CodePath) -> Result<FileBlame> {
        let file = self.read(path).await?;
        let text = match file.content {
            FileContent::Text(text) => text,
            FileContent::Missing | FileContent::Folder | FileContent::Special => {
                return Err(Error::not_found("file", format!("there is no file `{path}`")));
            }
            FileContent::TooLarge | FileContent::Binary => {
                return Err(Error::invalid("path", format!("`{path}` is not text, or too large to say who wrote its lines")));
            }
        };
        if let Some(known) = self.history().blame(&file.path).await?.filter(|known| known.version.sha256_after == file.sha256) {
            let origin = |span: crate::history::BlameSpan| LineOrigin {
                start_line: span.start_line,
                lines: span.lines,
                change: Origin::Version(span.version),
            };
            let is_partial = known.spans.is_empty() && !text.is_empty();
            return Ok(FileBlame { spans: known.spans.into_iter().map(origin).collect(), is_partial });
        }
        self.committed(file.path, text).await
    }

    /// Who wrote the lines of `text`, by the repository.
    async fn committed(&self, path: CodePath, text: String) -> Result<FileBlame> {
        let place = Arc::clone(&self.place);
        let work = move || -> Result<FileBlame> {
            let Some(now) = lines(&text) else { return Ok(FileBlame { is_partial: true, ..FileBlame::default() }) };
            let all_new = || FileBlame { spans: spans(&vec![Owner::Disk; now.len()], &[]), is_partial: false };
            let Some(repository) = place.repository() else { return Ok(all_new()) };
            let Some(head) = repository.head()? else { return Ok(all_new()) };
            let Content::Text(committed) = repository.text_at(path.as_str(), &head)? else { return Ok(all_new()) };
            let Some(before) = lines(&committed) else { return Ok(FileBlame { is_partial: true, ..FileBlame::default() }) };
            let known = repository.blame(path.as_str(), &Bounds::default())?;
            let mut owners = vec![Owner::Unknown; before.len()];
            for (place, span) in known.lines.iter().enumerate() {
                let first = span.start_line.saturating_sub(1) as usize;
                let owned = owners.iter_mut().skip(first).take(span.lines as usize);
                owned.for_each(|owner| *owner = Owner::Commit(place));
            }
            let owners = carried(&before, &now, &owners);
            let commit = |span: BlameLines| Origin::Commit { id: span.commit, author: span.author, time: span.time };
            let commits: Vec<Origin> = known.lines.into_iter().map(commit).collect();
            Ok(FileBlame { spans: spans(&owners, &commits), is_partial: known.is_partial })
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }
}

impl Codebase<Change> {
    /// Gives a file the content of an earlier version, or removes it if it was deleted then. `None` if it is so already.
    ///
    /// # Errors
    /// `not_found` if there is no such version, `conflict` if its content is not kept.
    pub async fn restore(&self, by: &Author, path: &CodePath, version: i64, reason: Option<String>) -> Result<Option<Version>> {
        let restored = self.history().restore(by, path, version, reason).await?;
        self.look_again(restored.iter().map(|version| version.path.clone()).collect()).await?;
        Ok(restored)
    }

    /// Undoes what `writer` wrote, file by file in the order of paths, at most a thousand files after `after`.
    pub async fn roll_back(
        &self,
        by: &Author,
        writer: &Writer,
        reason: Option<String>,
        after: Option<&CodePath>,
    ) -> Result<Vec<RolledBack>> {
        let done = self.history().rollback(by, writer, reason, after).await?;
        self.look_again(done.iter().map(|file| file.path.clone()).collect()).await?;
        Ok(done)
    }

    /// Brings the index up to date with files that were changed here.
    async fn look_again(&self, changed: Vec<CodePath>) -> Result<()> {
        let index = Arc::clone(&self.index);
        let work = move || {
            if changed.len() > REFRESHED_MAX {
                index.ask_to_reconcile();
            } else {
                for path in &changed {
                    index.refresh(path.as_str());
                }
            }
        };
        store::compute(self.rows().org(), work).await
    }
}

/// The name of the programming language of a text, if it is known.
pub fn language_of(path: &CodePath, text: &str) -> Option<&'static str> {
    Language::of(path.as_str(), text).map(Language::name)
}

/// The entries of a folder after the name `after`.
fn listed(snapshot: &Snapshot, folder: Option<&CodePath>, after: &str, limit: usize) -> TreePage {
    let prefix = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
    let mut page = TreePage::default();
    let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
    for path in snapshot.paths.range::<str, _>(from).map(|(path, _)| path.as_ref()).take_while(|path| path.starts_with(&prefix)) {
        let rest = path.get(prefix.len()..).unwrap_or_default();
        // A folder's name ends with a slash, so that it sorts like the paths in it.
        let (name, is_folder) = rest.split_inclusive('/').next().map_or((rest, false), |name| (name, name.ends_with('/')));
        if name <= after {
            continue;
        }
        let place = format!("{prefix}{}", name.trim_end_matches('/'));
        if let Some(TreeEntry::Folder { path, files }) = page.entries.last_mut()
            && is_folder
            && *path == place
        {
            *files += 1;
            continue;
        }
        if page.entries.len() == limit {
            page.next = page.entries.last().map(TreeEntry::name);
            break;
        }
        let known = snapshot.at(path).map(|(_, file)| file);
        page.entries.push(match is_folder {
            true => TreeEntry::Folder { path: place, files: 1 },
            false => TreeEntry::File {
                path: place,
                size: known.map_or(0, |file| file.stamp.size),
                language: known.and_then(|file| file.language).map(Language::name),
                symbols: known.map_or(0, |file| file.lean.symbols.len() as u64),
            },
        });
    }
    page
}

/// The change that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Unknown,
    Disk,
    /// The number of a commit in a list.
    Commit(usize),
}

/// The lines of a text. `None` if they are too many to compare.
fn lines(text: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text.split_inclusive('\n').take(LINES_MAX + 1).collect();
    (lines.len() <= LINES_MAX).then_some(lines)
}

/// The owners of the lines in `now`: those that `before` has keep their owner, and the others are new.
fn carried(before: &[&str], now: &[&str], owners: &[Owner]) -> Vec<Owner> {
    let mut carried = Vec::with_capacity(now.len());
    let deadline = Instant::now() + COMPARE_TIME_MAX;
    for op in capture_diff_slices_deadline(Algorithm::Myers, before, now, Some(deadline)) {
        if matches!(op, DiffOp::Equal { .. }) {
            carried.extend(owners.get(op.old_range()).unwrap_or_default());
        } else {
            carried.extend(op.new_range().map(|_| Owner::Disk));
        }
    }
    carried
}

/// Joins lines next to each other that have the same owner.
fn spans(owners: &[Owner], commits: &[Origin]) -> Vec<LineOrigin> {
    let (mut spans, mut start_line) = (Vec::new(), 1);
    for run in owners.chunk_by(|one, other| one == other) {
        let lines = u32::try_from(run.len()).unwrap_or(u32::MAX);
        let change = match run.first() {
            Some(Owner::Disk) => Some(Origin::Uncommitted),
            Some(Owner::Commit(place)) => commits.get(*place).cloned(),
            Some(Owner::Unknown) | None => None,
        };
        spans.extend(change.map(|change| LineOrigin { start_line, lines, change }));
        start_line = start_line.saturating_add(lines);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_committed_belong_to_the_disk() {
        let before = lines("one\ntwo\nthree\n").unwrap();
        let now = lines("zero\none\ntwo\n3\n").unwrap();
        let owners = [Owner::Commit(0), Owner::Commit(1), Owner::Commit(1)];
        let carried = carried(&before, &now, &owners);
        assert_eq!(carried, [Owner::Disk, Owner::Commit(0), Owner::Commit(1), Owner::Disk]);
        let commit = |id: &str| Origin::Commit { id: id.to_owned(), author: "a".to_owned(), time: base::Timestamp::from_ms(1) };
        let found = spans(&[Owner::Unknown, Owner::Commit(1), Owner::Commit(1), Owner::Disk], &[commit("x"), commit("y")]);
        let shown: Vec<_> = found.iter().map(|span| (span.start_line, span.lines, span.change.source())).collect();
        assert_eq!(shown, [(2, 2, ChangeSource::Git), (4, 1, ChangeSource::Disk)]);
    }

    #[test]
    fn too_many_lines_are_not_compared() {
        assert!(lines(&"\n".repeat(LINES_MAX)).is_some() && lines(&"\n".repeat(LINES_MAX + 1)).is_none());
    }
}
