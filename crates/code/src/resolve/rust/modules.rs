//! The module trees of all crates, from `mod x;` and inline modules. A file that two crates share has a module in each.

use std::collections::{HashMap, HashSet};

use syntax::{Definition, DefinitionKind, Import, ImportKind, Outline};

use super::cargo::Packages;
use crate::resolve::Tree;
use crate::resolve::path::{base, child, join, parent, stem};

/// The number of modules that are kept.
const MODULES_MAX: usize = 500_000;

/// A module: its file, and its place in the tree of one crate.
pub(super) struct Module {
    pub(super) file: u32,
    pub(super) parent: Option<u32>,
    /// The root of the crate.
    pub(super) root: u32,
    /// The package of the crate.
    pub(super) package: u32,
    /// Sorted by name when the tree is complete.
    children: Vec<(Box<str>, u32)>,
}

/// What a file says about modules.
#[derive(Default)]
pub(super) struct Facts {
    /// The names of inline modules, and the one around each.
    inline: Vec<(Box<str>, Option<usize>)>,
    declared: Vec<Declared>,
}

/// `mod x;`, with the names of the inline modules around it.
pub(super) struct Declared {
    inline: Option<usize>,
    around: Vec<Box<str>>,
    name: Box<str>,
    location: Option<Box<str>>,
}

impl Facts {
    pub(super) fn new(outline: &Outline) -> Self {
        let inline = Inline::new(outline);
        let number_of = |definition: Option<u32>| inline.0.iter().position(|(known, _)| Some(*known) == definition);
        let named = inline.0.iter().map(|(_, module)| (plain(&module.name).into(), number_of(module.parent))).collect();
        let declared = outline.imports.iter().filter(|import| import.kind == ImportKind::Module).map(|import| Declared {
            inline: inline.0.iter().rposition(|(_, module)| is_around(module, import.line)),
            around: inline.names_around(import.line).map(Box::from).collect(),
            name: declared_name(import).into(),
            location: import.location.as_deref().map(Box::from),
        });
        Self { inline: named, declared: declared.collect() }
    }
}

/// The Rust files of a tree. A number stands for a path.
#[derive(Default)]
pub(super) struct Files {
    pub(super) paths: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Files {
    pub(super) fn new(paths: Vec<Box<str>>) -> Self {
        let numbers = paths.iter().cloned().zip(0..).collect();
        Self { paths, numbers }
    }

    pub(super) fn number(&self, path: &str) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    pub(super) fn path(&self, number: u32) -> &str {
        self.paths.get(number as usize).map_or("", |path| path)
    }
}

/// The trees of all crates.
#[derive(Default)]
pub(super) struct Modules {
    pub(super) all: Vec<Module>,
    /// The modules of each file, one for each crate.
    of_file: HashMap<u32, Vec<u32>>,
    /// The root module of each package's library.
    pub(super) libraries: HashMap<u32, u32>,
    /// The root module of some crate of a package.
    pub(super) any_root: HashMap<u32, u32>,
}

impl Modules {
    pub(super) fn new(tree: &dyn Tree, files: &Files, facts: &[Facts], packages: &Packages) -> Self {
        let mut modules = Self::default();
        for (number, package) in (0_u32..).zip(&packages.all) {
            for root in package.library_root.iter().chain(&package.other_roots) {
                let Some(file) = files.number(root) else { continue };
                let module = modules.add_crate(tree, files, facts, file, number);
                if package.library_root.as_ref() == Some(root) {
                    modules.libraries.insert(number, module);
                }
                modules.any_root.entry(number).or_insert(module);
            }
        }
        for module in &mut modules.all {
            module.children.sort_unstable();
        }
        modules
    }

    pub(super) fn of_file(&self, file: u32) -> &[u32] {
        self.of_file.get(&file).map_or(&[], Vec::as_slice)
    }

    pub(super) fn child(&self, module: u32, name: &str) -> Option<u32> {
        let children = &self.all.get(module as usize)?.children;
        let found = children.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        children.get(found).map(|(_, child)| *child)
    }

    fn add(&mut self, file: u32, parent: Option<u32>, root: Option<u32>, package: u32) -> u32 {
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Module { file, parent, root: root.unwrap_or(number), package, children: Vec::new() });
        number
    }

    fn add_child(&mut self, parent: u32, name: &str, file: u32) -> u32 {
        let (root, package) = self.all.get(parent as usize).map_or((parent, 0), |parent| (parent.root, parent.package));
        let number = self.add(file, Some(parent), Some(root), package);
        if let Some(parent) = self.all.get_mut(parent as usize) {
            parent.children.push((name.into(), number));
        }
        number
    }

