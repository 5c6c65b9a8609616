//! `package.json`: the packages of a tree, which of them belong to a workspace, and the file that an import of one means.

use std::collections::HashMap;

use serde_json::Value;

use super::files::{Lookup, is_declaration, without_extension};
use super::workspace::Workspaces;
use crate::resolve::Resolution;
use crate::resolve::manifest::Manifests;
use crate::resolve::path::{child, folders, join};

/// The number of targets that one export may name.
const TARGETS_MAX: usize = 32;
/// Folders of build output. What they hold is made from the sources.
const OUTPUTS: [&str; 12] = ["dist", "lib", "build", "out", "esm", "cjs", "es", "umd", "types", "typings", "output", "out-tsc"];

/// One `package.json`.
pub(super) struct Package {
    folder: Box<str>,
    name: Option<Box<str>>,
    exports: Option<Value>,
    imports: Option<Value>,
    /// The entries without `exports`, the sources first.
    entries: Vec<Box<str>>,
    /// Dependencies that are folders of the tree.
    links: Vec<(Box<str>, Box<str>)>,
}

/// The packages of a tree.
#[derive(Default)]
pub(super) struct Packages {
    all: Vec<Package>,
    by_folder: HashMap<Box<str>, usize>,
    members: HashMap<Box<str>, Vec<usize>>,
}

/// A file, and whether it is certain.
pub(super) type Found = (String, Resolution);

impl Packages {
    pub(super) fn new(manifests: &Manifests<'_>) -> Self {
        let mut packages = Self::default();
        let mut workspaces = Workspaces::new(manifests);
        for folder in manifests.folders("package.json") {
            let Some(value) = manifests.json(&child(folder, "package.json")) else { continue };
            workspaces.add(folder, &value);
            packages.by_folder.insert(folder.clone(), packages.all.len());
            packages.all.push(Package::new(folder, value));
        }
        for (number, package) in packages.all.iter().enumerate() {
            if let Some(name) = package.name.as_ref().filter(|_| workspaces.has(&package.folder)) {
                packages.members.entry(name.clone()).or_default().push(number);
            }
        }
        packages
    }

    /// The package around a file.
    pub(super) fn around(&self, file: &str) -> Option<&Package> {
        let number = folders(file).find_map(|folder| self.by_folder.get(folder))?;
        self.all.get(*number)
    }

    /// The package of a folder.
    pub(super) fn at(&self, folder: &str) -> Option<&Package> {
        self.all.get(*self.by_folder.get(folder)?)
    }

    /// The folder of the only member of a workspace with this name.
    pub(super) fn member(&self, name: &str) -> Option<&str> {
        match self.members.get(name)?.as_slice() {
            [only] => Some(&self.all.get(*only)?.folder),
            _ => None,
        }
    }

    /// The packages that a name may mean for a file in `own`.
    pub(super) fn named<'a>(&'a self, own: Option<&'a Package>, name: &str) -> Vec<&'a Package> {
        if let Some(own) = own.filter(|own| own.name.as_deref() == Some(name)) {
            return vec![own];
        }
        let mut links = own.iter().flat_map(|own| own.links.iter());
        let linked = links.find(|(linked, _)| **linked == *name).and_then(|(_, folder)| self.by_folder.get(folder));
        let members = || self.members.get(name).into_iter().flatten();
        let numbers: Vec<_> = linked.into_iter().chain(members().filter(|_| linked.is_none())).collect();
        numbers.into_iter().filter_map(|number| self.all.get(*number)).collect()
    }
}

