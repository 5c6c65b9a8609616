//! The files of the index by path and number, and where each name is defined.
//!
//! A file's number is never given to another file while the index is loaded.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::file::{FileState, IndexedFile, ReadFile};
use super::lean::Lean;
use super::names::{Name, Names};

/// Paths that are gone and remembered, besides as many as there are files.
const GONE_MAX: usize = 1_000;

/// The number of a file.
pub(crate) type FileNumber = u32;

/// ProjectFiles by path.
pub(crate) type Paths = BTreeMap<Arc<str>, FileNumber>;

/// What happened to a file.
#[derive(Debug)]
pub(crate) enum Changed {
    /// Nothing that matters outside of it.
    Nothing,
    /// It is new.
    Added(FileNumber),
    /// Its content is new. This is what it was.
    Replaced(FileNumber, Arc<Lean>),
    /// It is gone. This is what it was.
    Removed(FileNumber, Arc<Lean>),
}

/// Where a name is defined. Most names are defined once.
#[derive(Debug)]
enum Places {
    One([(FileNumber, u32); 1]),
    #[expect(clippy::box_collection, reason = "a name with one definition takes the memory of this too")]
    Many(Box<Vec<(FileNumber, u32)>>),
}

/// How many files there are. Everyone can read it while the table changes.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) indexed: AtomicU64,
    pub(crate) parsed: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl Counts {
    fn count(&self, file: Option<&Arc<IndexedFile>>, change: impl Fn(&AtomicU64)) {
        let Some(file) = file else { return };
        change(&self.indexed);
        match file.state {
            FileState::Parsed => change(&self.parsed),
            FileState::Unparsed | FileState::Unreadable => change(&self.failed),
            FileState::Text | FileState::Binary => {}
        }
    }
}

/// The files of a project.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) counts: Arc<Counts>,
    pub(crate) files: Vec<Option<Arc<IndexedFile>>>,
    pub(crate) paths: Arc<Paths>,
    pub(crate) names: Arc<Names>,
    /// The definitions of each name.
    definitions: HashMap<Name, Places>,
    /// When the latest known state of each path was read. An older read never replaces a newer one.
    tickets: HashMap<Arc<str>, u64>,
}

impl Table {
    pub(crate) fn file(&self, number: FileNumber) -> Option<&Arc<IndexedFile>> {
        self.files.get(number as usize)?.as_ref()
    }

    pub(crate) fn at(&self, path: &str) -> Option<&Arc<IndexedFile>> {
        self.paths.get(path).and_then(|number| self.file(*number))
    }

    /// Where a name is defined, in no particular order.
    pub(crate) fn definitions(&self, name: Name) -> &[(FileNumber, u32)] {
        match self.definitions.get(&name) {
            Some(Places::One(place)) => place,
            Some(Places::Many(places)) => places,
            None => &[],
        }
    }

