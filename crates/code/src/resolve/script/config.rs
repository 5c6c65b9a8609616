//! `tsconfig.json`: `paths`, `baseUrl`, `extends` and `references`. The chain of `extends` is bounded, and a circle in it ends.

use std::collections::HashMap;

use serde_json::Value;

use super::package::Packages;
use crate::resolve::glob;
use crate::resolve::manifest::{Manifests, strings};
use crate::resolve::path::{base, below, child, folders, join, parent};

/// The number of files that one configuration may be made of.
const CHAIN_MAX: usize = 32;
/// The number of entries of a list that are kept.
const ITEMS_MAX: usize = 512;

/// What a configuration says about imports, with everything it inherits.
#[derive(Clone, Default)]
pub(super) struct Config {
    /// The folder that other imports start from.
    pub(super) base: Option<String>,
    /// The longest prefixes come first.
    pub(super) mappings: Vec<Mapping>,
    folder: String,
    includes: Option<Vec<String>>,
    files: Option<Vec<String>>,
    references: Vec<String>,
}

/// One entry of `paths`. The targets are paths of the tree that may hold a `*`.
#[derive(Clone)]
pub(super) struct Mapping {
    before: String,
    after: Option<String>,
    targets: Vec<String>,
}

impl Mapping {
    /// Whether it is for names of the project only: not for every name, and not for a package that is installed somewhere.
    pub(super) fn is_specific(&self) -> bool {
        !self.before.is_empty() && !self.targets.iter().any(|target| target.contains("node_modules"))
    }

    /// The paths that an import means.
    pub(super) fn targets<'a>(&'a self, import: &'a str) -> Option<impl Iterator<Item = String> + 'a> {
        let star = match &self.after {
            None => (import == self.before).then_some("")?,
            Some(after) => import.strip_prefix(self.before.as_str())?.strip_suffix(after.as_str())?,
        };
        Some(self.targets.iter().filter_map(move |target| join("", &target.replacen('*', star, 1))))
    }
}

/// The configurations of a tree by the folders that they govern.
#[derive(Default)]
pub(super) struct Configs {
    by_folder: HashMap<Box<str>, Vec<Config>>,
}

impl Configs {
    pub(super) fn new(manifests: &Manifests<'_>, packages: &Packages) -> Self {
        let mut loader = Loader { manifests, packages, raw: HashMap::new() };
        let mut by_folder = HashMap::new();
        for name in ["tsconfig.json", "jsconfig.json"] {
            for folder in manifests.folders(name) {
                if by_folder.contains_key(folder) {
                    continue;
                }
                let own = loader.load(&child(folder, name));
                let references = own.references.iter().take(CHAIN_MAX).map(|path| loader.load(path));
                let referenced: Vec<_> = references.collect();
                by_folder.insert(folder.clone(), std::iter::once(own).chain(referenced).collect());
            }
        }
        Self { by_folder }
    }

    /// The configuration of a file: the nearest one above it, or the one of its references that includes the file.
    pub(super) fn of(&self, file: &str) -> Option<&Config> {
        let configs = folders(file).find_map(|folder| self.by_folder.get(folder))?;
        let own = configs.first()?;
        if configs.len() == 1 || own.includes(file) {
            return Some(own);
        }
        let mut referenced = configs.iter().skip(1);
        referenced
            .clone()
            .find(|config| config.includes(file))
            .or_else(|| {
                // A file outside every list, such as a test, uses the first configuration that says something.
                if own.mappings.is_empty() { referenced.find(|config| !config.mappings.is_empty()) } else { None }
            })
            .or(Some(own))
    }
}

impl Config {
    fn includes(&self, file: &str) -> bool {
        let Some(rest) = below(file, &self.folder) else { return false };
        if self.files.iter().flatten().any(|listed| join(&self.folder, listed).as_deref() == Some(file)) {
            return true;
        }
        match &self.includes {
            None => self.files.is_none(),
            Some(includes) => includes.iter().any(|include| {
                let is_folder = || !base(include).contains(['*', '.']) && glob::matches(&format!("{include}/**"), rest);
                glob::matches(include, rest) || is_folder()
            }),
        }
    }
}

struct Loader<'a> {
    manifests: &'a Manifests<'a>,
    packages: &'a Packages,
    raw: HashMap<String, Option<Value>>,
}