impl Package {
    fn new(folder: &str, mut value: Value) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(Box::from);
        let name = text("name");
        let entries = ["source", "module", "main", "types", "typings"].into_iter().filter_map(text).collect();
        let mut links = Vec::new();
        for kind in ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"] {
            for (name, version) in value.get(kind).and_then(Value::as_object).into_iter().flatten() {
                let path = version
                    .as_str()
                    .and_then(|version| ["file:", "link:", "portal:"].iter().find_map(|prefix| version.strip_prefix(prefix)));
                if let Some(target) = path.and_then(|path| join(folder, path)) {
                    links.push((name.as_str().into(), target.into()));
                }
            }
        }
        let mut taken = |name: &str| value.get_mut(name).map(Value::take).filter(|value| !value.is_null());
        Self { folder: folder.into(), name, exports: taken("exports"), imports: taken("imports"), entries, links }
    }

    /// The file that an import of this package, or of a path in it, means.
    pub(super) fn entry(&self, lookup: Lookup<'_>, path: &str) -> Option<Found> {
        if let Some(exports) = &self.exports {
            let key = if path.is_empty() { ".".to_owned() } else { format!("./{path}") };
            let targets = targets(exports, &key)?;
            let found = self.best(lookup, &targets);
            return found.or_else(|| if path.is_empty() { self.conventional(lookup) } else { None });
        }
        if path.is_empty() {
            let entries: Vec<String> = self.entries.iter().map(|entry| entry.to_string()).collect();
            return self.best(lookup, &entries).or_else(|| self.conventional(lookup));
        }
        let exact = join(&self.folder, path).and_then(|path| lookup.find(&path, false));
        let exact = exact.map(|file| (file, Resolution::Exact));
        exact.or_else(|| Some((self.source(lookup, path)?, Resolution::Heuristic)))
    }

    /// What `#name` means in this package: targets that begin with `.` are files of it, others are imports.
    pub(super) fn private(&self, name: &str) -> Vec<String> {
        self.imports.as_ref().and_then(|imports| targets(imports, name)).unwrap_or_default()
    }

    /// The best of several targets: a file that is there, else the source that it is built from, else its declarations.
    pub(super) fn best(&self, lookup: Lookup<'_>, targets: &[String]) -> Option<Found> {
        let there = |target: &String| join(&self.folder, target).and_then(|path| lookup.find(&path, target.ends_with('/')));
        let there: Vec<String> = targets.iter().filter_map(there).collect();
        let exact = there.iter().find(|file| !is_declaration(file)).map(|file| (file.clone(), Resolution::Exact));
        let source = || targets.iter().find_map(|target| self.source(lookup, target)).map(|file| (file, Resolution::Heuristic));
        exact.or_else(source).or_else(|| there.into_iter().next().map(|file| (file, Resolution::Exact)))
    }

    /// The source of a file that is not built, by convention: `dist/esm/a.js` comes from `src/a.ts`.
    fn source(&self, lookup: Lookup<'_>, target: &str) -> Option<String> {
        let target = without_extension(target.trim_start_matches("./"));
        let mut rest = target;
        for _ in 0..3 {
            for folder in ["src", "source", ""] {
                let path = join(&self.folder, &child(folder, rest))?;
                if let Some(file) = lookup.find(&path, false) {
                    return Some(file);
                }
            }
            let (first, after) = rest.split_once('/')?;
            rest = OUTPUTS.contains(&first).then_some(after)?;
        }
        None
    }

    /// The usual entries of a package that does not say.
    fn conventional(&self, lookup: Lookup<'_>) -> Option<Found> {
        let own = lookup.index(&self.folder).map(|file| (file, Resolution::Exact));
        own.or_else(|| Some((lookup.index(&child(&self.folder, "src"))?, Resolution::Heuristic)))
    }
}

/// The targets of a key of `exports` or `imports`. Nothing if the key is absent or forbidden.
fn targets(map: &Value, key: &str) -> Option<Vec<String>> {
    let is_keyed = |object: &serde_json::Map<String, Value>| object.keys().any(|key| key.starts_with(['.', '#']));
    let (value, star) = match map.as_object().filter(|object| is_keyed(object)) {
        None => (key == ".").then_some((map, ""))?,
        Some(object) => match object.get(key) {
            Some(value) => (value, ""),
            None => pattern(object, key)?,
        },
    };
    let mut found = Vec::new();
    collect(value, star, &mut found);
    (!found.is_empty()).then_some(found)
}

/// The pattern with the longest prefix that matches a key, and what its `*` stands for.
fn pattern<'a>(object: &'a serde_json::Map<String, Value>, key: &'a str) -> Option<(&'a Value, &'a str)> {
    let matching = object.iter().filter_map(|(pattern, value)| {
        let (before, after) = pattern.split_once('*')?;
        let star = key.strip_prefix(before)?.strip_suffix(after)?;
        Some((before.len(), value, star))
    });
    matching.max_by_key(|(length, ..)| *length).map(|(_, value, star)| (value, star))
}

/// Every target of a value. Conditions that name sources come first, then all others in their order.
fn collect(value: &Value, star: &str, found: &mut Vec<String>) {
    if found.len() >= TARGETS_MAX {
        return;
    }
    match value {
        Value::String(target) => found.push(target.replace('*', star)),
        Value::Array(list) => list.iter().for_each(|value| collect(value, star, found)),
        Value::Object(conditions) => {
            let is_source = |condition: &str| condition.contains("source") || condition.contains("src");
            for first in [true, false] {
                let chosen = conditions.iter().filter(|(condition, _)| is_source(condition) == first);
                chosen.for_each(|(_, value)| collect(value, star, found));
            }
        }
        _ => {}
    }
}

/// The name of a package and the path in it: `@scope/name/path`.
pub(super) fn split(import: &str) -> (&str, &str) {
    let from = if import.starts_with('@') { import.find('/').map_or(import.len(), |slash| slash + 1) } else { 0 };
    let end = import.get(from..).and_then(|rest| rest.find('/')).map_or(import.len(), |slash| from + slash);
    let (name, rest) = import.split_at_checked(end).unwrap_or((import, ""));
    (name, rest.trim_start_matches('/'))
}
