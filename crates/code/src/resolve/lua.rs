//! Lua: `require "a.b"` means `a/b.lua` or `a/b/init.lua` below a folder that only the program knows. The usual folders are certain if
//! no other file fits; anything else is a guess.

use super::edges::Edges;
use super::path::{base, parent};
use super::suffixes::Suffixes;
use super::{Resolution, Source};

/// Folders that programs usually load from.
const LOADED: [&str; 4] = ["lua", "src", "lib", "scripts"];

/// Files by name.
#[derive(Default)]
pub(super) struct Index {
    suffixes: Suffixes,
}

impl Index {
    pub(super) fn new(files: &[Box<str>]) -> Self {
        Self { suffixes: Suffixes::new(files.iter()) }
    }

    pub(super) fn imports(&self, source: &Source<'_>, edges: &mut Edges<'_>) {
        for (number, import) in source.outline.imports.iter().enumerate() {
            edges.at(number, None);
            let written = import.path.strip_suffix(".lua").unwrap_or(&import.path);
            let path = written.replace('.', "/");
            let path = path.trim_start_matches('/');
            let mut found = self.suffixes.find(&format!("{path}.lua"));
            found.extend(self.suffixes.find(&format!("{path}/init.lua")));
            let is_usual = |file: &str| {
                let folder = file.strip_suffix(&format!("{path}.lua")).or_else(|| file.strip_suffix(&format!("{path}/init.lua")));
                let folder = folder.unwrap_or_default().trim_end_matches('/');
                folder.is_empty() || folder == parent(source.path) || LOADED.contains(&base(folder))
            };
            match found.as_slice() {
                [] => edges.external(import.path.split(['.', '/']).next().unwrap_or(&import.path)),
                [only] if is_usual(only) => edges.exact(*only),
                _ => edges.candidates(found, Resolution::Heuristic),
            }
        }
    }
}