    /// Follows the modules of a crate from its root. A file is in a crate once, so a circle ends.
    fn add_crate(&mut self, tree: &dyn Tree, files: &Files, facts: &[Facts], root: u32, package: u32) -> u32 {
        let top = self.add(root, None, None, package);
        let mut seen: HashSet<u32> = [root].into();
        let mut open = vec![(top, root, true)];
        while let Some((module, file, owns_folder)) = open.pop() {
            self.of_file.entry(file).or_default().push(module);
            let Some(said) = facts.get(file as usize) else { continue };
            let inline = self.add_inline(module, file, &said.inline);
            for declared in &said.declared {
                let around = declared.inline.and_then(|number| inline.get(number)).copied().unwrap_or(module);
                let path = declared.find(tree, files.path(file), owns_folder);
                let Some(target) = path.and_then(|path| files.number(&path)) else { continue };
                if self.all.len() >= MODULES_MAX || !seen.insert(target) {
                    continue;
                }
                let next = self.add_child(around, &declared.name, target);
                open.push((next, target, declared.location.is_some()));
            }
        }
        top
    }

    fn add_inline(&mut self, module: u32, file: u32, inline: &[(Box<str>, Option<usize>)]) -> Vec<u32> {
        let mut numbers: Vec<u32> = Vec::with_capacity(inline.len());
        for (name, around) in inline {
            let around = around.and_then(|number| numbers.get(number)).copied().unwrap_or(module);
            let number = self.add_child(around, name, file);
            numbers.push(number);
        }
        numbers
    }
}

impl Declared {
    /// The file of the module. `owns_folder`: whether modules of the file are next to it, and not in a folder of its name.
    fn find(&self, tree: &dyn Tree, file: &str, owns_folder: bool) -> Option<String> {
        find(tree, file, owns_folder, &self.around, &self.name, self.location.as_deref())
    }
}

/// The file that `mod name;` in a file means.
fn find(
    tree: &dyn Tree,
    file: &str,
    owns_folder: bool,
    around: &[Box<str>],
    name: &str,
    location: Option<&str>,
) -> Option<String> {
    let owns_folder = owns_folder || base(file) == "mod.rs";
    let own = if owns_folder { parent(file).to_owned() } else { child(parent(file), stem(file)) };
    let folder = around.iter().fold(own, |folder, name| child(&folder, name));
    if let Some(location) = location {
        let from = if around.is_empty() { parent(file) } else { &folder };
        return join(from, location).filter(|path| tree.has_file(path));
    }
    let beside = child(&folder, &format!("{name}.rs"));
    [beside, child(&folder, &format!("{name}/mod.rs"))].into_iter().find(|path| tree.has_file(path))
}

/// The file of `mod name;` in a file that no crate reaches: by the file's name, else beside it.
pub(super) fn find_alone(tree: &dyn Tree, file: &str, import: &Import) -> Option<String> {
    let is_root = matches!(base(file), "lib.rs" | "main.rs");
    let found = |owns_folder| find(tree, file, owns_folder, &[], declared_name(import), import.location.as_deref());
    found(is_root).or_else(|| found(!is_root))
}

/// The name in `mod name;`. An outline puts the inline modules around it before it.
pub(super) fn declared_name(import: &Import) -> &str {
    plain(import.path.rsplit("::").next().unwrap_or_default())
}

/// A name without the mark of a raw identifier.
pub(super) fn plain(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix("r#").unwrap_or(name)
}

/// The inline modules of a file, with their numbers among the definitions.
pub(super) struct Inline<'a>(Vec<(u32, &'a Definition)>);

impl<'a> Inline<'a> {
    /// Definitions of modules that are not `mod x;`.
    pub(super) fn new(outline: &'a Outline) -> Self {
        let modules = outline.imports.iter().filter(|import| import.kind == ImportKind::Module);
        let declared: HashSet<(&str, u32)> = modules.map(|import| (declared_name(import), import.line)).collect();
        let is_inline = |definition: &Definition| {
            let is_declared = || declared.contains(&(plain(&definition.name), definition.end_line));
            definition.kind == DefinitionKind::Module && !is_declared()
        };
        Self((0..).zip(&outline.definitions).filter(|(_, definition)| is_inline(definition)).collect())
    }

    /// The names of the inline modules around a line, from the outermost.
    pub(super) fn names_around(&self, line: u32) -> impl Iterator<Item = &'a str> + '_ {
        self.0.iter().filter(move |(_, module)| is_around(module, line)).map(|(_, module)| plain(&module.name))
    }
}

fn is_around(module: &Definition, line: u32) -> bool {
    module.start_line <= line && line <= module.end_line
}
