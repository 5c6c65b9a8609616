//! Ruby: `require_relative` names a file, `require` one below a `lib` folder, and a constant the file that Zeitwerk would load for it.

use std::collections::{BTreeSet, HashMap, HashSet};

use syntax::ImportKind;

use super::edges::{CANDIDATES_MAX, Edges};
use super::path::{base, below, child, folders, join, parent};
use super::{ReferenceEdge, Resolution, Source, Tree};

/// Folders that `require` starts from.
const LOADED: [&str; 3] = ["lib", "test", "spec"];
/// The number of such folders.
const ROOTS_MAX: usize = 256;

/// The folders that files are loaded from.
#[derive(Default)]
pub(super) struct Index {
    roots: BTreeSet<Box<str>>,
    /// The files that a constant's path may mean: `shop/cart` for `app/models/shop/cart.rb`.
    constants: HashMap<Box<str>, Vec<Box<str>>>,
}

impl Index {
    pub(super) fn new(files: &[Box<str>]) -> Self {
        let mut index = Self::default();
        for file in files {
            let root = folders(file).filter(|folder| LOADED.contains(&base(folder))).last();
            if let Some(root) = root.filter(|root| index.roots.len() < ROOTS_MAX && !index.roots.contains(*root)) {
                index.roots.insert(root.into());
            }
            let constant = autoloaded(file).and_then(|path| path.strip_suffix(".rb"));
            if let Some(constant) = constant {
                index.constants.entry(constant.into()).or_default().push(file.clone());
            }
        }
        index
    }

    pub(super) fn imports(&self, tree: &dyn Tree, source: &Source<'_>, edges: &mut Edges<'_>) {
        for (number, import) in source.outline.imports.iter().enumerate() {
            edges.at(number, None);
            let is_relative = import.kind == ImportKind::Relative || import.path.starts_with('.');
            let beside = file_at(tree, parent(source.path), &import.path).filter(|_| is_relative);
            match beside {
                Some(path) => edges.exact(path),
                None if is_relative => edges.unresolved(),
                None => self.required(tree, source.path, &import.path, edges),
            }
        }
    }

    fn required(&self, tree: &dyn Tree, file: &str, path: &str, edges: &mut Edges<'_>) {
        let roots = self.roots.iter().map(|root| &**root).chain([""]);
        let found: Vec<(&str, String)> = roots.filter_map(|root| Some((root, file_at(tree, root, path)?))).collect();
        // The `lib` folder of the file's own gem comes before those of others.
        let own: Vec<_> = found.iter().filter(|(root, _)| !root.is_empty() && below(file, parent(root)).is_some()).collect();
        let nearest = own.iter().max_by_key(|(root, _)| root.len());
        match nearest {
            Some((_, path)) => edges.exact(path.clone()),
            None if found.is_empty() => edges.external(path.split('/').next().unwrap_or(path)),
            None => edges.candidates(found.into_iter().map(|(_, path)| path).collect(), Resolution::Heuristic),
        }
    }

    /// The files that Zeitwerk would load for the constants that a file uses.
    pub(super) fn references(&self, source: &Source<'_>) -> Vec<ReferenceEdge> {
        let mut found = Vec::new();
        let (mut seen, mut targets) = (HashSet::new(), HashSet::new());
        for (number, reference) in (0..).zip(&source.outline.references) {
            let qualifier = reference.qualifier.as_deref().unwrap_or_default().trim_start_matches("::");
            if !seen.insert((qualifier, reference.name.as_str())) {
                continue;
            }
            // `A::B.new` and `A::B` name `a/b.rb`, and not `a.rb` too.
            let is_constant = |text: &str| text.starts_with(|letter: char| letter.is_uppercase());
            let whole = if qualifier.is_empty() { reference.name.clone() } else { format!("{qualifier}::{}", reference.name) };
            let mut constants = [whole.as_str(), qualifier].into_iter().filter(|constant| is_constant(constant));
            let Some(files) = constants.find_map(|constant| self.constants.get(underscored(constant).as_str())) else { continue };
            if files.len() > CANDIDATES_MAX {
                continue;
            }
            for file in files.iter().filter(|file| ***file != *source.path) {
                if targets.insert(file.clone()) {
                    found.push(ReferenceEdge { reference: number, target: file.clone(), resolution: Resolution::Heuristic });
                }
            }
        }
        found
    }
}

fn file_at(tree: &dyn Tree, folder: &str, path: &str) -> Option<String> {
    let path = join(folder, path)?;
    let with_extension = format!("{path}.rb");
    [with_extension, path].into_iter().find(|path| tree.has_file(path))
}

/// The path of a file below the folder that Zeitwerk loads: `app/*`, its `concerns`, or `lib`.
fn autoloaded(file: &str) -> Option<&str> {
    if let Some(rest) = after(file, "app") {
        let (_, rest) = rest.split_once('/')?;
        return Some(rest.strip_prefix("concerns/").unwrap_or(rest));
    }
    after(file, "lib")
}

fn after<'a>(file: &'a str, name: &str) -> Option<&'a str> {
    let folder = folders(file).filter(|folder| base(folder) == name).last()?;
    below(file, folder)
}

/// `Shop::LineItem` as `shop/line_item`.
fn underscored(constant: &str) -> String {
    let mut path = String::with_capacity(constant.len() + 8);
    for part in constant.split("::") {
        path = child(&path, &underscored_part(part));
    }
    path
}

fn underscored_part(part: &str) -> String {
    let letters: Vec<char> = part.chars().collect();
    let mut name = String::with_capacity(part.len() + 4);
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(index + 1);
        // A new word begins after a small letter, and before the last capital of a run: `HTMLParser` is `html_parser`.
        let begins = before.is_some_and(|before| !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase()));
        if letter.is_uppercase() && begins && before != Some(&'_') {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::underscored;

    #[test]
    fn constants_become_paths() {
        for (constant, path) in
            [("Cart", "cart"), ("Shop::LineItem", "shop/line_item"), ("HTMLParser", "html_parser"), ("A1B", "a1_b")]
        {
            assert_eq!(underscored(constant), path);
        }
    }
}
