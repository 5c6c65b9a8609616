//! Imports to files. Each language has its rules in a file of its own; [`Resolver`] collects what they need to know about a tree and
//! asks the right one.
//!
//! Every edge says how certain it is. Ambiguity never becomes a certain edge. Nothing here touches the disk: files are asked for through
//! [`Tree`], and a path never leaves it. What a tree contains is untrusted, so everything that is kept or followed is bounded.

mod c;
mod edges;
mod elixir;
mod glob;
mod go;
mod lua;
mod manifest;
mod names;
mod path;
mod php;
mod python;
mod ruby;
mod rust;
mod script;
mod shell;
mod suffixes;
#[cfg(test)]
mod tests;
mod types;
mod zig;

use std::collections::HashSet;

use syntax::{Language, Outline};

use self::edges::Edges;
use self::manifest::Manifests;

/// The files of a project. Paths are relative to its root and separated by `/`; the root is `""`.
pub(crate) trait Tree: Sync {
    /// Whether this is a file.
    fn has_file(&self, path: &str) -> bool;
    /// Whether this is a folder with files in it, at any depth.
    fn has_folder(&self, path: &str) -> bool;
    /// The paths of the files directly in a folder.
    fn files_in(&self, folder: &str) -> Vec<String>;
    /// The text of a file, or nothing if it is too long or no text.
    fn read(&self, path: &str) -> Option<String>;
}

/// A file with its outline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// Its path in the tree.
    pub(crate) path: &'a str,
    /// Its language, if it is known.
    pub(crate) language: Option<Language>,
    /// What it defines, uses, imports and exports.
    pub(crate) outline: &'a Outline,
}

/// How certain an edge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// The rules of the language lead to this file.
    Exact,
    /// A guess, or one of several candidates.
    Heuristic,
    /// It is not part of the project.
    External,
    /// It should be part of the project, but nothing fits.
    Unresolved,
}

impl Resolution {
    /// The word that users see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Heuristic => "heuristic",
            Self::External => "external",
            Self::Unresolved => "unresolved",
        }
    }
}

/// What an import leads to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// A file of the tree.
    File(Box<str>),
    /// The name of a package or module that is not part of the tree.
    External(Box<str>),
    /// Nothing that is known.
    Nowhere,
}

/// One import, or one name of it, and what it leads to. An import may lead to several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportEdge {
    /// The import, as an index into the outline's imports.
    pub(crate) import: u32,
    /// The name, as an index into the import's names. Nothing if the edge stands for the whole import.
    pub(crate) name: Option<u32>,
    /// What it leads to.
    pub(crate) target: Target,
    /// How certain that is.
    pub(crate) resolution: Resolution,
}

/// A file that another one uses without an import: a type of the same package, or a path in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReferenceEdge {
    /// The first reference that leads there, as an index into the outline's references.
    pub(crate) reference: u32,
    /// The file.
    pub(crate) target: Box<str>,
    /// How certain that is.
    pub(crate) resolution: Resolution,
}

/// Knows the packages, modules and namespaces of a tree. Make a new one when a file appears or disappears, when a manifest changes, or
/// when the package or the top definitions of a file change.
#[derive(Default)]
pub(crate) struct Resolver {
    c: c::Index,
    elixir: elixir::Index,
    go: go::Index,
    lua: lua::Index,
    php: php::Index,
    python: python::Index,
    ruby: ruby::Index,
    rust: rust::Index,
    script: script::Index,
    shell: shell::Index,
    types: types::Index,
    zig: zig::Index,
    read: HashSet<Box<str>>,
}

/// The paths of each language that is indexed by path.
#[derive(Default)]
struct Paths {
    c: Vec<Box<str>>,
    go: Vec<Box<str>>,
    lua: Vec<Box<str>>,
    python: Vec<Box<str>>,
    ruby: Vec<Box<str>>,
    shell: Vec<Box<str>>,
}

