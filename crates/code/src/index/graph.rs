//! The index as two graphs: files and symbols with every relationship, and files alone.
//!
//! Nodes are numbered by path, then by their place in the file. So equal projects have equal graphs, however they came about.

use std::collections::{BTreeSet, HashMap, HashSet};

use graph::{Components, Graph, Node, components};
use syntax::DefinitionKind;

use super::file::IndexedFile;
use super::imports::{IMPLICIT, ImportTo, To};
use super::lean::{NO_DEFINITION, Symbol};
use super::link::LinkKind;
use super::names::{Known, Name};
use super::snapshot::Snapshot;
use super::table::FileNumber;
use crate::resolve::Resolution;

/// How two nodes are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relationship {
    /// A file imports a file or a package, or uses a type of its own package, which needs no import.
    Imports,
    /// A file exports one of its symbols.
    Exports,
    /// A symbol, or the code of a file outside of symbols, calls a symbol.
    Calls,
    /// A type has a base.
    Extends,
    /// A type implements an interface or a trait.
    Implements,
}

impl Relationship {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Imports, Self::Exports, Self::Calls, Self::Extends, Self::Implements];

    /// Its word: `imports`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Imports => "imports",
            Self::Exports => "exports",
            Self::Calls => "calls",
            Self::Extends => "extends",
            Self::Implements => "implements",
        }
    }

    /// The relationship with a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|relationship| relationship.word() == word)
    }
}

impl From<LinkKind> for Relationship {
    fn from(kind: LinkKind) -> Self {
        match kind {
            LinkKind::Calls => Self::Calls,
            LinkKind::Extends => Self::Extends,
            LinkKind::Implements => Self::Implements,
        }
    }
}

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tie {
    pub(crate) relationship: Relationship,
    pub(crate) resolution: Resolution,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    File(FileNumber),
    Symbol(FileNumber, u32),
    External(Name),
}

/// The graphs of a snapshot.
pub(crate) struct CodeGraph {
    /// Files and symbols.
    pub(crate) all: Graph<Tie>,
    /// Files and external packages. Calls and bases between symbols of two files are edges between the files.
    pub(crate) files: Graph<Tie>,
    /// The strongly connected components of the imports between files.
    pub(crate) cycles: Components,
    /// The files in the order of their paths.
    order: Vec<FileNumber>,
    /// The place of each file in `order`.
    places: Vec<u32>,
    /// The node of each file in `all`, in the order of `order`, and the number of nodes.
    starts: Vec<Node>,
    /// The packages, sorted by name. Their nodes in `files` come after the files.
    externals: Vec<Name>,
}

