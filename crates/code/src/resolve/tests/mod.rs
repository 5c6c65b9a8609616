//! Small trees of each language, written as literals: what each import leads to.

mod compiled;
mod hostile;
mod interpreted;
mod oracles;
mod scripts;

use std::collections::{BTreeMap, BTreeSet};

use syntax::{Bounds, Language, Outline};

use super::{Resolver, Source, Target, Tree};

/// Enough for every test.
pub(super) const BOUNDS: Bounds = Bounds { bytes_max: 1 << 21, parse_ms_max: 10_000, items_max: 20_000, text_chars_max: 400 };

/// A tree in memory.
pub(super) struct Literal {
    files: BTreeMap<String, String>,
    folders: BTreeSet<String>,
}

impl Literal {
    pub(super) fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let files: BTreeMap<_, _> = files.into_iter().collect();
        let folders = files.keys().flat_map(|path| super::path::folders(path)).map(str::to_owned).collect();
        Self { files, folders }
    }
}

impl Tree for Literal {
    fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn has_folder(&self, path: &str) -> bool {
        self.folders.contains(path)
    }

    fn files_in(&self, folder: &str) -> Vec<String> {
        self.files.keys().filter(|path| super::path::parent(path) == folder).cloned().collect()
    }

    fn read(&self, path: &str) -> Option<String> {
        self.files.get(path).cloned()
    }
}

/// The outline of every file.
pub(super) fn outlines(tree: &Literal) -> Vec<(&str, Option<Language>, Outline)> {
    let outline = |(path, text): (&'_ String, &'_ String)| {
        let language = Language::of(path, text);
        (language, language.map(|language| syntax::outline(language, text, &BOUNDS).unwrap()).unwrap_or_default())
    };
    let files = tree.files.iter();
    files.map(|file| (file.0.as_str(), outline(file))).map(|(path, (language, outline))| (path, language, outline)).collect()
}

/// Everything that the files of a tree lead to, one line each: `from -> to (resolution)`. A line for a use without an import has `~>`.
pub(super) fn lines(tree: &Literal) -> Vec<String> {
    let outlines = outlines(tree);
    let sources: Vec<Source<'_>> =
        outlines.iter().map(|(path, language, outline)| Source { path, language: *language, outline }).collect();
    let resolver = Resolver::new(tree, &mut sources.iter().copied());
    let mut found = BTreeSet::new();
    for source in &sources {
        for edge in resolver.imports(tree, source) {
            let target = match &edge.target {
                Target::File(path) => path.to_string(),
                Target::External(name) => format!("[{name}]"),
                Target::Nowhere => format!("?{}", source.outline.imports.get(edge.import as usize).unwrap().path),
            };
            found.insert(format!("{} -> {target} ({})", source.path, edge.resolution.word()));
        }
        for edge in resolver.references(source) {
            found.insert(format!("{} ~> {} ({})", source.path, edge.target, edge.resolution.word()));
        }
    }
    found.into_iter().collect()
}

/// Compares what a tree's files lead to with the expected lines, in any order. Each file is `name: text`.
#[track_caller]
pub(super) fn check(files: &[(&str, &str)], expected: &[&str]) {
    let tree = Literal::new(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    let mut expected: Vec<_> = expected.iter().map(|line| (*line).to_owned()).collect();
    expected.sort();
    assert_eq!(lines(&tree), expected);
}
