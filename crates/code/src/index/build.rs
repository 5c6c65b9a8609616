//! The work that brings the index up to date with the disk.
//!
//! Files are read and parsed without holding the state, so that one file can be refreshed while thousands are read. A read that began
//! earlier never replaces a later one.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::file::{FileState, ReadFile};
use super::files::{FileStamp, Listing};
use super::kept::{self, KeptFile};
use super::pack::Key;
use super::parallel;
use super::project::{ProjectIndex, Todo};
use super::snapshot::Following;
use super::state::State;
use super::table::FileNumber;
use super::watch::Watch;
use crate::find::passages;

/// Files that a thread reads before it hands them over.
const BATCH: usize = 32;
/// The first state is published after this many files, and then whenever there are four times as many.
const FIRST_FILES: usize = 256;

impl ProjectIndex {
    /// Does all the work that there is. Others who call this meanwhile wait for it. Call it on a blocking thread.
    pub fn catch_up(&self) {
        let _alone = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(todo) = self.take_todo() {
            if todo.all {
                self.reconcile_all();
            } else if !todo.paths.is_empty() {
                self.look_at(todo.paths.into_iter().collect());
            }
            if todo.settle {
                self.settle_fully(self.lock_state());
            }
            self.feed(todo.unfed.into_iter().collect());
        }
        self.tell();
    }

    /// Compares all files with the disk, now. Call it on a blocking thread.
    pub fn reconcile(&self) {
        self.waiting.lock().all = true;
        self.catch_up();
    }

    fn take_todo(&self) -> Option<Todo> {
        let mut todo = self.waiting.lock();
        todo.is_under_way = false;
        if todo.is_empty() || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let taken = std::mem::take(&mut *todo);
        todo.is_under_way = true;
        Some(taken)
    }

    /// Brings one file up to date, now, and returns whether it had changed. What other files see of it may follow a little later. Call it
    /// on a blocking thread.
    pub fn refresh(&self, path: &str) -> bool {
        let (ticket, now) = (self.ticket(), self.now_ns());
        let stamp = self.files.stamp(path);
        let known = self.lock_state().table.at(path).map(|file| (file.stamp, file.is_settled));
        if known.map(|(stamp, _)| stamp) == stamp && known.is_none_or(|(_, is_settled)| is_settled) {
            // The builder may have read the file and not published it yet.
            if self.snapshot().at(path).map(|(_, file)| file.stamp) != stamp {
                self.publish(&self.lock_state());
            }
            return false;
        }
        let is_listed = known.is_some() || self.is_listed(path);
        if !is_listed {
            return false;
        }
        let read = self.extractor.read(self.files.as_ref(), path, now);
        let mut state = self.lock_state();
        let changed = self.take_over(&mut state, path, ticket, read);
        if changed {
            state.settle(self.files.as_ref(), false);
            self.publish(&state);
            if state.is_stale() {
                drop(state);
                self.waiting.ask_to_settle();
            }
        }
        changed
    }

    /// Whether a path belongs to the project's files.
    fn is_listed(&self, path: &str) -> bool {
        let listed = self.files.list(Some(&[path.to_owned()]), &self.stop);
        listed.is_ok_and(|listing| listing.files.iter().any(|(listed, _)| listed == path))
    }

    /// Puts what was read into the table, and hands out its passages.
    fn take_over(&self, state: &mut State, path: &str, ticket: u64, mut read: Option<ReadFile>) -> bool {
        let text = read.as_mut().and_then(|read| read.text.take());
        let (language, outline) = read.as_ref().map_or((None, None), |read| (read.language, read.outline.clone()));
        let is_gone = read.is_none();
        let changed_at = read.as_ref().map(|read| read.stamp.changed_at());
        let Some(number) = state.put(path, ticket, read) else { return false };
        match (&self.sink, text) {
            (Some(sink), _) if is_gone => sink.remove_file(number),
            (Some(sink), Some(text)) => {
                sink.put_file(number, path, passages(path, &text, language, outline.as_deref(), changed_at))
            }
            // It comes from the cache, without its text.
            (Some(_), None) => drop(self.waiting.lock().unfed.insert(number)),
            (None, _) => {}
        }
        true
    }

