//! Elixir: `alias`, `import`, `use` and `require` name a module, and a module can be in any file.

use std::collections::HashSet;

use super::edges::Edges;
use super::names::Names;
use super::{ReferenceEdge, Resolution, Source};

/// The modules of a tree.
#[derive(Default)]
pub(super) struct Index {
    names: Names,
}

impl Index {
    pub(super) fn add(&mut self, source: &Source<'_>) {
        self.names.add(source, Some(""));
    }

    pub(super) fn imports(&self, source: &Source<'_>, edges: &mut Edges<'_>) {
        for (number, import) in source.outline.imports.iter().enumerate() {
            if import.names.is_empty() {
                edges.at(number, None);
                self.module(&import.path, edges);
            }
            for (name, imported) in import.names.iter().enumerate() {
                edges.at(number, Some(name));
                let whole = format!("{}.{}", import.path, imported.name);
                let is_module = !self.names.files(&whole).is_empty();
                self.module(if is_module { &whole } else { &import.path }, edges);
            }
        }
    }

    fn module(&self, name: &str, edges: &mut Edges<'_>) {
        let files = self.names.files(name);
        let is_own = |first: &str| self.names.has_package(first);
        let first = name.split('.').next().unwrap_or(name);
        match files.is_empty() {
            false => edges.candidates(files, Resolution::Exact),
            true if is_own(first) => edges.unresolved(),
            true => edges.external(first),
        }
    }

    /// Modules that are named in full where they are used.
    pub(super) fn references(&self, source: &Source<'_>) -> Vec<ReferenceEdge> {
        let mut found = Vec::new();
        let (mut seen, mut targets) = (HashSet::new(), HashSet::new());
        for (number, reference) in (0..).zip(&source.outline.references) {
            let Some(qualifier) = reference.qualifier.as_deref().filter(|qualifier| seen.insert(*qualifier)) else { continue };
            let [file] = *self.names.files(qualifier).as_slice() else { continue };
            if file != source.path && targets.insert(file) {
                found.push(ReferenceEdge { reference: number, target: file.into(), resolution: Resolution::Heuristic });
            }
        }
        found
    }
}
