//! The files that say how a project is built, as far as imports depend on them. They are untrusted: their number and size are
//! limited, and one that cannot be parsed is as good as absent.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::Tree;
use super::path::{base, extension};

/// The number of manifests that are read.
const MANIFESTS_MAX: usize = 2_000;
/// A longer manifest is not read.
const MANIFEST_BYTES_MAX: usize = 1 << 20;

/// The names of manifests that are looked for in every folder with sources.
const NAMES: [&str; 13] = [
    "Cargo.toml",
    "build.zig",
    "compile_commands.json",
    "composer.json",
    "go.mod",
    "go.work",
    "jsconfig.json",
    "lerna.json",
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "setup.py",
    "tsconfig.json",
];

/// Whether imports of other files may depend on this file.
pub(super) fn is_manifest(path: &str) -> bool {
    let name = base(path);
    let is_config = || (name.starts_with("tsconfig") || name.starts_with("jsconfig")) && extension(name) == "json";
    NAMES.contains(&name) || is_config()
}

/// Reads manifests until the limit is reached.
pub(super) struct Manifests<'a> {
    pub(super) tree: &'a dyn Tree,
    /// The folders of each manifest name, outermost first.
    folders: BTreeMap<&'static str, Vec<Box<str>>>,
    left: Cell<usize>,
    read: RefCell<HashSet<Box<str>>>,
}

impl<'a> Manifests<'a> {
    /// Finds the manifests in these folders. The outermost come first, so that a limit cuts the deepest ones.
    pub(super) fn find(tree: &'a dyn Tree, folders: HashSet<Box<str>>) -> Self {
        let mut folders: Vec<_> = folders.into_iter().collect();
        folders.sort_unstable_by(|one, other| (one.matches('/').count(), one).cmp(&(other.matches('/').count(), other)));
        let mut found: BTreeMap<&'static str, Vec<Box<str>>> = BTreeMap::new();
        let mut count = 0;
        for folder in &folders {
            for file in tree.files_in(folder) {
                let name = NAMES.iter().find(|name| base(&file) == **name);
                if let Some(name) = name.filter(|_| count < MANIFESTS_MAX) {
                    found.entry(name).or_default().push(folder.clone());
                    count += 1;
                }
            }
        }
        Self { tree, folders: found, left: Cell::new(MANIFESTS_MAX), read: RefCell::default() }
    }

    /// The folders that hold a manifest of this name, outermost first.
    pub(super) fn folders(&self, name: &str) -> &[Box<str>] {
        self.folders.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        self.left.set(self.left.get().checked_sub(1)?);
        let text = self.tree.read(path).filter(|text| text.len() <= MANIFEST_BYTES_MAX)?;
        self.read.borrow_mut().insert(path.into());
        Some(text)
    }

    /// JSON, with comments and trailing commas, as the TypeScript compiler accepts it.
    pub(super) fn json(&self, path: &str) -> Option<Value> {
        let text = self.text(path)?;
        let text = text.trim_start_matches('\u{feff}');
        serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain_json(text))).ok()
    }

    pub(super) fn toml(&self, path: &str) -> Option<toml::Table> {
        self.text(path)?.parse().ok()
    }

    /// The files that were read.
    pub(super) fn into_read(self) -> HashSet<Box<str>> {
        self.read.into_inner()
    }
}

/// JSON without comments and trailing commas.
fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let (string, after) = rest.split_at(string_end(rest));
            plain.push_str(string);
            rest = after;
        } else if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').and_then(|end| comment.get(end..)).unwrap_or("");
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else {
            if matches!(first, '}' | ']') {
                let kept = plain.trim_end();
                let kept = kept.strip_suffix(',').unwrap_or(kept).len();
                plain.truncate(kept);
            }
            plain.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or("");
        }
    }
    plain
}

/// Where the string that begins the text ends.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return index + 1,
            b'\\' if !is_escaped => is_escaped = true,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// The strings of a JSON list, up to a limit.
pub(super) fn strings(value: Option<&Value>, items_max: usize) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).take(items_max).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_not_an_error() {
        let text = r#"{ // a
            "a//b": "c\"/*", /* , */
            "d": [1, 2, /* x */ ],
        }"#;
        let value: Value = serde_json::from_str(&plain_json(text)).unwrap();
        assert_eq!(value, serde_json::json!({"a//b": "c\"/*", "d": [1, 2]}));
        assert_eq!(plain_json("{\"a"), "{\"a");
        assert_eq!(plain_json("/* open"), "");
    }

    #[test]
    fn manifests_are_known_by_name() {
        assert!(is_manifest("a/tsconfig.base.json") && is_manifest("go.mod") && !is_manifest("a/go.mod/x.go"));
    }
}
