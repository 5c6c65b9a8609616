//! Zig: `@import("a.zig")` names a file. Other names are modules, which build.zig defines in code: what we read there is a guess.

use std::collections::HashMap;

use syntax::ImportKind;

use super::edges::Edges;
use super::manifest::Manifests;
use super::path::{child, folders, join, parent};
use super::{Source, Tree};

/// The modules of each build.zig, by its folder.
#[derive(Default)]
pub(super) struct Index {
    modules: HashMap<Box<str>, HashMap<Box<str>, Box<str>>>,
}

impl Index {
    pub(super) fn new(manifests: &Manifests<'_>) -> Self {
        let mut modules = HashMap::new();
        for folder in manifests.folders("build.zig") {
            let text = manifests.text(&child(folder, "build.zig")).unwrap_or_default();
            modules.insert(folder.clone(), defined(&text, folder));
        }
        Self { modules }
    }

    pub(super) fn imports(&self, tree: &dyn Tree, source: &Source<'_>, edges: &mut Edges<'_>) {
        for (number, import) in source.outline.imports.iter().enumerate() {
            edges.at(number, None);
            if import.kind == ImportKind::System {
                edges.external(&import.path);
                continue;
            }
            if import.path.contains(['/', '.']) {
                match join(parent(source.path), &import.path).filter(|path| tree.has_file(path)) {
                    Some(path) => edges.exact(path),
                    None => edges.unresolved(),
                }
                continue;
            }
            let defined = folders(source.path).find_map(|folder| self.modules.get(folder));
            match defined.and_then(|modules| modules.get(import.path.as_str())).filter(|path| tree.has_file(path)) {
                Some(path) => edges.heuristic(path.clone()),
                None => edges.external(&import.path),
            }
        }
    }
}

/// The names of `addModule`, `addImport` and similar calls, each with the next file that is named after it.
fn defined(text: &str, folder: &str) -> HashMap<Box<str>, Box<str>> {
    let mut found = HashMap::new();
    for call in ["addModule(\"", "addAnonymousImport(\"", "addAnonymousModule(\""] {
        for rest in text.split(call).skip(1) {
            let mut parts = rest.split('"');
            let name = parts.next().unwrap_or_default();
            let path = parts.take(8).find(|part| part.ends_with(".zig"));
            if let Some(path) = path.and_then(|path| join(folder, path)) {
                found.insert(name.into(), path.into());
            }
        }
    }
    found
}