impl CodeGraph {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let order: Vec<FileNumber> = snapshot.paths.values().copied().collect();
        let mut places = vec![u32::MAX; snapshot.files.len()];
        let (mut starts, mut next) = (Vec::with_capacity(order.len() + 1), 0u32);
        for (place, number) in (0..).zip(&order) {
            if let Some(slot) = places.get_mut(*number as usize) {
                *slot = place;
            }
            starts.push(next);
            let symbols = snapshot.file(*number).map_or(0, |file| file.lean.symbols.len());
            next = next.saturating_add(1).saturating_add(u32::try_from(symbols).unwrap_or(u32::MAX));
        }
        starts.push(next);
        let known = snapshot.names.read();
        let imported = snapshot.imports.iter().flat_map(|imports| imports.iter());
        let packages = imported.filter_map(|import| match import.to {
            To::External(package) => Some((known.text(package), package)),
            _ => None,
        });
        let externals: Vec<Name> = packages.collect::<BTreeSet<_>>().into_iter().map(|(_, package)| package).collect();
        let mut made = Self {
            all: Graph::new(),
            files: Graph::new(),
            cycles: components(&Graph::<Tie>::new(), |_| true),
            order,
            places,
            starts,
            externals,
        };
        made.fill(snapshot, next, &known);
        made.cycles = components(&made.files, |tie| tie.relationship == Relationship::Imports);
        made
    }

    fn fill(&mut self, snapshot: &Snapshot, nodes: u32, known: &Known) {
        for _ in 0..nodes {
            self.all.add_node();
        }
        for _ in 0..self.order.len() + self.externals.len() {
            self.files.add_node();
        }
        let packages: HashMap<Name, u32> = self.externals.iter().copied().zip(0..).collect();
        for number in self.order.clone() {
            self.add_imports(snapshot, number, &packages);
            self.add_exports(snapshot, number, known);
            self.add_links(snapshot, number);
        }
        self.all.compact();
        self.files.compact();
    }

    /// One edge for each imported file, with the best resolution.
    fn add_imports(&mut self, snapshot: &Snapshot, number: FileNumber, packages: &HashMap<Name, u32>) {
        let (Some(file), Some(from)) = (snapshot.file(number), self.file_place(number)) else { return };
        let Some(imports) = snapshot.imports.get(number as usize) else { return };
        let mut best: HashMap<Node, Resolution> = HashMap::new();
        // Paths in calls come after the imports. They are not imports.
        let is_import = |import: &&ImportTo| import.import == IMPLICIT || (import.import as usize) < file.lean.imports.len();
        for import in imports.iter().filter(is_import) {
            let to = match import.to {
                To::File(to) => self.file_place(to),
                To::External(package) => packages.get(&package).and_then(|place| self.file_count().checked_add(*place)),
                To::Nowhere => None,
            };
            if let Some(to) = to {
                let known = best.entry(to).or_insert(import.resolution);
                if import.resolution == Resolution::Exact {
                    *known = Resolution::Exact;
                }
            }
        }
        let mut best: Vec<_> = best.into_iter().collect();
        best.sort_unstable_by_key(|(to, _)| *to);
        let from_node = self.node_of_place(from);
        for (to, resolution) in best {
            let tie = Tie { relationship: Relationship::Imports, resolution };
            self.files.add_edge(from, to, tie);
            if let (Some(from), Some(to)) = (from_node, self.node_of_place(to).filter(|_| to < self.file_count())) {
                self.all.add_edge(from, to, tie);
            }
        }
    }

    fn add_exports(&mut self, snapshot: &Snapshot, number: FileNumber, known: &Known) {
        let (Some(file), Some(from)) = (snapshot.file(number), self.file_node(number)) else { return };
        let tie = Tie { relationship: Relationship::Exports, resolution: Resolution::Exact };
        for place in exported(file, known) {
            self.all.add_edge(from, from.saturating_add(1).saturating_add(place), tie);
        }
    }

    fn add_links(&mut self, snapshot: &Snapshot, number: FileNumber) {
        let (Some(links), Some(from)) = (snapshot.links.get(number as usize), self.file_node(number)) else { return };
        let mut lifted: HashMap<(Node, Relationship), Resolution> = HashMap::new();
        let mut edges: Vec<(Node, Node, Tie)> = Vec::with_capacity(links.len());
        for link in links.iter() {
            let source = if link.from == NO_DEFINITION { from } else { from.saturating_add(1).saturating_add(link.from) };
            let resolution = if link.is_exact { Resolution::Exact } else { Resolution::Heuristic };
            let tie = Tie { relationship: link.kind.into(), resolution };
            let Some(target) = self.file_node(link.to.0).map(|node| node.saturating_add(1).saturating_add(link.to.1)) else {
                continue;
            };
            edges.push((source, target, tie));
            if let Some(to) = self.file_place(link.to.0).filter(|_| link.to.0 != number) {
                let known = lifted.entry((to, tie.relationship)).or_insert(resolution);
                if link.is_exact {
                    *known = Resolution::Exact;
                }
            }
        }
        edges.sort_unstable_by_key(|(source, target, tie)| (*source, *target, tie.relationship));
        for (source, target, tie) in edges {
            self.all.add_edge(source, target, tie);
        }
        let mut lifted: Vec<_> = lifted.into_iter().collect();
        lifted.sort_unstable_by_key(|(key, _)| *key);
        if let Some(from) = self.file_place(number) {
            for ((to, relationship), resolution) in lifted {
                self.files.add_edge(from, to, Tie { relationship, resolution });
            }
        }
    }

    /// The number of files. Nodes of `files` from here on are packages.
    pub(crate) fn file_count(&self) -> u32 {
        u32::try_from(self.order.len()).unwrap_or(u32::MAX)
    }

    /// The node of a file in the graph of files.
    pub(crate) fn file_place(&self, number: FileNumber) -> Option<Node> {
        self.places.get(number as usize).copied().filter(|place| *place != u32::MAX)
    }

    /// The node of a file in the graph of everything. Its symbols follow it.
    pub(crate) fn file_node(&self, number: FileNumber) -> Option<Node> {
        self.node_of_place(self.file_place(number)?)
    }

    fn node_of_place(&self, place: Node) -> Option<Node> {
        self.starts.get(place as usize).copied()
    }

    /// What a node in the graph of everything is.
    pub(crate) fn at(&self, node: Node) -> Option<At> {
        let place = self.starts.partition_point(|start| *start <= node).checked_sub(1)?;
        let (number, start) = (*self.order.get(place)?, *self.starts.get(place)?);
        Some(match node.checked_sub(start)? {
            0 => At::File(number),
            symbol => At::Symbol(number, symbol - 1),
        })
    }

    /// What a node in the graph of files is.
    pub(crate) fn at_place(&self, node: Node) -> Option<At> {
        match self.order.get(node as usize) {
            Some(number) => Some(At::File(*number)),
            None => self.externals.get((node - self.file_count()) as usize).map(|package| At::External(*package)),
        }
    }

    /// The approximate memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        // Components keep about four numbers for each node.
        let numbers = self.order.len() * 7 + self.places.len() + self.externals.len() * 5;
        self.all.bytes() + self.files.bytes() + numbers * size_of::<u32>()
    }
}

/// The symbols that a file exports, in order.
pub(crate) fn exported(file: &IndexedFile, known: &Known) -> Vec<u32> {
    let names: HashSet<Name> = file.lean.exports.iter().map(|(name, _)| *name).collect();
    let default = known.get("default").and_then(|default| file.lean.exports.iter().find(|(name, _)| *name == default));
    let is_exported = |symbol: &Symbol| {
        let is_top = file.lean.symbol(symbol.parent).is_none_or(|parent| parent.kind == DefinitionKind::Module);
        // `export default function f` exports `f` under another name.
        let is_default = default.is_some_and(|(_, line)| symbol.start_line <= *line && *line <= symbol.end_line);
        is_top && (names.contains(&symbol.name) || (is_default && symbol.parent == NO_DEFINITION))
    };
    let all = (0u32..).zip(&file.lean.symbols);
    all.filter(|(_, symbol)| is_exported(symbol)).map(|(place, _)| place).collect()
}