    fn reconcile_all(&self) {
        let as_of = self.clock.now();
        let listing = match self.list_and_watch(None) {
            Ok(listing) => listing,
            Err(error) => {
                tracing::warn!(%error, "the files of a project cannot be listed");
                self.lock_progress().is_complete = false;
                return;
            }
        };
        {
            let mut progress = self.lock_progress();
            progress.files = u64::try_from(listing.files.len()).unwrap_or(u64::MAX);
            progress.left_out = u64::from(listing.unnamed) + u64::from(listing.is_cut);
        }
        let is_first = self.lock_state().table.files.is_empty();
        let kept = self.kept.as_deref().filter(|_| is_first).and_then(kept::load).unwrap_or_default();
        let kept: HashMap<String, KeptFile> = kept.into_iter().map(|file| (file.path.clone(), file)).collect();
        let known: Vec<Arc<str>> = self.lock_state().table.paths.keys().cloned().collect();
        let is_done = self.compare(&listing, known, &kept);
        self.settle_fully(self.lock_state());
        let mut progress = self.lock_progress();
        if is_done {
            (progress.is_complete, progress.as_of) = (true, as_of);
        }
        drop(progress);
        self.lock_state().table.forget_reads();
        self.keep();
    }

    /// Looks at some paths and at what is below them.
    fn look_at(&self, paths: Vec<String>) {
        let Ok(listing) = self.list_and_watch(Some(&paths)) else {
            self.waiting.lock().all = true;
            return;
        };
        let known = {
            let state = self.lock_state();
            paths.iter().flat_map(|path| state.table.below(path)).collect()
        };
        self.compare(&listing, known, &HashMap::new());
        let mut state = self.lock_state();
        state.settle(self.files.as_ref(), false);
        self.publish(&state);
        let indexed = u64::try_from(state.table.paths.len()).unwrap_or(u64::MAX);
        self.lock_progress().files = indexed;
        self.settle_fully(state);
    }

    /// Reads the files of a listing that are new or changed, and drops the known ones that it does not have. Returns whether everything
    /// was done.
    fn compare(&self, listing: &Listing, known: Vec<Arc<str>>, kept: &HashMap<String, KeptFile>) -> bool {
        let stamps: BTreeMap<&str, FileStamp> = listing.files.iter().map(|(path, stamp)| (path.as_str(), *stamp)).collect();
        let gone: Vec<Arc<str>> = known.into_iter().filter(|path| !stamps.contains_key(path.as_ref())).collect();
        let changed: Vec<(&str, FileStamp)> = {
            let state = self.lock_state();
            let is_known =
                |path: &str, stamp: &FileStamp| state.table.at(path).is_some_and(|file| file.is_settled && file.stamp == *stamp);
            stamps.into_iter().filter(|(path, stamp)| !is_known(path, stamp)).collect()
        };
        for path in gone {
            // A listing that was cut says nothing about the rest.
            if !listing.is_cut || self.files.stamp(&path).is_none() {
                let ticket = self.ticket();
                self.take_over(&mut self.lock_state(), &path, ticket, None);
            }
        }
        let (next, publish_at) = (AtomicUsize::new(0), AtomicUsize::new(FIRST_FILES));
        parallel::run(parallel::threads(changed.len()), || {
            loop {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let batch = changed.get(start..changed.len().min(start.saturating_add(BATCH))).unwrap_or_default();
                if batch.is_empty() || self.stop.load(Ordering::Relaxed) {
                    return;
                }
                let read: Vec<_> =
                    batch.iter().map(|(path, stamp)| (*path, self.ticket(), self.read(path, stamp, kept))).collect();
                let mut state = self.lock_state();
                for (path, ticket, read) in read {
                    self.take_over(&mut state, path, ticket, read);
                }
                self.publish_sometimes(&mut state, &publish_at, changed.len());
            }
        });
        !self.stop.load(Ordering::Relaxed)
    }

    /// Publishes what there is, rarely enough that it costs little, unless all of it comes soon.
    fn publish_sometimes(&self, state: &mut State, publish_at: &AtomicUsize, all: usize) {
        let (count, due) = (state.table.paths.len(), publish_at.load(Ordering::Relaxed));
        if count >= due && due.saturating_mul(2) < all {
            publish_at.store(due.saturating_mul(4), Ordering::Relaxed);
            state.settle(self.files.as_ref(), true);
            self.publish(state);
        }
    }

