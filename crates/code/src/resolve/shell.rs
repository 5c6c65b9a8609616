//! Shell scripts: `source x`. The shell starts at the working directory, which is often the script's folder or the root. A path with
//! a variable in it is a guess.

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
        let has_variable = path.contains(['$', '`']);
        let literal = if has_variable { after_variables(path) } else { path };
        let at = |folder: &str| join(folder, literal).filter(|path| tree.has_file(path));
        let mut found: Vec<String> = at(parent(file)).into_iter().collect();
        found.extend(at("").filter(|path| !found.contains(path)));
        if !found.is_empty() {
            return edges.candidates(found, if has_variable { Resolution::Heuristic } else { Resolution::Exact });
        }
        let plain = literal.trim_start_matches("./").trim_start_matches("../");
        match self.suffixes.find(plain) {
            found if !found.is_empty() && !path.starts_with('/') => edges.candidates(found, Resolution::Heuristic),
            _ if path.starts_with(['/', '~']) => edges.external(path),
            _ => edges.unresolved(),
        }
    }
}

/// What follows the last part of a path with a variable or a command in it: `lib/a.sh` of `$(dirname "$0")/lib/a.sh`.
fn after_variables(path: &str) -> &str {
    let end = path.rfind(['$', '`', ')', '}', '"']).unwrap_or(0);
    path.get(end..).and_then(|rest| rest.split_once('/')).map_or("", |(_, rest)| rest)
}
