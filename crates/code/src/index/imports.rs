//! The imports of files, resolved: the bridge between the table of files and the resolver.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use syntax::{Import, ImportKind, Language, Outline};

use super::file::IndexedFile;
use super::files::{Content, ProjectFiles};
use super::names::{Known, NO_NAME, Name};
use super::parallel;
use super::table::{FileNumber, Table};
use crate::resolve::{ImportEdge, Resolution, Resolver, Source, Target, Tree};

/// A longer manifest is not read.
const MANIFEST_BYTES_MAX: u64 = 1024 * 1024;
/// No name of an import.
pub(crate) const NO_PLACE: u32 = u32::MAX;
/// The import of what a file uses without one: a type of its package, or a path in full.
pub(crate) const IMPLICIT: u32 = u32::MAX;
/// Paths in calls that are resolved for one file.
const CALLED_PATHS_MAX: usize = 2_000;

/// Where an import, or one of its names, leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImportTo {
    /// The import, or [`IMPLICIT`]. Those after the last one are the paths in calls: see [`called_paths`].
    pub(crate) import: u32,
    /// One of its names, or [`NO_PLACE`].
    pub(crate) name: u32,
    pub(crate) to: To,
    pub(crate) resolution: Resolution,
}

/// The end of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    File(FileNumber),
    External(Name),
    Nowhere,
}

/// The imports of one file.
pub(crate) type Imports = Arc<[ImportTo]>;

/// The table as a resolver sees it.
pub(crate) struct TableTree<'a> {
    pub(crate) table: &'a Table,
    pub(crate) files: &'a dyn ProjectFiles,
}

impl Tree for TableTree<'_> {
    fn has_file(&self, path: &str) -> bool {
        self.table.paths.contains_key(path)
    }

    fn has_folder(&self, path: &str) -> bool {
        let prefix = prefix(path);
        let mut after = self.table.paths.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        after.next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    fn files_in(&self, folder: &str) -> Vec<String> {
        let prefix = prefix(folder);
        let (mut found, mut next) = (Vec::new(), Bound::Included(prefix.clone()));
        loop {
            let from = next.as_ref().map(String::as_str);
            let Some((path, _)) = self.table.paths.range::<str, _>((from, Bound::Unbounded)).next() else { break };
            let Some(inner) = path.strip_prefix(prefix.as_str()) else { break };
            next = match inner.split_once('/') {
                // Skips everything in the inner folder: `0` comes right after `/`.
                Some((inner, _)) => Bound::Included(format!("{prefix}{inner}0")),
                None => {
                    found.push(path.to_string());
                    Bound::Excluded(path.to_string())
                }
            };
        }
        found
    }

    fn read(&self, path: &str) -> Option<String> {
        if !self.has_file(path) {
            return None;
        }
        match self.files.read(path, MANIFEST_BYTES_MAX).ok()?.1 {
            Content::Bytes(bytes) => String::from_utf8(bytes).ok(),
            Content::TooLong => None,
        }
    }
}

fn prefix(folder: &str) -> String {
    if folder.is_empty() { String::new() } else { format!("{folder}/") }
}

/// A resolver for the files as they are now.
pub(crate) fn resolver(tree: &TableTree<'_>) -> Resolver {
    let known = tree.table.names.read();
    let outlined: Vec<(&IndexedFile, Outline)> =
        tree.table.all().map(|(_, file)| (file.as_ref(), file.lean.outline(&known))).collect();
    let mut sources = outlined.iter().map(|(file, outline)| Source { path: &file.path, language: file.language, outline });
    Resolver::new(tree, &mut sources)
}

/// Resolves the imports of some files. Answers in the same order.
pub(crate) fn resolve(tree: &TableTree<'_>, resolver: &Resolver, numbers: &[FileNumber]) -> Vec<Imports> {
    let resolved = {
        let known = tree.table.names.read();
        parallel::map(numbers, |number| {
            tree.table.file(*number).map_or_else(Vec::new, |file| edges(tree, resolver, &known, file))
        })
    };
    let mut known = tree.table.names.write();
    let mut numbered = |edge: ImportEdge| ImportTo {
        import: edge.import,
        name: edge.name.unwrap_or(NO_PLACE),
        to: match edge.target {
            Target::File(path) => tree.table.paths.get(path.as_ref()).map_or(To::Nowhere, |number| To::File(*number)),
            Target::External(package) => To::External(known.number(&package)),
            Target::Nowhere => To::Nowhere,
        },
        resolution: edge.resolution,
    };
    resolved.into_iter().map(|edges| edges.into_iter().map(&mut numbered).collect()).collect()
}

fn edges(tree: &TableTree<'_>, resolver: &Resolver, known: &Known, file: &IndexedFile) -> Vec<ImportEdge> {
    if file.lean.imports.is_empty() && file.lean.uses.is_empty() {
        return Vec::new();
    }
    let mut outline = file.lean.outline_with_uses(known);
    for path in called_paths(file, known) {
        let path = known.text(path).to_owned();
        outline.imports.push(Import { kind: ImportKind::Plain, path, names: Vec::new(), location: None, line: 1 });
    }
    let source = Source { path: &file.path, language: file.language, outline: &outline };
    let mut edges = resolver.imports(tree, &source);
    edges.extend(resolver.references(&source).into_iter().map(|used| ImportEdge {
        import: IMPLICIT,
        name: Some(used.reference),
        target: Target::File(used.target),
        resolution: used.resolution,
    }));
    edges
}

/// The paths before the names that a file calls, each once, where a path says which file is meant: `crate::a` in `crate::a::f()`.
pub(crate) fn called_paths(file: &IndexedFile, known: &Known) -> Vec<Name> {
    if file.language != Some(Language::Rust) {
        return Vec::new();
    }
    let (mut seen, mut paths) = (HashSet::new(), Vec::new());
    for found in file.lean.uses.iter().filter(|found| found.qualifier != NO_NAME) {
        let path = known.text(found.qualifier);
        // One word can be a module, a crate or a variable. Only what leads to a file counts.
        let is_path =
            path.starts_with(|letter: char| letter.is_lowercase() || letter == '_') && !matches!(path, "self" | "super");
        let is_plain = path.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':');
        if is_path && is_plain && paths.len() < CALLED_PATHS_MAX && seen.insert(found.qualifier) {
            paths.push(found.qualifier);
        }
    }
    paths
}
