//! Rust paths. An edge leads to the file of the longest prefix of a path that names a module. Re-exports are not followed: the
//! module that is named is the one the file depends on.

mod cargo;
mod modules;

use syntax::{Import, ImportKind};

use self::cargo::Packages;
use self::modules::{Facts, Files, Inline, Modules, declared_name, find_alone, plain};
use super::edges::Edges;
use super::manifest::Manifests;
use super::{ReferenceEdge, Resolution, Source, Tree};

/// A file that is part of more crates is looked at as part of this many.
const CRATES_MAX: usize = 8;
/// The crates that come with the compiler.
const STANDARD: [&str; 5] = ["std", "core", "alloc", "proc_macro", "test"];

/// The files and what they say, as they are collected.
#[derive(Default)]
pub(super) struct Collected {
    paths: Vec<Box<str>>,
    facts: Vec<Facts>,
}

impl Collected {
    pub(super) fn add(&mut self, source: &Source<'_>) {
        self.paths.push(source.path.into());
        self.facts.push(Facts::new(source.outline));
    }
}

/// The crates and modules of a tree.
#[derive(Default)]
pub(super) struct Index {
    files: Files,
    packages: Packages,
    modules: Modules,
}

/// What a path means.
#[derive(Clone, PartialEq, Eq)]
enum Meaning {
    /// The file of a module.
    File(u32),
    External(String),
    /// A name that this file defines itself.
    Own,
    Nothing,
}

impl Index {
    pub(super) fn new(collected: Collected, manifests: &Manifests<'_>) -> Self {
        let packages = Packages::new(&collected.paths, manifests);
        let files = Files::new(collected.paths);
        let modules = Modules::new(manifests.tree, &files, &collected.facts, &packages);
        Self { files, packages, modules }
    }

    pub(super) fn imports(&self, tree: &dyn Tree, source: &Source<'_>, edges: &mut Edges<'_>) {
        let inline = Inline::new(source.outline);
        for (number, import) in source.outline.imports.iter().enumerate() {
            if import.kind == ImportKind::Module {
                edges.at(number, None);
                self.declared(tree, source, &inline, import, edges);
                continue;
            }
            if import.names.is_empty() {
                edges.at(number, None);
                self.used(source, &inline, import, None, edges);
            }
            for (name, imported) in import.names.iter().enumerate() {
                edges.at(number, Some(name));
                self.used(source, &inline, import, Some(&imported.name), edges);
            }
        }
    }

    /// The files of modules that references name with a path, without an import.
    pub(super) fn references(&self, source: &Source<'_>) -> Vec<ReferenceEdge> {
        let inline = Inline::new(source.outline);
        let mut found: Vec<ReferenceEdge> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for (number, reference) in (0..).zip(&source.outline.references) {
            let Some(qualifier) = reference.qualifier.as_deref().filter(|text| text.contains("::") || is_path(text)) else {
                continue;
            };
            if !seen.insert(qualifier) {
                continue;
            }
            let segments: Vec<&str> = segments(qualifier);
            for module in self.places(source, &inline, reference.line) {
                let Meaning::File(file) = self.meaning(module, &segments) else { continue };
                let path = self.files.path(file);
                let is_known = path == source.path || found.iter().any(|edge| *edge.target == *path);
                if !is_known {
                    found.push(ReferenceEdge { reference: number, target: path.into(), resolution: Resolution::Exact });
                }
            }
        }
        found
    }

    /// `mod x;`
    fn declared(&self, tree: &dyn Tree, source: &Source<'_>, inline: &Inline<'_>, import: &Import, edges: &mut Edges<'_>) {
        let places = self.places(source, inline, import.line);
        let found = places.iter().find_map(|module| self.modules.child(*module, declared_name(import)));
        let file = found.and_then(|module| self.modules.all.get(module as usize)).map(|module| self.files.path(module.file));
        match file.map(str::to_owned) {
            Some(path) => edges.exact(path),
            None => match find_alone(tree, source.path, import) {
                Some(path) if import.location.is_some() => edges.exact(path),
                Some(path) => edges.heuristic(path),
                None => edges.unresolved(),
            },
        }
    }

    /// `use x;`
    fn used(&self, source: &Source<'_>, inline: &Inline<'_>, import: &Import, name: Option<&str>, edges: &mut Edges<'_>) {
        let mut path = segments(&import.path);
        path.extend(name.filter(|name| !matches!(*name, "self" | "*")));
        let places = self.places(source, inline, import.line);
        let mut meanings: Vec<Meaning> = Vec::new();
        for module in &places {
            let meaning = match self.meaning(*module, &path) {
                Meaning::Nothing => self.in_scope(source, *module, &path),
                meaning => meaning,
            };
            if !meanings.contains(&meaning) {
                meanings.push(meaning);
            }
        }
        if places.is_empty() {
            meanings.push(self.outside(source, &path));
        }
        let files: Vec<&str> = meanings
            .iter()
            .filter_map(|meaning| match meaning {
                Meaning::File(file) => Some(self.files.path(*file)),
                _ => None,
            })
            .collect();
        let sure = if places.is_empty() { Resolution::Heuristic } else { Resolution::Exact };
        match meanings.first() {
            _ if !files.is_empty() => edges.candidates(files, sure),
            Some(Meaning::External(name)) => edges.external(name),
            Some(Meaning::Own) => {}
            _ => edges.unresolved(),
        }
    }

