//! What the index answers.

use super::graph::Relationship;
use super::walk::WalkCounters;
use crate::resolve::Resolution;

/// An edge between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The id of the first node: `path`, or `path#symbol`.
    pub from: String,
    /// The id of the second node. A package is its name; an import that leads nowhere is what is written.
    pub to: String,
    /// How they are connected.
    pub relationship: Relationship,
    /// How certain that is.
    pub resolution: Resolution,
}

impl Edge {
    /// Sorts edges and keeps each once.
    pub(crate) fn sort(edges: &mut Vec<Self>) {
        edges.sort_unstable_by(|one, other| {
            let ends = |edge: &Self| (edge.relationship, edge.resolution.word());
            (&one.from, &one.to).cmp(&(&other.from, &other.to)).then(ends(one).cmp(&ends(other)))
        });
        edges.dedup();
    }
}

/// A file at a distance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FarFile {
    /// Its path, or the name of a package.
    pub path: String,
    /// The number of edges on the shortest way.
    pub distance: u32,
}

/// A symbol of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolInfo {
    /// Its name with those around it: `Class.method`.
    pub name: String,
    /// What it is.
    pub kind: syntax::DefinitionKind,
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line, included.
    pub end_line: u32,
    /// Whether other files can import it.
    pub is_exported: bool,
}

/// What a file depends on, and what depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// The files and packages that it imports, and what is written where an import leads nowhere.
    pub imports: Vec<Edge>,
    /// The names that it exports.
    pub exports: Vec<String>,
    /// The files that import it.
    pub imported_by: Vec<String>,
}

/// What to find out about a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Analysis {
    /// What it imports.
    Imports,
    /// What it exports.
    Exports,
    /// The circles of imports that it is in, or leads to.
    Circular,
    /// Which files are affected by a change of it.
    Impact,
    /// All of it.
    #[default]
    Full,
}

/// The answer about a file. Parts that were not asked for are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analyzed {
    /// The files and packages that it imports, nearest first.
    pub imports: Vec<FarFile>,
    /// The names that it exports.
    pub exports: Vec<String>,
    /// Groups of files that all import each other, directly or through others.
    pub circular: Vec<Vec<String>>,
    /// The files that depend on it, nearest first.
    pub impact: Vec<FarFile>,
    /// The edges that these answers follow.
    pub edges: Vec<Edge>,
    /// Whether a limit left something out.
    pub is_cut: bool,
    /// What ran.
    pub engine: &'static str,
    /// The work that it was.
    pub counters: WalkCounters,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundNode {
    /// `path`, or `path#symbol`.
    pub id: String,
    /// `file`, or the kind of the symbol: `function`, `class`.
    pub kind: &'static str,
    /// The file that it is or is in.
    pub path: String,
    /// The number of edges from the nearest start.
    pub depth: u32,
}

/// The nodes around some nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Nearest first, then by path.
    pub nodes: Vec<FoundNode>,
    /// The edges on which the walk came to these nodes.
    pub edges: Vec<Edge>,
    /// Whether a limit left nodes or edges out.
    pub is_cut: bool,
    /// Where the next page starts, if there is one.
    pub next: Option<u32>,
    /// What ran.
    pub engine: &'static str,
    /// The work that it was.
    pub counters: WalkCounters,
}

/// A project in a few lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// The number of files.
    pub files: u64,
    /// The number of symbols.
    pub symbols: u64,
    /// The number of imports between files.
    pub imports: u64,
    /// The languages with their numbers of files, most files first.
    pub languages: Vec<(&'static str, u64)>,
    /// The files that the others depend on most, with the number of files that import each.
    pub central: Vec<(String, u64)>,
    /// The number of circles of imports.
    pub circles: u64,
}

/// The word for a kind of symbol.
pub fn kind_word(kind: syntax::DefinitionKind) -> &'static str {
    use syntax::DefinitionKind::{
        Class, Constant, Enum, Function, Interface, Macro, Method, Module, Struct, Trait, Type, Variable,
    };
    match kind {
        Function => "function",
        Method => "method",
        Class => "class",
        Struct => "struct",
        Enum => "enum",
        Interface => "interface",
        Trait => "trait",
        Module => "module",
        Type => "type",
        Constant => "constant",
        Variable => "variable",
        Macro => "macro",
    }
}