    /// The files with their numbers, in no particular order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (FileNumber, &Arc<IndexedFile>)> {
        (0..).zip(&self.files).filter_map(|(number, file)| Some((number, file.as_ref()?)))
    }

    /// The known files at or below a path.
    pub(crate) fn below(&self, path: &str) -> Vec<Arc<str>> {
        let mut found: Vec<_> = self.paths.get_key_value(path).map(|(path, _)| Arc::clone(path)).into_iter().collect();
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let after = self.paths.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        found.extend(after.take_while(|(path, _)| path.starts_with(&prefix)).map(|(path, _)| Arc::clone(path)));
        found
    }

    /// Takes over what was read, or that there is no such file. `ticket` orders reads: it was drawn before the read.
    pub(crate) fn put(&mut self, path: &str, ticket: u64, read: Option<ReadFile>) -> Changed {
        if self.tickets.get(path).is_some_and(|latest| *latest > ticket) {
            return Changed::Nothing;
        }
        let Some(read) = read else { return self.remove(path, ticket) };
        let known = self.paths.get(path).copied();
        if let Some((number, file)) = known.and_then(|number| Some((number, self.file(number)?)))
            && file.hash == read.hash
            && file.language == read.language
            && file.state == read.state
        {
            let same = IndexedFile { stamp: read.stamp, is_settled: read.is_settled, ..IndexedFile::clone(file) };
            self.tickets.insert(Arc::clone(&same.path), ticket);
            self.set(number, Some(Arc::new(same)));
            return Changed::Nothing;
        }
        let lean = read.outline.as_deref().map(|outline| Lean::new(outline, &mut self.names.write())).unwrap_or_default();
        let path: Arc<str> =
            known.and_then(|number| self.file(number)).map_or_else(|| path.into(), |file| Arc::clone(&file.path));
        let file = IndexedFile {
            path: Arc::clone(&path),
            stamp: read.stamp,
            is_settled: read.is_settled,
            hash: read.hash,
            language: read.language,
            state: read.state,
            lean: Arc::new(lean),
        };
        self.tickets.insert(Arc::clone(&path), ticket);
        match known {
            Some(number) => {
                let before = self.forget_definitions(number);
                self.add(number, file);
                Changed::Replaced(number, before)
            }
            None => {
                let number = FileNumber::try_from(self.files.len()).unwrap_or(FileNumber::MAX);
                self.files.push(None);
                Arc::make_mut(&mut self.paths).insert(path, number);
                self.add(number, file);
                Changed::Added(number)
            }
        }
    }

    fn remove(&mut self, path: &str, ticket: u64) -> Changed {
        let Some((path, number)) = self.paths.get_key_value(path).map(|(path, number)| (Arc::clone(path), *number)) else {
            return Changed::Nothing;
        };
        let before = self.forget_definitions(number);
        self.set(number, None);
        Arc::make_mut(&mut self.paths).remove(&path);
        self.tickets.insert(path, ticket);
        Changed::Removed(number, before)
    }

    fn add(&mut self, number: FileNumber, file: IndexedFile) {
        for (place, symbol) in (0..).zip(&file.lean.symbols) {
            match self.definitions.entry(symbol.name) {
                Entry::Vacant(free) => _ = free.insert(Places::One([(number, place)])),
                Entry::Occupied(mut known) => match known.get_mut() {
                    Places::One([first]) => {
                        let both = vec![*first, (number, place)];
                        known.insert(Places::Many(Box::new(both)));
                    }
                    Places::Many(places) => places.push((number, place)),
                },
            }
        }
        self.set(number, Some(Arc::new(file)));
    }

    fn forget_definitions(&mut self, number: FileNumber) -> Arc<Lean> {
        let Some(lean) = self.file(number).map(|file| Arc::clone(&file.lean)) else { return Arc::default() };
        for symbol in &lean.symbols {
            let is_left = match self.definitions.get_mut(&symbol.name) {
                Some(Places::One([(file, _)])) => *file != number,
                Some(Places::Many(places)) => {
                    places.retain(|(file, _)| *file != number);
                    !places.is_empty()
                }
                None => continue,
            };
            if !is_left {
                self.definitions.remove(&symbol.name);
            }
        }
        lean
    }

    fn set(&mut self, number: FileNumber, file: Option<Arc<IndexedFile>>) {
        if let Some(slot) = self.files.get_mut(number as usize) {
            self.counts.count(slot.as_ref(), |count| _ = count.fetch_sub(1, Ordering::Relaxed));
            self.counts.count(file.as_ref(), |count| _ = count.fetch_add(1, Ordering::Relaxed));
            *slot = file;
        }
    }

    /// Forgets when paths that are gone were read, once they are many.
    pub(crate) fn forget_reads(&mut self) {
        if self.tickets.len() > self.paths.len().saturating_mul(2).saturating_add(GONE_MAX) {
            let paths = &self.paths;
            self.tickets.retain(|path, _| paths.contains_key(path));
        }
    }

    /// The approximate memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        // A path has two counters and stands in two tables; a table keeps some slots free.
        let of_file = |file: &IndexedFile| size_of::<IndexedFile>() + file.lean.bytes() + file.path.len() + 16 + 96;
        let files: usize = self.all().map(|(_, file)| of_file(file)).sum();
        let more = |places: &Places| match places {
            Places::One(_) => 0,
            Places::Many(places) => places.capacity() * size_of::<(FileNumber, u32)>() + 48,
        };
        let table = self.definitions.capacity() * 8 / 7 * (size_of::<(Name, Places)>() + 1);
        let places: usize = table + self.definitions.values().map(more).sum::<usize>();
        files + places + self.names.read().bytes() + self.files.capacity() * size_of::<usize>()
    }
}