    /// The modules that a line of a file is in, one for each crate with that file.
    fn places(&self, source: &Source<'_>, inline: &Inline<'_>, line: u32) -> Vec<u32> {
        let Some(file) = self.files.number(source.path) else { return Vec::new() };
        let tops = self.modules.of_file(file).iter().take(CRATES_MAX);
        tops.map(|top| inline.names_around(line).fold(*top, |module, name| self.modules.child(module, name).unwrap_or(module)))
            .collect()
    }

    fn meaning(&self, module: u32, path: &[&str]) -> Meaning {
        let Some(here) = self.modules.all.get(module as usize) else { return Meaning::Nothing };
        let Some((first, rest)) = path.split_first() else { return Meaning::Nothing };
        let package = self.packages.all.get(here.package as usize);
        let start = match *first {
            "crate" | "$crate" => Some(here.root),
            "self" => Some(module),
            "super" => here.parent,
            name => {
                let dependency = || package.and_then(|package| package.dependencies.get(name)).copied();
                let library = |number: usize| self.modules.libraries.get(&u32::try_from(number).ok()?).copied();
                let own = || {
                    let is_own = package.is_some_and(|package| *package.library == *name);
                    self.modules.libraries.get(&here.package).copied().filter(|root| is_own && *root != here.root)
                };
                self.modules.child(module, name).or_else(|| dependency().and_then(library)).or_else(own)
            }
        };
        if let Some(start) = start {
            return self.descend(start, rest);
        }
        let is_outside = |package: &cargo::Package| package.outside.contains(*first) || package.dependencies.contains_key(*first);
        if STANDARD.contains(first) || package.is_some_and(is_outside) {
            return Meaning::External((*first).to_owned());
        }
        Meaning::Nothing
    }

    fn descend(&self, start: u32, path: &[&str]) -> Meaning {
        let mut module = start;
        for name in path {
            let parent = || self.modules.all.get(module as usize).and_then(|module| module.parent);
            let next = if *name == "super" { parent() } else { self.modules.child(module, name) };
            match next {
                Some(next) => module = next,
                None => break,
            }
        }
        self.modules.all.get(module as usize).map_or(Meaning::Nothing, |module| Meaning::File(module.file))
    }

    /// A path that begins with a name of the file: a definition of its own, or another import. Old code begins at the crate's root.
    fn in_scope(&self, source: &Source<'_>, module: u32, path: &[&str]) -> Meaning {
        let Some(first) = path.first() else { return Meaning::Nothing };
        if source.outline.definitions.iter().any(|definition| definition.name == *first) {
            return Meaning::Own;
        }
        for import in source.outline.imports.iter().filter(|import| import.kind != ImportKind::Module) {
            let whole = segments(&import.path);
            let alias = |name: &syntax::Imported| name.alias.as_deref().unwrap_or(&name.name) == *first;
            let is_it = if import.names.is_empty() { whole.last() == Some(first) } else { import.names.iter().any(alias) };
            if is_it && whole.first() != Some(first) {
                return self.meaning(module, &whole);
            }
        }
        let root = self.modules.all.get(module as usize).map(|module| module.root);
        match root.and_then(|root| self.modules.child(root, first)) {
            Some(_) => root.map_or(Meaning::Nothing, |root| self.descend(root, path)),
            None => Meaning::Nothing,
        }
    }

    /// A path in a file that no crate reaches.
    fn outside(&self, source: &Source<'_>, path: &[&str]) -> Meaning {
        let package = self.packages.around(source.path).and_then(|number| u32::try_from(number).ok());
        let root =
            package.and_then(|package| self.modules.libraries.get(&package).or_else(|| self.modules.any_root.get(&package)));
        match (root, path.first()) {
            (_, Some(&("self" | "super"))) | (_, None) => Meaning::Nothing,
            (Some(root), Some(_)) => self.meaning(*root, path),
            (None, Some(&"crate")) => Meaning::Nothing,
            (None, Some(name)) => Meaning::External((*name).to_owned()),
        }
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The parts of a path, without generic arguments.
fn segments(path: &str) -> Vec<&str> {
    let path = path.split('<').next().unwrap_or(path).trim().trim_start_matches("::");
    path.split("::").map(plain).filter(|part| !part.is_empty() && *part != "*").collect()
}