    /// A file as it is now: from the cache if its stamp is the kept one, else from the disk.
    fn read(&self, path: &str, stamp: &FileStamp, kept: &HashMap<String, KeptFile>) -> Option<ReadFile> {
        if let Some(kept) = kept.get(path).filter(|kept| kept.stamp == *stamp) {
            let known = kept.language.filter(|_| kept.state == FileState::Parsed);
            let outline = known.and_then(|language| self.extractor.pack.get(&Key::new(&kept.hash, language.name())));
            if outline.is_some() || kept.state != FileState::Parsed {
                return Some(ReadFile {
                    stamp: kept.stamp,
                    is_settled: true,
                    hash: kept.hash,
                    language: kept.language,
                    state: kept.state,
                    outline: outline.map(Box::new),
                    text: None,
                });
            }
        }
        self.extractor.read(self.files.as_ref(), path, self.now_ns())
    }

    /// Does the full step and publishes.
    fn settle_fully(&self, mut state: MutexGuard<'_, State>) {
        if state.is_stale() {
            state.settle(self.files.as_ref(), true);
        }
        self.publish(&state);
    }

    /// Hands out the passages of files that came from the cache.
    fn feed(&self, numbers: Vec<FileNumber>) {
        let Some(sink) = &self.sink else { return };
        for number in numbers {
            let Some(file) = self.lock_state().table.file(number).cloned() else { continue };
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            match self.extractor.read(self.files.as_ref(), &file.path, self.now_ns()) {
                Some(ReadFile { stamp, hash, text: Some(text), outline, language, .. }) if hash == file.hash => {
                    let changed_at = Some(stamp.changed_at());
                    let passages = passages(&file.path, &text, language, outline.as_deref(), changed_at);
                    sink.put_file(number, &file.path, passages);
                }
                Some(ReadFile { text: None, .. }) => sink.put_file(number, &file.path, Vec::new()),
                _ => drop(self.waiting.lock().paths.insert(file.path.to_string())),
            }
        }
    }

    /// Lists files, and watches their folders. Folders that are new are listed again once they are watched, so that nothing is missed.
    fn list_and_watch(&self, only: Option<&[String]>) -> io::Result<Listing> {
        let mut listing = self.files.list(only, &self.stop)?;
        // A folder that was removed and made again is not watched any more.
        if let Some(watching) = self.lock_watch().as_mut() {
            only.unwrap_or_default().iter().for_each(|path| watching.forget(path));
        }
        // A listing that follows new watches may find folders that were made just before them.
        while !self.watch_folders(only.is_none(), &listing.folders) && !self.stop.load(Ordering::Relaxed) {
            listing = self.files.list(only, &self.stop)?;
        }
        Ok(listing)
    }

    /// Watches folders. Returns whether nothing can have happened in them unseen: they were watched before, or nothing is watched.
    fn watch_folders(&self, is_whole: bool, folders: &[String]) -> bool {
        let mut watch = self.lock_watch();
        if is_whole && watch.is_none() {
            *watch = self.files.folder().and_then(|root| Watch::new(root, &self.waiting));
        }
        let Some(watching) = watch.as_mut() else { return true };
        match watching.add(folders) {
            Ok(0) => true,
            Ok(_) => {
                self.lock_progress().following = Following::Events;
                false
            }
            Err(error) => {
                tracing::warn!(%error, "changes of a project's files cannot be watched; they are found by listings");
                *watch = None;
                self.lock_progress().following = Following::Listings;
                true
            }
        }
    }

    fn lock_watch(&self) -> MutexGuard<'_, Option<Watch>> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the state on disk, if it changed.
    pub fn keep(&self) {
        self.extractor.pack.flush();
        let Some(path) = &self.kept else { return };
        let files: Vec<KeptFile> = {
            let mut state = self.lock_state();
            if !std::mem::take(&mut state.is_unsaved) {
                return;
            }
            // A file that may have changed without a new stamp is read again after a restart.
            let sure = state.table.all().filter(|(_, file)| file.is_settled && file.state != FileState::Unreadable);
            sure.map(|(_, file)| KeptFile {
                path: file.path.to_string(),
                stamp: file.stamp,
                hash: file.hash,
                language: file.language,
                state: file.state,
            })
            .collect()
        };
        if let Err(error) = kept::save(path, &files) {
            tracing::warn!(%error, "the state of an index cannot be kept");
        }
    }
}
