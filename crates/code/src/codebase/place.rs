//! What is open of one project: its files, its search index and its repository.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use base::{Error, ProjectId, Result};
use search::background::Questions;
use search::embed::Embedder;
use store::OrgStore;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::files::{Files, Read, Root, Stamp, StoredFile, stored_files};
use crate::find::{Finder, FinderConfig, Passage, PassageSink, VectorPack};
use crate::git::Repository;
use crate::index::{Content, FileStamp, Folder, Listing, ProjectFiles, ProjectParts};
use crate::path::CodePath;

/// The number of stored files that are listed at once.
const STORED_AT_ONCE: u32 = 1_000;

/// What is needed to open a project.
pub(super) struct Opening {
    pub(super) rows: OrgStore,
    pub(super) project: ProjectId,
    pub(super) root: Option<String>,
    pub(super) folder: Option<PathBuf>,
    pub(super) pack: Option<Arc<VectorPack>>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) questions: Arc<Questions>,
}

/// An open project.
pub(super) struct Place {
    root: Option<String>,
    pub(super) files: Files,
    pub(super) finder: Arc<Finder>,
    indexed: Arc<dyn ProjectFiles>,
    repository: OnceLock<Option<Repository>>,
    /// Whether versions that a killed process left behind were looked at.
    pub(super) is_settled: AtomicBool,
}

impl Opening {
    /// Opens the files and the search index.
    pub(super) async fn open(self) -> Result<Place> {
        let runtime = Handle::current();
        let work = move || {
            let Self { rows, project, root, folder, pack, embedder, questions } = self;
            let (files, indexed): (Files, Arc<dyn ProjectFiles>) = match &root {
                Some(root) => {
                    let folder = Folder::open(Path::new(root)).map_err(|error| gone(&error))?;
                    (Files::Disk(Arc::new(Root::open(Path::new(root))?)), Arc::new(folder))
                }
                None => (Files::Rows, Arc::new(StoredFiles { rows, project, runtime })),
            };
            let config = |folder| FinderConfig {
                folder,
                embedder: Arc::clone(&embedder),
                pack: pack.clone(),
                questions: Arc::clone(&questions),
            };
            let finder = Finder::open(config(folder)).or_else(|error| {
                tracing::warn!(%error, "the words of code are not kept on disk");
                Finder::open(config(None))
            })?;
            Ok(Place {
                root,
                files,
                finder: Arc::new(finder),
                indexed,
                repository: OnceLock::new(),
                is_settled: AtomicBool::new(false),
            })
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }
}

fn gone(error: &io::Error) -> Error {
    // The caller must see these words, so it is not `unavailable`.
    Error::new(base::Kind::Conflict, "the project's root cannot be read; ask the operator to restore it").logged(error)
}

impl Place {
    pub(super) fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// What the index is made of.
    pub(super) fn parts(&self, sink: Told) -> ProjectParts {
        ProjectParts { files: Arc::clone(&self.indexed), sink: Some(Arc::new(sink)) }
    }

    /// The git repository of the root, if it is in one. The first call looks for it, so call it on a blocking thread.
    pub(super) fn repository(&self) -> Option<&Repository> {
        self.repository.get_or_init(|| Repository::discover(Path::new(self.root.as_deref()?))).as_ref()
    }
}

/// Hands passages on to the search index, and wakes whoever makes vectors.
pub(super) struct Told {
    pub(super) finder: Arc<Finder>,
    pub(super) waiting: Arc<Notify>,
}

impl PassageSink for Told {
    fn put_file(&self, file: u32, path: &str, passages: Vec<Passage>) {
        self.finder.put_file(file, path, passages);
        self.waiting.notify_one();
    }

    fn remove_file(&self, file: u32) {
        self.finder.remove_file(file);
    }

    fn bytes(&self) -> usize {
        PassageSink::bytes(&*self.finder)
    }
}

/// The files of a project without a root. They are rows, and the index reads them on its own threads.
struct StoredFiles {
    rows: OrgStore,
    project: ProjectId,
    runtime: Handle,
}

impl StoredFiles {
    fn file(&self, path: &str, bytes_max: usize) -> io::Result<Read> {
        let path = CodePath::parse(path).map_err(io::Error::other)?;
        self.runtime.block_on(Files::Rows.read(&self.rows, &self.project, &path, bytes_max)).map_err(io::Error::other)
    }
}

impl ProjectFiles for StoredFiles {
    fn list(&self, only: Option<&[String]>, stop: &AtomicBool) -> io::Result<Listing> {
        let mut listing = Listing::default();
        let mut after: Option<CodePath> = None;
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            let reading = stored_files(&self.rows, &self.project, after.as_ref(), STORED_AT_ONCE);
            let some = self.runtime.block_on(reading).map_err(io::Error::other)?;
            let is_last = some.len() < STORED_AT_ONCE as usize;
            after = some.last().map(|file| file.path.clone());
            for file in some {
                let is_wanted = only.is_none_or(|only| {
                    let path = file.path.as_str();
                    let holds = |folder: &String| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
                    only.iter().any(|wanted| wanted.is_empty() || wanted == path || holds(wanted))
                });
                if is_wanted {
                    listing.files.push((file.path.as_str().to_owned(), stamp_of(&file)));
                }
            }
            if is_last {
                break;
            }
        }
        Ok(listing)
    }

    fn stamp(&self, path: &str) -> Option<FileStamp> {
        match self.file(path, 0).ok()? {
            Read::File { stamp, .. } | Read::TooLarge { stamp, .. } => Some(stamp.into()),
            Read::Missing | Read::Folder | Read::Special => None,
        }
    }

    fn read(&self, path: &str, bytes_max: u64) -> io::Result<(FileStamp, Content)> {
        match self.file(path, usize::try_from(bytes_max).unwrap_or(usize::MAX))? {
            Read::File { bytes, stamp } => Ok((stamp.into(), Content::Bytes(bytes))),
            Read::TooLarge { stamp, .. } => Ok((stamp.into(), Content::TooLong)),
            Read::Missing | Read::Folder | Read::Special => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl From<Stamp> for FileStamp {
    fn from(stamp: Stamp) -> Self {
        let Stamp { size, modified_ns, changed_ns, inode, .. } = stamp;
        Self { size, modified_ns, changed_ns, inode }
    }
}

/// The version is part of the stamp, so two contents of the same length and time differ.
fn stamp_of(file: &StoredFile) -> FileStamp {
    FileStamp {
        size: file.size.unsigned_abs(),
        modified_ns: file.changed_at.ms().saturating_mul(1_000_000),
        changed_ns: file.version,
        inode: 0,
    }
}
