//! A published state of the index. It never changes, so that an answer is made from one state while files change.

use std::sync::{Arc, OnceLock};

use base::Timestamp;

use super::file::IndexedFile;
use super::graph::CodeGraph;
use super::imports::Imports;
use super::lean::Symbol;
use super::link::Links;
use super::names::{Known, Names};
use super::rank;
use super::table::{FileNumber, Paths};

/// Names of a symbol beyond this many around it are left out.
const NESTED_MAX: usize = 64;

/// How the index follows changes on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Following {
    /// The file system reports changes.
    Events,
    /// Changes are found when the files are listed again: there is nothing to watch, or too much.
    #[default]
    Listings,
}

/// How much of a project an answer is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The files of the project, as far as they are known.
    pub files: u64,
    /// The files that are in the index.
    pub indexed: u64,
    /// Those of them that have an outline.
    pub parsed: u64,
    /// Those of them that could not be read or parsed.
    pub failed: u64,
    /// Files that were left out because their names are not text, or because there are too many.
    pub left_out: u64,
    /// Whether every file is in the index.
    pub is_complete: bool,
    /// Whether every change that is known is in the index.
    pub is_fresh: bool,
    /// When the files were last compared with the disk.
    pub as_of: Timestamp,
    /// How changes on disk are noticed.
    pub following: Following,
}

/// A state of the index.
pub struct Snapshot {
    pub(crate) version: u64,
    pub(crate) files: Vec<Option<Arc<IndexedFile>>>,
    pub(crate) paths: Arc<Paths>,
    pub(crate) imports: Vec<Imports>,
    pub(crate) links: Vec<Links>,
    pub(crate) names: Arc<Names>,
    pub(crate) graph: OnceLock<CodeGraph>,
    pub(crate) ranks: OnceLock<Vec<f32>>,
}

impl Snapshot {
    pub(crate) fn empty(names: Arc<Names>) -> Self {
        Self {
            version: 0,
            files: Vec::new(),
            paths: Arc::default(),
            imports: Vec::new(),
            links: Vec::new(),
            names,
            graph: OnceLock::new(),
            ranks: OnceLock::new(),
        }
    }

    /// The number of this state. A later one has a higher number.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The number of files.
    pub fn file_count(&self) -> usize {
        self.paths.len()
    }

    /// The paths of all files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.keys().map(AsRef::as_ref)
    }

    /// The number of a file, as passages have it.
    pub fn file_number(&self, path: &str) -> Option<u32> {
        self.paths.get(path).copied()
    }

    /// The SHA-256 of a file's content when it was last read.
    pub fn hash(&self, path: &str) -> Option<[u8; 32]> {
        self.at(path).map(|(_, file)| file.hash)
    }

    pub(crate) fn file(&self, number: FileNumber) -> Option<&IndexedFile> {
        self.files.get(number as usize)?.as_deref()
    }

    pub(crate) fn at(&self, path: &str) -> Option<(FileNumber, &IndexedFile)> {
        let number = *self.paths.get(path)?;
        Some((number, self.file(number)?))
    }

    /// The graph. The first question makes it.
    pub(crate) fn graph(&self) -> &CodeGraph {
        self.graph.get_or_init(|| CodeGraph::new(self))
    }

    /// How much the rest of the project depends on each file, by its number in the graph of files.
    pub(crate) fn ranks(&self) -> &[f32] {
        self.ranks.get_or_init(|| rank::ranks(&self.graph().files))
    }

    /// The name of a symbol with those around it: `Class.method`. A second symbol of the same name ends with `~2`.
    pub(crate) fn symbol_name(&self, file: &IndexedFile, place: u32, known: &Known) -> String {
        let (mut chain, mut next) = (Vec::new(), place);
        while let Some(symbol) = file.lean.symbol(next).filter(|_| chain.len() < NESTED_MAX) {
            let is_same = |other: &&Symbol| other.name == symbol.name && other.parent == symbol.parent;
            let before = file.lean.symbols.iter().take(next as usize).filter(is_same).count();
            let name = known.text(symbol.name);
            chain.push(if before == 0 { name.to_owned() } else { format!("{name}~{}", before + 1) });
            next = symbol.parent;
        }
        chain.reverse();
        chain.join(".")
    }

    /// The id of a symbol: `path#Class.method`.
    pub(crate) fn symbol_id(&self, file: &IndexedFile, place: u32, known: &Known) -> String {
        format!("{}#{}", file.path, self.symbol_name(file, place, known))
    }

    /// The symbol of a file with a name as [`Snapshot::symbol_name`] writes it.
    pub(crate) fn symbol_called(&self, file: &IndexedFile, name: &str, known: &Known) -> Option<u32> {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        let last = last.rsplit_once('~').map_or(last, |(name, _)| name);
        // An operator or a string key can have a dot in its name.
        let might_be = |symbol: &Symbol| known.text(symbol.name).ends_with(last);
        let all = (0u32..).zip(&file.lean.symbols).filter(|(_, symbol)| might_be(symbol)).map(|(place, _)| place);
        let wanted = name.replace("::", ".");
        let mut all = all;
        all.find(|place| self.symbol_name(file, *place, known) == wanted)
    }
}