impl Resolver {
    /// Indexes the sources and reads the manifests in the folders around them. The work is linear in the number of files.
    pub(crate) fn new<'a>(tree: &dyn Tree, sources: &mut dyn Iterator<Item = Source<'a>>) -> Self {
        let mut resolver = Self::default();
        let mut paths = Paths::default();
        let mut rust = rust::Collected::default();
        let mut folders: HashSet<Box<str>> = HashSet::new();
        for source in sources {
            // The folders around a known folder are known.
            for folder in path::folders(source.path) {
                if folders.contains(folder) {
                    break;
                }
                folders.insert(folder.into());
            }
            match source.language {
                Some(Language::C | Language::Cpp) => paths.c.push(source.path.into()),
                Some(Language::Go) => paths.go.push(source.path.into()),
                Some(Language::Lua) => paths.lua.push(source.path.into()),
                Some(Language::Python) => paths.python.push(source.path.into()),
                Some(Language::Ruby) => paths.ruby.push(source.path.into()),
                Some(Language::Bash) => paths.shell.push(source.path.into()),
                Some(Language::Rust) => rust.add(&source),
                Some(Language::Php) => resolver.php.add(&source),
                Some(Language::Elixir) => resolver.elixir.add(&source),
                Some(_) => resolver.types.add(&source),
                None => {}
            }
        }
        let manifests = Manifests::find(tree, folders);
        resolver.php.finish(&manifests);
        resolver.c = c::Index::new(&paths.c, &manifests);
        resolver.go = go::Index::new(&paths.go, &manifests);
        resolver.lua = lua::Index::new(&paths.lua);
        resolver.python = python::Index::new(&paths.python, &manifests);
        resolver.ruby = ruby::Index::new(&paths.ruby);
        resolver.rust = rust::Index::new(rust, &manifests);
        resolver.script = script::Index::new(&manifests);
        resolver.shell = shell::Index::new(&paths.shell);
        resolver.zig = zig::Index::new(&manifests);
        resolver.read = manifests.into_read();
        resolver
    }

    /// What the imports of a file lead to. An import of the file itself gives no edge.
    pub(crate) fn imports(&self, tree: &dyn Tree, source: &Source<'_>) -> Vec<ImportEdge> {
        let mut edges = Edges::new(source.path, source.outline.imports.len());
        match source.language {
            Some(Language::C | Language::Cpp) => self.c.imports(tree, source, &mut edges),
            Some(Language::Elixir) => self.elixir.imports(source, &mut edges),
            Some(Language::Go) => self.go.imports(source, &mut edges),
            Some(Language::Lua) => self.lua.imports(source, &mut edges),
            Some(Language::Php) => self.php.imports(tree, source, &mut edges),
            Some(Language::Python) => self.python.imports(tree, source, &mut edges),
            Some(Language::Ruby) => self.ruby.imports(tree, source, &mut edges),
            Some(Language::Rust) => self.rust.imports(tree, source, &mut edges),
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => self.script.imports(tree, source, &mut edges),
            Some(Language::Bash) => self.shell.imports(tree, source, &mut edges),
            Some(Language::Java | Language::Kotlin | Language::Scala | Language::CSharp | Language::Swift) => {
                self.types.imports(source, &mut edges);
            }
            Some(Language::Zig) => self.zig.imports(tree, source, &mut edges),
            None => {}
        }
        edges.into_found()
    }

    /// The files that a file uses without an import, each once.
    pub(crate) fn references(&self, source: &Source<'_>) -> Vec<ReferenceEdge> {
        match source.language {
            Some(Language::Elixir) => self.elixir.references(source),
            Some(Language::Php) => self.php.references(source),
            Some(Language::Ruby) => self.ruby.references(source),
            Some(Language::Rust) => self.rust.references(source),
            Some(Language::Java | Language::Kotlin | Language::Scala | Language::CSharp | Language::Swift) => {
                self.types.references(source)
            }
            _ => Vec::new(),
        }
    }

    /// Whether imports of other files may depend on a file of this name. If it changes, a new resolver is needed.
    pub(crate) fn is_manifest(path: &str) -> bool {
        manifest::is_manifest(path)
    }

    /// Whether this resolver has read a file. It may have a name that [`Self::is_manifest`] does not know.
    pub(crate) fn has_read(&self, path: &str) -> bool {
        self.read.contains(path)
    }
}
