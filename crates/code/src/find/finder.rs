//! The search indexes of one project, and how files get into them.
//!
//! Words are searchable when [`PassageSink::put_file`] returns; vectors come later. With a folder, words survive a restart: the index
//! puts all files again, and passages whose words are there already cost nothing.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use base::{Error, Result};
use search::background::Questions;
use search::embed::Embedder;
use search::keyword::{KeywordError, KeywordIndex};

use super::catalogue::{Catalogue, Entry};
use super::known;
use super::pack::VectorPack;
use super::passage::{FILE_PASSAGES_MAX, PROJECT_PASSAGES_MAX, Passage, PassageSink};
use super::queue::{Queue, Waiting};
use super::vectors::Vectors;

/// The maximum number of bytes of texts that wait for vectors.
const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How often the name of a symbol is added to its words. More did not help.
const NAME_REPEATS: usize = 3;

/// What a project's search is made of.
pub(crate) struct FinderConfig {
    /// The folder of the keyword index. Without one it is in memory.
    pub(crate) folder: Option<PathBuf>,
    /// The model.
    pub(crate) embedder: Arc<dyn Embedder>,
    /// The vectors of the org, by content.
    pub(crate) pack: Option<Arc<VectorPack>>,
    /// The questions that background work gives way to.
    pub(crate) questions: Arc<Questions>,
}

/// How much of a project can be searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FindCoverage {
    /// Passages that words find.
    pub(crate) passages: usize,
    /// Passages that have a vector.
    pub(crate) embedded: usize,
    /// Passages that wait for a vector.
    pub(crate) waiting: usize,
    /// Passages that were left out, because the project or a file has too many.
    pub(crate) left_out: usize,
}

/// The search indexes of one project.
pub(crate) struct Finder {
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) questions: Arc<Questions>,
    pub(super) pack: Option<Arc<VectorPack>>,
    pub(super) keyword: KeywordIndex,
    folder: Option<PathBuf>,
    state: RwLock<State>,
    /// The number of the last write to the keyword index.
    position: AtomicU64,
    flushing: AtomicBool,
}

pub(super) struct State {
    pub(super) catalogue: Catalogue,
    pub(super) vectors: Vectors,
    pub(super) queue: Queue,
    /// Passages that are being embedded.
    pub(super) in_work: usize,
    /// Passages in the keyword folder that no file has claimed since the start.
    unclaimed: HashSet<u64>,
    /// How many passages of a file were left out.
    left_out: HashMap<u32, usize>,
}

impl Finder {
    /// Opens the search of a project.
    pub(crate) fn open(config: FinderConfig) -> Result<Self> {
        let FinderConfig { folder, embedder, pack, questions } = config;
        let (keyword, position, unclaimed) = match &folder {
            Some(folder) => known::open(folder)?,
            None => (KeywordIndex::in_memory().map_err(unusable)?, 0, HashSet::new()),
        };
        let vectors = Vectors::new(embedder.dimension());
        let state = State {
            catalogue: Catalogue::default(),
            vectors,
            queue: Queue::new(QUEUE_BYTES_MAX),
            in_work: 0,
            unclaimed,
            left_out: HashMap::new(),
        };
        let (position, flushing) = (AtomicU64::new(position), AtomicBool::new(false));
        Ok(Self { embedder, questions, pack, keyword, folder, state: RwLock::new(state), position, flushing })
    }

    /// Removes the words of passages that no file has claimed since the start. Call it when every file was put once.
    pub(crate) fn settle(&self) -> Result<()> {
        let unclaimed = self.with_state(|state| std::mem::take(&mut state.unclaimed));
        for id in unclaimed {
            self.write(|keyword, position| keyword.remove(id, position))?;
        }
        self.flush()
    }

    /// The same, if there is anything to remove. Otherwise writes the words if enough have come together.
    pub(crate) fn settle_once(&self) -> Result<()> {
        if self.state().unclaimed.is_empty() { self.tidy() } else { self.settle() }
    }

    /// The name of the model that makes vectors.
    pub(crate) fn model(&self) -> &str {
        self.embedder.model()
    }

    /// Writes the words to the folder, if enough have come together. Call it at intervals on a blocking thread.
    pub(crate) fn tidy(&self) -> Result<()> {
        if self.keyword.wants_flush() { self.flush() } else { Ok(()) }
    }

    /// Writes the words to the folder. Does nothing if another thread is at it.
    pub(crate) fn flush(&self) -> Result<()> {
        if self.flushing.swap(true, Ordering::Acquire) {
            return Ok(());
        }
        let done = self.flush_alone();
        self.flushing.store(false, Ordering::Release);
        done
    }

    fn flush_alone(&self) -> Result<()> {
        // A passage enters the catalogue after its words, so the words of all these are committed by this flush.
        let ids: Vec<u64> = {
            let state = self.state();
            state.catalogue.ids().chain(state.unclaimed.iter().copied()).collect()
        };
        let position = self.keyword.flush().map_err(unusable)?;
        match &self.folder {
            Some(folder) => known::write(folder, position, &ids),
            None => Ok(()),
        }
    }

    /// How much can be searched.
    pub(crate) fn coverage(&self) -> FindCoverage {
        let state = self.state();
        FindCoverage {
            passages: state.catalogue.len(),
            embedded: state.vectors.whole().len(),
            waiting: state.queue.len() + state.in_work,
            left_out: state.left_out.values().sum(),
        }
    }

