//! The index while it changes: the table of files, their imports and links, and what has to be made again.
//!
//! A change is applied in two steps. The quick one makes what the file itself and the files that mention its names need. The full one
//! makes what may differ anywhere: after it, the state equals one that is made from scratch.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use syntax::{DefinitionKind, ImportKind, Language};

use super::file::{IndexedFile, ReadFile};
use super::files::ProjectFiles;
use super::imports::{self, Imports, TableTree};
use super::lean::{Lean, NO_DEFINITION};
use super::link::{Linker, Links, Mentions};
use super::names::Name;
use super::parallel;
use super::snapshot::Snapshot;
use super::table::{Changed, FileNumber, Table};
use crate::resolve::Resolver;

/// The index while it changes.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) table: Table,
    imports: Vec<Imports>,
    links: Vec<Links>,
    resolver: Option<Resolver>,
    stale: Stale,
    version: u64,
    /// Whether something changed that is not kept on disk.
    pub(crate) is_unsaved: bool,
}

/// What has to be made again.
#[derive(Default)]
struct Stale {
    resolver: bool,
    links_of_all: bool,
    imports: BTreeSet<FileNumber>,
    links: BTreeSet<FileNumber>,
    /// Files that mention one of these names.
    names: HashSet<Name>,
}

impl State {
    /// Takes over what was read of a file, or that it is gone. Returns the file's number if its content changed.
    pub(crate) fn put(&mut self, path: &str, ticket: u64, read: Option<ReadFile>) -> Option<FileNumber> {
        let changed = self.table.put(path, ticket, read);
        let is_manifest = Resolver::is_manifest(path) || self.resolver.as_ref().is_some_and(|resolver| resolver.has_read(path));
        match changed {
            Changed::Nothing => {
                self.is_unsaved = true;
                None
            }
            Changed::Added(number) => {
                self.stale.resolver = true;
                self.stale.names.extend(self.table.file(number).into_iter().flat_map(|file| file.lean.offered()));
                self.touch(number);
                Some(number)
            }
            Changed::Replaced(number, before) => {
                if let Some(file) = self.table.file(number).cloned() {
                    self.stale.resolver |= is_manifest || matters_to_resolver(&file, &before);
                    self.stale.links_of_all |= before.differs_for_all(&file.lean);
                    self.stale.names.extend(before.names_changed(&file.lean));
                }
                self.touch(number);
                Some(number)
            }
            Changed::Removed(number, before) => {
                self.stale.resolver = true;
                self.stale.names.extend(before.offered());
                self.stale.links_of_all |= before.differs_for_all(&Lean::default());
                self.touch(number);
                Some(number)
            }
        }
    }

    fn touch(&mut self, number: FileNumber) {
        self.is_unsaved = true;
        self.stale.imports.insert(number);
        self.stale.links.insert(number);
    }

    /// Whether the full step has something to do.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale.resolver || self.stale.links_of_all || !self.stale.links.is_empty()
    }

    /// Makes again what has to be.
    pub(crate) fn settle(&mut self, files: &dyn ProjectFiles, full: bool) {
        self.imports.resize_with(self.table.files.len(), Arc::default);
        self.links.resize_with(self.table.files.len(), Arc::default);
        self.settle_imports(files, full || self.resolver.is_none());
        self.settle_links(full);
        self.version += 1;
    }

    fn settle_imports(&mut self, files: &dyn ProjectFiles, full: bool) {
        let tree = TableTree { table: &self.table, files };
        let again: Vec<FileNumber> = if full && (self.stale.resolver || self.resolver.is_none()) {
            self.resolver = Some(imports::resolver(&tree));
            self.stale.resolver = false;
            (0..).zip(&self.table.files).map(|(number, _)| number).collect()
        } else {
            self.stale.imports.iter().copied().collect()
        };
        let Some(resolver) = &self.resolver else { return };
        for (number, made) in again.iter().zip(imports::resolve(&tree, resolver, &again)) {
            let Some(known) = self.imports.get_mut(*number as usize).filter(|known| **known != made) else { continue };
            *known = made;
            // The file itself did not change: others may see something else through it.
            self.stale.links_of_all |= !self.stale.imports.contains(number);
            self.stale.links.insert(*number);
        }
        self.stale.imports.clear();
    }

    fn settle_links(&mut self, full: bool) {
        let known = self.table.names.read();
        let again: Vec<FileNumber> = if full && self.stale.links_of_all {
            self.stale.links_of_all = false;
            (0..).zip(&self.table.files).map(|(number, _)| number).collect()
        } else {
            let mut mentions = Mentions::new(&known, &self.stale.names);
            let has_any = !self.stale.names.is_empty();
            let mentioning = self.table.all().filter(|(_, file)| has_any && mentions.are_in(file));
            mentioning
                .map(|(number, _)| number)
                .chain(self.stale.links.iter().copied())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        let (table, imports) = (&self.table, &self.imports);
        let made = parallel::map_with(&again, || Linker::new(table, imports, &known), |linker, number| linker.links(*number));
        for (number, made) in again.iter().zip(made) {
            if let Some(slot) = self.links.get_mut(*number as usize) {
                *slot = made;
            }
        }
        self.stale.links.clear();
        self.stale.names.clear();
    }

    /// The state as it is now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            version: self.version,
            files: self.table.files.clone(),
            paths: Arc::clone(&self.table.paths),
            imports: self.imports.clone(),
            links: self.links.clone(),
            names: Arc::clone(&self.table.names),
            graph: OnceLock::new(),
            ranks: OnceLock::new(),
        }
    }

    /// The approximate memory in bytes, without the graph.
    pub(crate) fn bytes(&self) -> usize {
        let imports: usize = self.imports.iter().map(|imports| size_of_val(imports.as_ref()) + 32).sum();
        let links: usize = self.links.iter().map(|links| size_of_val(links.as_ref()) + 32).sum();
        self.table.bytes() + imports + links
    }
}

/// Whether a changed file can change where imports of other files lead: by its package, its types or its modules.
fn matters_to_resolver(file: &IndexedFile, before: &Lean) -> bool {
    use Language::{CSharp, Elixir, Java, Kotlin, Php, Ruby, Rust, Scala, Swift};
    let top = |lean: &Lean| -> Vec<(Name, DefinitionKind)> {
        let is_top = |parent: u32| lean.symbol(parent).is_none_or(|parent| parent.kind == DefinitionKind::Module);
        let top = lean.symbols.iter().filter(|symbol| symbol.parent == NO_DEFINITION || is_top(symbol.parent));
        top.map(|symbol| (symbol.name, symbol.kind)).collect()
    };
    let modules = |lean: &Lean| -> Vec<(Name, Name)> {
        let modules = lean.imports.iter().filter(|import| matches!(import.kind, ImportKind::Module | ImportKind::ReExport));
        modules.map(|import| (import.path, import.location)).collect()
    };
    let lean = &file.lean;
    lean.package != before.package
        || match file.language {
            Some(CSharp | Elixir | Java | Kotlin | Php | Ruby | Scala | Swift) => top(lean) != top(before),
            Some(Rust) => modules(lean) != modules(before) || top(lean) != top(before),
            _ => false,
        }
}
