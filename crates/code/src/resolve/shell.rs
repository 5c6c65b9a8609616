//! Shell scripts: `source x`. The shell starts at the working directory, which is often the script's folder or the root. If both
//! have such a file, each is a guess.

use super::edges::Edges;
use super::path::{join, parent};
use super::suffixes::Suffixes;
use super::{Resolution, Source, Tree};

/// Files by name.
#[derive(Default)]
pub(super) struct Index {
    suffixes: Suffixes,
}

impl Index {
    pub(super) fn new(files: &[Box<str>]) -> Self {
        Self { suffixes: Suffixes::new(files.iter()) }
    }

    pub(super) fn imports(&self, tree: &dyn Tree, source: &Source<'_>, edges: &mut Edges<'_>) {
        for (number, import) in source.outline.imports.iter().enumerate() {
            edges.at(number, None);
            let path = import.path.trim_matches(['"', '\'']);
            self.sourced(tree, source.path, path, edges);
        }
    }

    fn sourced(&self, tree: &dyn Tree, file: &str, path: &str, edges: &mut Edges<'_>) {
        let at = |folder: &str| join(folder, path).filter(|path| tree.has_file(path));
        let beside = at(parent(file));
        let root = at("").filter(|root| Some(root) != beside.as_ref());
        match (beside, root) {
            (Some(beside), None) => return edges.exact(beside),
            (beside, Some(root)) => return beside.into_iter().chain([root]).for_each(|path| edges.heuristic(path)),
            (None, None) => {}
        }
        let found = self.suffixes.find(path.trim_start_matches("./").trim_start_matches("../"));
        match path.starts_with(['/', '~']) {
            true => edges.external(path),
            false => edges.candidates(found, Resolution::Heuristic),
        }
    }
}