    /// Some files that must be put again, because the texts of their passages had to be dropped from a full queue.
    pub(crate) fn files_to_put_again(&self, most: usize) -> Vec<u32> {
        self.state().queue.to_put_again(most)
    }

    pub(super) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn with_state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes to the keyword index, and makes room in it first if it is full.
    fn write(&self, write: impl Fn(&KeywordIndex, u64) -> Result<(), KeywordError>) -> Result<()> {
        let position = self.position.fetch_add(1, Ordering::Relaxed) + 1;
        match write(&self.keyword, position) {
            Err(KeywordError::TailFull) => {
                self.keyword.flush().map_err(unusable)?;
                write(&self.keyword, position).map_err(unusable)
            }
            done => done.map_err(unusable),
        }
    }

    fn put(&self, file: u32, path: &str, mut passages: Vec<Passage>) -> Result<()> {
        let given = passages.len();
        let room = {
            let state = self.state();
            let before = state.catalogue.file(file).map_or(0, |file| file.passages.len());
            PROJECT_PASSAGES_MAX.saturating_sub(state.catalogue.len().saturating_sub(before))
        };
        passages.truncate(room.min(FILE_PASSAGES_MAX));
        let left_out = given - passages.len();
        let (numbered, new_words) = {
            let state = self.state();
            let numbered = state.catalogue.number(file, path, passages);
            let is_new = |id: u64| state.catalogue.entry(id).is_none() && !state.unclaimed.contains(&id);
            let new_words: Vec<bool> = numbered.iter().map(|(id, _)| is_new(*id)).collect();
            (numbered, new_words)
        };
        for ((id, passage), _) in numbered.iter().zip(new_words).filter(|(_, is_new)| *is_new) {
            let text = words_of(passage);
            self.write(|keyword, position| keyword.upsert(*id, &text, position))?;
        }
        let entries = numbered.iter().map(|(id, passage)| (*id, Entry::of(file, passage))).collect();
        let gone = self.with_state(|state| {
            let gone = state.catalogue.put(file, path, entries);
            for id in &gone {
                state.vectors.remove(*id);
                state.queue.remove(*id);
            }
            state.queue.renew(file);
            state.left_out.remove(&file);
            if left_out > 0 {
                state.left_out.insert(file, left_out);
            }
            for (id, _) in &numbered {
                state.unclaimed.remove(id);
            }
            gone
        });
        for id in gone {
            self.write(|keyword, position| keyword.remove(id, position))?;
        }
        self.seek_vectors(file, &numbered);
        self.tidy()
    }

    /// Takes vectors from the pack, and queues the passages that have none there.
    fn seek_vectors(&self, file: u32, numbered: &[(u64, Passage)]) {
        let without: Vec<&(u64, Passage)> = {
            let state = self.state();
            numbered.iter().filter(|(id, _)| !state.vectors.whole().contains(*id)).collect()
        };
        let found: Vec<(u64, &Passage, Option<Vec<f32>>)> = without
            .into_iter()
            .map(|(id, passage)| {
                let vector = self.pack.as_ref().and_then(|pack| pack.get(&pack.key(passage.seen_by_models())));
                (*id, passage, vector)
            })
            .collect();
        self.with_state(|state| {
            for (id, passage, vector) in found {
                if state.catalogue.entry(id).is_none() || vector.is_some_and(|vector| state.vectors.upsert(id, &vector)) {
                    continue;
                }
                let text = passage.seen_by_models().into();
                state.queue.push(Waiting { id, file, kind: passage.kind, changed_at: passage.changed_at, text });
            }
        });
    }
}

pub(super) fn unusable(error: KeywordError) -> Error {
    Error::internal(error)
}

impl PassageSink for Finder {
    fn bytes(&self) -> usize {
        // The catalogue has about this much for a passage: its lines, its symbol and its names.
        const PASSAGE_BYTES: usize = 200;
        let state = self.state();
        state.vectors.bytes() + state.catalogue.len() * PASSAGE_BYTES
    }

    fn put_file(&self, file: u32, path: &str, passages: Vec<Passage>) {
        if let Err(error) = self.put(file, path, passages) {
            tracing::warn!(%error, "the words of a file cannot be indexed; the next change of the file tries again");
        }
    }

    fn remove_file(&self, file: u32) {
        let gone = self.with_state(|state| {
            let gone = state.catalogue.remove(file);
            for id in &gone {
                state.vectors.remove(*id);
                state.queue.remove(*id);
            }
            state.queue.renew(file);
            state.left_out.remove(&file);
            gone
        });
        for id in gone {
            if let Err(error) = self.write(|keyword, position| keyword.remove(id, position)) {
                tracing::warn!(%error, "the words of a removed file stay in the index; answers leave them out");
            }
        }
    }
}

/// What the keyword index gets: the text, and again the name of what the passage shows. A word in a name says more than in a body.
fn words_of(passage: &Passage) -> String {
    let mut words = passage.text.clone();
    for symbol in passage.symbol.iter().flat_map(|symbol| std::iter::repeat_n(symbol, NAME_REPEATS)) {
        words.push('\n');
        words.push_str(symbol);
    }
    words
}
