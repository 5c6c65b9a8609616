//! `Cargo.toml`: the crates of a tree, their root files, and what the names of their dependencies mean.

use std::collections::{BTreeSet, HashMap};

use toml::{Table, Value};

use crate::resolve::manifest::Manifests;
use crate::resolve::path::{base, below, child, folders, join};

/// The number of dependencies of one manifest, and of its targets, that are read.
const ITEMS_MAX: usize = 2_000;

/// One package: its library, its other root files and its dependencies.
pub(super) struct Package {
    pub(super) folder: Box<str>,
    /// The name that code uses for the library.
    pub(super) library: Box<str>,
    pub(super) library_root: Option<Box<str>>,
    /// The roots of programs, examples, tests and benches.
    pub(super) other_roots: BTreeSet<Box<str>>,
    /// The package's own name for each dependency that is a package of the tree.
    pub(super) dependencies: HashMap<Box<str>, usize>,
    /// The names of dependencies from elsewhere.
    pub(super) outside: BTreeSet<Box<str>>,
}

/// The packages of a tree.
#[derive(Default)]
pub(super) struct Packages {
    pub(super) all: Vec<Package>,
    by_folder: HashMap<Box<str>, usize>,
}

impl Packages {
    /// Reads every manifest. `files` are the Rust files of the tree.
    pub(super) fn new(files: &[Box<str>], manifests: &Manifests<'_>) -> Self {
        let mut packages = Self::default();
        let mut tables = Vec::new();
        let mut workspaces: HashMap<Box<str>, Table> = HashMap::new();
        for folder in manifests.folders("Cargo.toml") {
            let Some(table) = manifests.toml(&child(folder, "Cargo.toml")) else { continue };
            if let Some(shared) = table.get("workspace").and_then(|value| value.get("dependencies")).and_then(Value::as_table) {
                workspaces.insert(folder.clone(), shared.clone());
            }
            let Some(name) = table.get("package").and_then(|value| value.get("name")).and_then(Value::as_str) else { continue };
            packages.by_folder.insert(folder.clone(), packages.all.len());
            packages.all.push(Package::new(folder, name, &table, manifests));
            tables.push((name.to_owned(), table));
        }
        packages.add_roots(files);
        let mut names: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, (name, _)) in tables.iter().enumerate() {
            names.entry(name).or_default().push(number);
        }
        for (number, (_, table)) in tables.iter().enumerate() {
            packages.depend(number, table, &names, &workspaces);
        }
        packages
    }

    /// The package around a file.
    pub(super) fn around(&self, file: &str) -> Option<usize> {
        folders(file).find_map(|folder| self.by_folder.get(folder)).copied()
    }

    /// Adds the roots that cargo finds by their place.
    fn add_roots(&mut self, files: &[Box<str>]) {
        for file in files {
            let Some(package) = self.around(file).and_then(|number| self.all.get_mut(number)) else { continue };
            let rest = below(file, &package.folder).unwrap_or_default();
            let is_library = package.library_root.as_deref() == Some(&**file);
            if !is_library && is_usual_root(rest) {
                package.other_roots.insert(file.clone());
            }
        }
    }

    /// Finds out what the dependencies of a package are.
    fn depend(&mut self, number: usize, table: &Table, names: &HashMap<&str, Vec<usize>>, workspaces: &HashMap<Box<str>, Table>) {
        let Some(folder) = self.all.get(number).map(|package| package.folder.clone()) else { return };
        let around = || std::iter::once(&*folder).chain(folders(&folder));
        let shared = around().find_map(|around| workspaces.get_key_value(around));
        let (mut inside, mut outside) = (HashMap::new(), BTreeSet::new());
        for (key, value) in dependency_tables(table).flatten().take(ITEMS_MAX) {
            let is_shared = value.get("workspace").and_then(Value::as_bool) == Some(true);
            let (from, value) = match shared.filter(|_| is_shared).and_then(|(from, table)| Some((&**from, table.get(key)?))) {
                Some(found) => found,
                None => (&*folder, value),
            };
            let text = |name: &str| value.get(name).and_then(Value::as_str);
            let by_path = text("path").and_then(|path| join(from, path)).and_then(|folder| self.by_folder.get(folder.as_str()));
            let by_name = || match names.get(text("package").unwrap_or(key)).map(Vec::as_slice) {
                // Cargo would download a dependency without a path, unless the workspace patches it.
                Some([only]) if text("git").is_none() && text("version").is_none() && !value.is_str() => Some(only),
                _ => None,
            };
            let found = by_path.or_else(by_name).copied();
            let renamed = value.get("package").is_some() || found.is_none();
            let library = found.and_then(|number| self.all.get(number)).map(|package| package.library.clone());
            let name = library.filter(|_| !renamed).unwrap_or_else(|| key.replace('-', "_").into());
            match found {
                Some(number) => drop(inside.insert(name, number)),
                None => drop(outside.insert(name)),
            }
        }
        if let Some(package) = self.all.get_mut(number) {
            package.dependencies = inside;
            package.outside = outside;
        }
    }
}

impl Package {
    fn new(folder: &str, name: &str, table: &Table, manifests: &Manifests<'_>) -> Self {
        let library = table.get("lib");
        let text = |value: Option<&Value>, name: &str| value.and_then(|value| value.get(name)?.as_str().map(str::to_owned));
        let library_name = text(library, "name").unwrap_or_else(|| name.replace('-', "_"));
        let path = text(library, "path").unwrap_or_else(|| "src/lib.rs".to_owned());
        let library_root = join(folder, &path).filter(|path| manifests.tree.has_file(path));
        let mut other_roots = BTreeSet::new();
        for kind in ["bin", "example", "test", "bench"] {
            let targets = table.get(kind).and_then(Value::as_array).into_iter().flatten().take(ITEMS_MAX);
            let paths = targets.filter_map(|target| join(folder, target.get("path")?.as_str()?));
            other_roots.extend(paths.map(String::into_boxed_str));
        }
        if let Some(build) = text(table.get("package"), "build").and_then(|build| join(folder, &build)) {
            other_roots.insert(build.into());
        }
        Self {
            folder: folder.into(),
            library: library_name.into(),
            library_root: library_root.map(String::into_boxed_str),
            other_roots,
            dependencies: HashMap::new(),
            outside: BTreeSet::new(),
        }
    }
}

/// Whether cargo takes a file, seen from its package, for the root of a crate.
fn is_usual_root(rest: &str) -> bool {
    if matches!(rest, "src/main.rs" | "build.rs") {
        return true;
    }
    let inside = ["src/bin/", "examples/", "tests/", "benches/"].iter().find_map(|folder| rest.strip_prefix(folder));
    inside.is_some_and(|inside| !inside.contains('/') || inside.matches('/').count() == 1 && base(inside) == "main.rs")
}

/// Every table of dependencies of a manifest, also those for some platforms only.
fn dependency_tables(table: &Table) -> impl Iterator<Item = &Table> {
    let platforms = table.get("target").and_then(Value::as_table).into_iter().flatten().filter_map(|(_, value)| value.as_table());
    std::iter::once(table).chain(platforms).flat_map(|table| {
        ["dependencies", "dev-dependencies", "build-dependencies"].into_iter().filter_map(|name| table.get(name)?.as_table())
    })
}
