//! Changes on disk as the file system reports them. An event is a hint: the file is always compared with the disk.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::EventKind;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::project::Waiting;

/// More folders are not watched: the system's watches are for everyone.
const FOLDERS_MAX: usize = 8_192;

/// A watch over the folders of a project. Ignored folders are not in it.
pub(super) struct Watch {
    root: PathBuf,
    watcher: RecommendedWatcher,
    folders: HashSet<String>,
}

impl Watch {
    /// A watch that reports to `waiting`. Nothing if the system has none left.
    pub(super) fn new(root: &Path, waiting: &Arc<Waiting>) -> Option<Self> {
        let (waiting, inside) = (Arc::clone(waiting), root.to_owned());
        let report = move |event: notify::Result<Event>| match event {
            Ok(event) => report(&inside, &event, &waiting),
            // Events may be lost.
            Err(_) => waiting.ask_for_all(),
        };
        match notify::recommended_watcher(report) {
            Ok(watcher) => Some(Self { root: root.to_owned(), watcher, folders: HashSet::new() }),
            Err(error) => {
                tracing::warn!(%error, "changes of a project's files cannot be watched; they are found by listings");
                None
            }
        }
    }

    /// Watches folders, and returns how many of them are new.
    pub(super) fn add(&mut self, folders: &[String]) -> notify::Result<usize> {
        let mut added = 0;
        for folder in folders {
            if self.folders.contains(folder) {
                continue;
            }
            if self.folders.len() >= FOLDERS_MAX {
                return Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch));
            }
            match self.watcher.watch(&self.root.join(folder), RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // It has just gone, and what it was in reports that.
                Err(error) if is_missing(&error) => continue,
                Err(error) => return Err(error),
            }
            self.folders.insert(folder.clone());
            added += 1;
        }
        Ok(added)
    }

    /// Forgets folders that are gone: one that comes back is watched again.
    pub(super) fn forget(&mut self, gone: &str) {
        let prefix = format!("{gone}/");
        self.folders.retain(|folder| folder != gone && !folder.starts_with(&prefix));
    }
}

fn is_missing(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn report(root: &Path, event: &Event, waiting: &Waiting) {
    if event.need_rescan() {
        waiting.ask_for_all();
        return;
    }
    // Reading a file is no change of it.
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    let mut paths = Vec::new();
    for path in event.paths.iter().filter_map(|path| path.strip_prefix(root).ok()?.to_str()) {
        let name = path.rsplit('/').next().unwrap_or(path);
        if matches!(name, ".gitignore" | ".ignore") {
            waiting.ask_for_all();
            return;
        }
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        if !is_hidden && !path.is_empty() {
            paths.push(path.to_owned());
        }
    }
    if !paths.is_empty() {
        waiting.ask_for(paths);
    }
}
