//! Go imports name a folder: the edge leads to every file of that package except its tests. The folder follows from the module path
//! in go.mod. Modules of the same go.work, and local replacements, are certain. Another module of the tree with that path is a guess,
//! because the build would download it.

use std::collections::HashMap;

use super::edges::{CANDIDATES_MAX, Edges};
use super::manifest::Manifests;
use super::path::{child, folders, join, parent};
use super::{Resolution, Source};

/// The number of files of a package that get an edge.
const FILES_MAX: usize = 256;
/// The number of replacements that one file may hold.
const REPLACEMENTS_MAX: usize = 512;

/// Modules and packages of a tree.
#[derive(Default)]
pub(super) struct Index {
    modules: Vec<Module>,
    by_folder: HashMap<Box<str>, usize>,
    by_path: HashMap<Box<str>, Vec<usize>>,
    /// The files of each folder, without tests, sorted.
    packages: HashMap<Box<str>, Vec<Box<str>>>,
}

struct Module {
    folder: Box<str>,
    /// Module paths that are replaced by a folder of the tree.
    replacements: HashMap<Box<str>, Box<str>>,
    /// The go.work that uses it.
    workspace: Option<usize>,
}

impl Index {
    pub(super) fn new(files: &[Box<str>], manifests: &Manifests<'_>) -> Self {
        let mut index = Self::default();
        for file in files.iter().filter(|file| !file.ends_with("_test.go")) {
            match index.packages.get_mut(parent(file)) {
                Some(package) => package.push(file.clone()),
                None => drop(index.packages.insert(parent(file).into(), vec![file.clone()])),
            }
        }
        for package in index.packages.values_mut() {
            package.sort_unstable();
            package.truncate(FILES_MAX);
        }
        for folder in manifests.folders("go.mod") {
            let Some(text) = manifests.text(&child(folder, "go.mod")) else { continue };
            let Some(path) = entries(&text, "module").next() else { continue };
            let number = index.modules.len();
            index.by_path.entry(unquoted(path).into()).or_default().push(number);
            index.by_folder.insert(folder.clone(), number);
            index.modules.push(Module { folder: folder.clone(), replacements: replacements(&text, folder), workspace: None });
        }
        for (workspace, folder) in manifests.folders("go.work").iter().enumerate() {
            let Some(text) = manifests.text(&child(folder, "go.work")) else { continue };
            index.use_workspace(workspace, folder, &text);
        }
        index
    }

    fn use_workspace(&mut self, workspace: usize, folder: &str, text: &str) {
        let replaced = replacements(text, folder);
        for used in entries(text, "use").filter_map(|used| join(folder, unquoted(used))) {
            let Some(module) = self.by_folder.get(used.as_str()).and_then(|number| self.modules.get_mut(*number)) else {
                continue;
            };
            module.workspace = Some(workspace);
            for (path, target) in &replaced {
                module.replacements.insert(path.clone(), target.clone());
            }
        }
    }

    pub(super) fn imports(&self, source: &Source<'_>, edges: &mut Edges<'_>) {
        let own = folders(source.path).find_map(|folder| self.by_folder.get(folder)).copied();
        for (number, import) in source.outline.imports.iter().enumerate() {
            edges.at(number, None);
            self.import(own, &import.path, edges);
        }
    }

    fn import(&self, own: Option<usize>, import: &str, edges: &mut Edges<'_>) {
        let module = own.and_then(|own| self.modules.get(own));
        let vendored = module.map(|module| child(&module.folder, &child("vendor", import)));
        if let Some(files) = vendored.and_then(|folder| self.packages.get(folder.as_str())) {
            return add(edges, files, Resolution::Exact);
        }
        // The longest module path wins: a module inside another one is not part of it.
        let prefixes = std::iter::successors(Some(import), |path| path.rsplit_once('/').map(|(before, _)| before));
        for prefix in prefixes {
            let rest = import.get(prefix.len()..).unwrap_or_default().trim_start_matches('/');
            if let Some(target) = module.and_then(|module| module.replacements.get(prefix)) {
                return self.package(target, rest, Resolution::Exact, edges);
            }
            let Some(numbers) = self.by_path.get(prefix) else { continue };
            if numbers.len() > CANDIDATES_MAX {
                return edges.unresolved();
            }
            let sure: Vec<_> = numbers.iter().filter(|number| self.is_sure(own, **number)).collect();
            let (numbers, resolution) = match sure.as_slice() {
                [_] => (sure, Resolution::Exact),
                _ => (numbers.iter().collect(), Resolution::Heuristic),
            };
            for module in numbers.into_iter().filter_map(|number| self.modules.get(*number)) {
                self.package(&module.folder, rest, resolution, edges);
            }
            return;
        }
        edges.external(import);
    }

    /// Whether a build of `own` uses the module of this number.
    fn is_sure(&self, own: Option<usize>, number: usize) -> bool {
        let workspace = |number: usize| self.modules.get(number).and_then(|module| module.workspace);
        own == Some(number) || own.and_then(workspace).is_some_and(|used| workspace(number) == Some(used))
    }

    fn package(&self, folder: &str, rest: &str, resolution: Resolution, edges: &mut Edges<'_>) {
        let files = join(folder, rest).and_then(|folder| self.packages.get(folder.as_str()));
        match files {
            Some(files) => add(edges, files, resolution),
            None => edges.unresolved(),
        }
    }
}

fn add(edges: &mut Edges<'_>, files: &[Box<str>], resolution: Resolution) {
    for file in files {
        edges.file(file.clone(), resolution);
    }
}

/// What follows a keyword, on its line or in its parentheses.
fn entries<'a>(text: &'a str, keyword: &'a str) -> impl Iterator<Item = &'a str> {
    let mut is_inside = false;
    text.lines().filter_map(move |line| {
        let line = line.split("//").next().unwrap_or_default().trim();
        if is_inside {
            is_inside = line != ")";
            return (is_inside && !line.is_empty()).then_some(line);
        }
        let rest = line.strip_prefix(keyword)?;
        let rest = rest.strip_prefix([' ', '\t', '(']).map(|_| rest.trim())?;
        is_inside = rest.starts_with('(');
        (!is_inside && !rest.is_empty()).then_some(rest)
    })
}

/// `old => ./new`: the replacements that are folders of the tree.
fn replacements(text: &str, folder: &str) -> HashMap<Box<str>, Box<str>> {
    let pairs = entries(text, "replace").filter_map(|entry| {
        let (old, new) = entry.split_once("=>")?;
        let old = old.split_whitespace().next()?;
        let new = unquoted(new.split_whitespace().next()?);
        let target = new.starts_with('.').then(|| join(folder, new)).flatten()?;
        Some((unquoted(old).into(), target.into()))
    });
    pairs.take(REPLACEMENTS_MAX).collect()
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '`'])
}
