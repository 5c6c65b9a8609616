//! PHP: `psr-4`, `psr-0` and `classmap` of composer.json lead from a class to a file. Without them, the only file that defines the
//! class is a guess. `include` names a file.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use syntax::{Import, ImportKind};

use super::edges::Edges;
use super::manifest::{Manifests, strings};
use super::names::{Names, dotted, package_of, prefixes};
use super::path::{below, child, join, parent};
use super::{ReferenceEdge, Resolution, Source, Tree};

/// The number of folders of one prefix, and of prefixes of one manifest.
const ITEMS_MAX: usize = 256;

/// The classes of a tree and where composer looks for them.
#[derive(Default)]
pub(super) struct Index {
    names: Names,
    /// Folders by namespace, without the last separator. The class follows below the folder.
    modern: HashMap<Box<str>, Vec<Box<str>>>,
    /// Folders by prefix. The whole name follows below the folder.
    old: Vec<(Box<str>, Box<str>)>,
    classmap: Vec<Box<str>>,
}

impl Index {
    pub(super) fn add(&mut self, source: &Source<'_>) {
        self.names.add(source, None);
    }

    pub(super) fn finish(&mut self, manifests: &Manifests<'_>) {
        for folder in manifests.folders("composer.json") {
            let Some(value) = manifests.json(&child(folder, "composer.json")) else { continue };
            for autoload in ["autoload", "autoload-dev"].into_iter().filter_map(|name| value.get(name)) {
                for (prefix, target) in folders_of(autoload.get("psr-4"), folder) {
                    self.modern.entry(prefix).or_default().push(target);
                }
                self.old.extend(folders_of(autoload.get("psr-0"), folder).take(ITEMS_MAX));
                let listed = strings(autoload.get("classmap"), ITEMS_MAX);
                self.classmap.extend(listed.iter().filter_map(|path| join(folder, path)).map(String::into_boxed_str));
            }
        }
        self.old.truncate(ITEMS_MAX);
        self.classmap.truncate(ITEMS_MAX);
    }

    pub(super) fn imports(&self, tree: &dyn Tree, source: &Source<'_>, edges: &mut Edges<'_>) {
        for (number, import) in source.outline.imports.iter().enumerate() {
            if is_file(import) {
                edges.at(number, None);
                included(tree, source.path, &import.path, edges);
                continue;
            }
            let path = dotted(&import.path);
            if import.names.is_empty() {
                edges.at(number, None);
                self.class(tree, &path, edges);
            }
            for (name, imported) in import.names.iter().enumerate() {
                edges.at(number, Some(name));
                let is_alias = imported.name == "*";
                let whole = if is_alias { path.clone() } else { format!("{path}.{}", dotted(&imported.name)) };
                self.class(tree, &whole, edges);
            }
        }
    }

    /// Classes of the same namespace need no import.
    pub(super) fn references(&self, source: &Source<'_>) -> Vec<ReferenceEdge> {
        let package = package_of(source.outline);
        let imports = source.outline.imports.iter();
        let last = |import: &'_ Import| import.path.rsplit('\\').next().unwrap_or_default().to_owned();
        let imported: Vec<String> = imports.map(last).collect();
        let imported: HashSet<&str> = imported.iter().map(String::as_str).collect();
        super::types::same_package(&self.names, source, &[&package], &imported)
    }

    fn class(&self, tree: &dyn Tree, name: &str, edges: &mut Edges<'_>) {
        let mut found: Vec<String> = Vec::new();
        let mut is_mapped = false;
        for prefix in prefixes(name).skip(1).chain([""]) {
            let Some(folders) = self.modern.get(prefix) else { continue };
            is_mapped |= !prefix.is_empty();
            let rest = name.get(prefix.len()..).unwrap_or_default().trim_start_matches('.').replace('.', "/");
            let paths = folders.iter().filter_map(|folder| join(folder, &format!("{rest}.php")));
            found.extend(paths.filter(|path| tree.has_file(path)));
            if !found.is_empty() {
                break;
            }
        }
        if found.is_empty() {
            found.extend(self.old_style(tree, name));
        }
        if !found.is_empty() {
            return edges.candidates(found, Resolution::Exact);
        }
        let files = self.names.files(name);
        let is_listed = |file: &&str| self.classmap.iter().any(|folder| below(file, folder).is_some() || **folder == **file);
        if !files.is_empty() {
            let one = if files.iter().all(is_listed) { Resolution::Exact } else { Resolution::Heuristic };
            return edges.candidates(files, one);
        }
        match is_mapped || self.names.has_package(name) {
            true => edges.unresolved(),
            false => edges.external(name.split('.').next().unwrap_or(name)),
        }
    }

    /// Below its folder, the path is the namespace, then the class with underscores as separators.
    fn old_style(&self, tree: &dyn Tree, name: &str) -> Vec<String> {
        let (namespace, class) = name.rsplit_once('.').unwrap_or(("", name));
        let path = child(&namespace.replace('.', "/"), &format!("{}.php", class.replace('_', "/")));
        let fitting = self.old.iter().filter(|(prefix, _)| name.starts_with(&**prefix));
        fitting.filter_map(|(_, folder)| join(folder, &path)).filter(|path| tree.has_file(path)).collect()
    }
}

/// The folders of each prefix: a text or a list of texts.
fn folders_of<'a>(map: Option<&'a Value>, folder: &'a str) -> impl Iterator<Item = (Box<str>, Box<str>)> + 'a {
    map.and_then(Value::as_object).into_iter().flatten().take(ITEMS_MAX).flat_map(move |(prefix, target)| {
        let targets = target.as_str().map_or_else(|| strings(Some(target), ITEMS_MAX), |one| vec![one.to_owned()]);
        let prefix: Box<str> = dotted(prefix.trim_end_matches('\\')).into();
        targets.into_iter().filter_map(move |target| Some((prefix.clone(), join(folder, &target)?.into())))
    })
}

fn is_file(import: &Import) -> bool {
    matches!(import.kind, ImportKind::Relative | ImportKind::Dynamic)
        || import.path.contains('/')
        || import.path.ends_with(".php")
}

/// `include 'a.php'`: from the file's folder, else from the root. PHP itself starts at the program's folder.
fn included(tree: &dyn Tree, file: &str, path: &str, edges: &mut Edges<'_>) {
    let path = path.trim_start_matches('/');
    let at = |folder: &str| join(folder, path).filter(|path| tree.has_file(path));
    match (at(parent(file)), at("")) {
        (Some(beside), _) => edges.exact(beside),
        (None, Some(root)) => edges.heuristic(root),
        (None, None) => edges.unresolved(),
    }
}