impl Loader<'_> {
    fn load(&mut self, path: &str) -> Config {
        let folder = parent(path).to_owned();
        let mut config = Config { folder, ..Config::default() };
        let mut paths = None;
        self.apply(path, &mut config, &mut paths, &mut Vec::new(), &mut 0);
        if let Some((folder, paths)) = paths {
            let start = config.base.clone().unwrap_or(folder);
            config.mappings = mappings(&paths, &start, &config.folder);
        }
        config
    }

    /// Adds what a file says to what it inherits. `around` are the files that extend it.
    fn apply(
        &mut self,
        path: &str,
        config: &mut Config,
        paths: &mut Option<(String, Value)>,
        around: &mut Vec<String>,
        steps: &mut usize,
    ) {
        *steps += 1;
        if *steps > CHAIN_MAX || around.iter().any(|known| known == path) {
            return;
        }
        let manifests = self.manifests;
        let raw = self.raw.entry(path.to_owned()).or_insert_with(|| manifests.json(path)).clone();
        let Some(raw) = raw else { return };
        around.push(path.to_owned());
        let extends = match raw.get("extends") {
            Some(Value::String(one)) => vec![one.clone()],
            several => strings(several, CHAIN_MAX),
        };
        for extended in &extends {
            if let Some(extended) = self.locate(path, extended) {
                self.apply(&extended, config, paths, around, steps);
            }
        }
        around.pop();
        let options = raw.get("compilerOptions");
        let option = |name: &str| options.and_then(|options| options.get(name));
        if let Some(start) = option("baseUrl").and_then(Value::as_str) {
            config.base = place(parent(path), start, &config.folder);
        }
        if let Some(found) = option("paths").filter(|found| found.is_object()) {
            *paths = Some((parent(path).to_owned(), found.clone()));
        }
        // `include` and `files` of an inherited file are relative to that file: too rare to follow here.
        if parent(path) == config.folder {
            let list = |name: &str| raw.get(name).map(|list| strings(Some(list), ITEMS_MAX));
            config.includes = list("include").or(config.includes.take());
            config.files = list("files").or(config.files.take());
        }
        if around.is_empty() {
            config.references = self.references(path, &raw);
        }
    }

    fn references(&self, path: &str, raw: &Value) -> Vec<String> {
        let list = raw.get("references").and_then(Value::as_array).into_iter().flatten();
        let named = list.filter_map(|reference| reference.get("path")?.as_str()).take(CHAIN_MAX);
        named.filter_map(|name| join(parent(path), name)).map(|path| self.file_or_default(path)).collect()
    }

    fn file_or_default(&self, path: String) -> String {
        if path.ends_with(".json") { path } else { child(&path, "tsconfig.json") }
    }

    /// The file that `extends` names: relative to the file, or in a package of the workspace.
    fn locate(&self, path: &str, extended: &str) -> Option<String> {
        let tree = self.manifests.tree;
        let found = if extended.starts_with('.') {
            join(parent(path), extended)?
        } else {
            let (name, rest) = super::package::split(extended);
            let folder = self.packages.member(name)?;
            join(folder, if rest.is_empty() { "tsconfig.json" } else { rest })?
        };
        let with_extension = format!("{found}.json");
        [found.clone(), with_extension, child(&found, "tsconfig.json")].into_iter().find(|path| tree.has_file(path))
    }
}

/// A path that may begin with `${configDir}`, the folder of the outermost file.
fn place(folder: &str, path: &str, outermost: &str) -> Option<String> {
    match path.strip_prefix("${configDir}") {
        Some(rest) => join(outermost, rest.trim_start_matches('/')),
        None => join(folder, path),
    }
}

fn mappings(paths: &Value, start: &str, outermost: &str) -> Vec<Mapping> {
    let mut found = Vec::new();
    for (pattern, targets) in paths.as_object().into_iter().flatten().take(ITEMS_MAX) {
        let targets = strings(Some(targets), 16).iter().filter_map(|target| place(start, target, outermost)).collect();
        let (before, after) = match pattern.split_once('*') {
            Some((before, after)) => (before.to_owned(), Some(after.to_owned())),
            None => (pattern.clone(), None),
        };
        found.push(Mapping { before, after, targets });
    }
    found.sort_by_key(|mapping| (mapping.after.is_some(), std::cmp::Reverse(mapping.before.len())));
    found
}
