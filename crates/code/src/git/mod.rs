//! The repository's own history: its log with renames, the history of one file, its text and diff in a commit, and blame.
//!
//! The repository is not trusted. Its configuration is ignored where it could matter, and nothing it names is ever run: no hook, filter,
//! text conversion, external diff, file monitor or credential helper, and not `git` itself. The network is never used. Objects are read
//! within bounds of bytes and time. A damaged object makes an answer partial, never a panic: what `gix` does on hostile input is caught
//! here, and the lists that were kept are dropped then.
//!
//! Known limits: `objects/info/alternates` is followed as `gix` and git follow it, also to folders elsewhere on the disk, so that a shared
//! clone works. Whoever can write that file can so read objects of another repository whose commit ids they know. Packs are mapped
//! into memory, so a pack that is truncated in place while it is read can end the process, as with every program that maps files; git
//! itself never changes a pack in place. Only SHA-1 repositories with refs in files are read.

mod bases;
mod blame;
mod changes;
mod content;
mod history;
mod lines;
mod locate;
mod log;
mod model;
mod plain;
mod reader;
mod renames;
mod similarity;
#[cfg(test)]
mod tests;
mod trees;
mod walk;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use base::{Error, Result};
use gix::bstr::BString;

pub use model::{Blame, BlameLines, Bounds, ChangeType, Commit, CommitPage, Content, FileChange, FileDiff, LogFilter};
use reader::Reader;

/// What one object may need in memory while it is decoded: twice its size, and its deltas.
const MEMORY_OF_AN_OBJECT: &str = "gitoxide.objects.allocLimit=67108864";

/// The git repository that a project's root belongs to.
///
/// All its functions block: call them where blocking is allowed. They may be called from several threads at once.
pub struct Repository {
    shared: gix::ThreadSafeRepository,
    /// The project's root in the work tree.
    prefix: BString,
    walks: walk::Walks,
    trails: history::Trails,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Repository {
    /// The repository whose work tree `root` is, or is a folder of. `None` if there is none, or if it cannot be trusted to be the
    /// root's own: see `locate`.
    pub fn discover(root: &Path) -> Option<Self> {
        let opened = catch_unwind(|| {
            let location = locate::locate(root)?;
            let options = gix::open::Options::isolated()
                .with(gix::sec::Trust::Reduced)
                .config_overrides([MEMORY_OF_AN_OBJECT])
                .open_path_as_is(true);
            let shared = options
                .open(&location.git_dir)
                .inspect_err(|error| tracing::debug!(%error, "a repository cannot be opened"))
                .ok()?;
            Some((shared, location.prefix))
        });
        let (shared, prefix) = opened.ok().flatten()?;
        Some(Self { shared, prefix, walks: walk::Walks::default(), trails: history::Trails::default() })
    }

    /// The full id of the commit that is checked out. `None` in a repository without a commit.
    pub fn head(&self) -> Result<Option<String>> {
        self.guarded(|repository| {
            let head = repository.head().map_err(log::unreadable)?;
            Ok(head.id().map(|id| id.to_string()))
        })
    }

    /// One page of commits, newest first.
    pub fn log(&self, filter: &LogFilter) -> Result<CommitPage> {
        self.guarded(|repository| {
            let Some(place) = log::Place::find(&self.walks, repository, filter.cursor.as_deref())? else {
                return Ok(CommitPage::default());
            };
            log::page(&mut Reader::new(repository, &filter.bounds), place, &self.prefix, filter)
        })
    }

    /// One page of the commits that touched the file at `path`, newest first, also under its former names.
    pub fn history(&self, path: &str, cursor: Option<&str>, bounds: &Bounds) -> Result<CommitPage> {
        let path = checked(path)?;
        self.guarded(|repository| {
            let Some(place) = log::Place::find(&self.walks, repository, cursor)? else { return Ok(CommitPage::default()) };
            history::page(&mut Reader::new(repository, bounds), &self.trails, place, &self.prefix, path, bounds)
        })
    }

    /// The text of the file at `path` in the commit with the full id `commit`.
    pub fn text_at(&self, path: &str, commit: &str) -> Result<Content> {
        let path = checked(path)?;
        self.guarded(|repository| {
            let mut reader = Reader::new(repository, &Bounds::default());
            let node = content::commit(&mut reader, commit)?;
            content::answered(content::text_at(&mut reader, &node, &content::full_path(&self.prefix, path)))
        })
    }

    /// What the commit with the full id `commit` did to the file at `path`, against its first parent. `None` if it did not touch it.
    pub fn diff(&self, path: &str, commit: &str) -> Result<Option<FileDiff>> {
        let path = checked(path)?;
        self.guarded(|repository| {
            let mut reader = Reader::new(repository, &Bounds::default());
            let node = content::commit(&mut reader, commit)?;
            content::answered(content::diff(&mut reader, &node, &self.prefix, path))
        })
    }

    /// Which commit each line of the file at `path` comes from, as the file is in the commit that is checked out.
    pub fn blame(&self, path: &str, bounds: &Bounds) -> Result<Blame> {
        let name = checked(path)?;
        self.guarded(|repository| {
            let missing = || Error::not_found("file", format!("`{path}` is not in the commit that is checked out"));
            let head = repository.head().map_err(log::unreadable)?.id().ok_or_else(missing)?.detach();
            let mut reader = Reader::new(repository, bounds);
            let node = content::answered(reader.node(&head))?;
            let full = content::full_path(&self.prefix, name);
            let side = content::answered(trees::Lookup::default().file(&mut reader, node.tree, &full))?.ok_or_else(missing)?;
            let text = content::answered(changes::text(&mut reader, Some(side)))?;
            let text = text.ok_or_else(|| Error::invalid("path", format!("`{path}` is not text, or larger than 4 MiB")))?;
            Ok(blame::Search::new(&self.prefix).run(&mut reader, &node, name, side, lines::count(&text)))
        })
    }

    /// Runs `work` and turns a panic of `gix` into an error.
    fn guarded<T>(&self, work: impl FnOnce(&gix::Repository) -> Result<T>) -> Result<T> {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let mut repository = self.shared.to_thread_local();
            repository.objects.set_pack_cache(|| Box::new(bases::Bases::new()));
            work(&repository)
        }));
        caught.unwrap_or_else(|_| {
            // A list may have been cut in the middle of a step.
            self.walks.clear();
            self.trails.clear();
            Err(log::unreadable("reading the repository panicked"))
        })
    }
}

/// The bytes of a path that is relative to the project's root.
fn checked(path: &str) -> Result<&[u8]> {
    let is_plain = path.len() <= 1_024 && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if is_plain { Ok(path.as_bytes()) } else { Err(Error::invalid("path", format!("`{path}` is not a path below the root"))) }
}

#[cfg(test)]
mod boundary {
    use super::*;

    #[test]
    fn a_panic_of_the_reader_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["objects", "refs"] {
            std::fs::create_dir_all(folder.path().join(".git").join(name)).unwrap();
        }
        std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let repository = Repository::discover(folder.path()).unwrap();
        let caught = repository.guarded(|_| -> Result<()> { panic!("as gix may") });
        assert_eq!(caught.unwrap_err().kind(), base::Kind::Unavailable);
        assert_eq!(repository.log(&LogFilter::default()).unwrap(), CommitPage::default(), "the next call works");
    }
}
