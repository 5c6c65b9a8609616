//! An index of qualified names, for languages whose imports name a type and not a file. Parts of a name are separated by dots, also
//! where the language writes them differently.

use std::collections::{HashMap, HashSet};

use syntax::{Definition, DefinitionKind, Language, Outline};

use super::Source;
use super::edges::CANDIDATES_MAX;

/// A name that more files define is common, and its other files are forgotten.
const FILES_MAX: usize = CANDIDATES_MAX + 1;
/// The number of parts from which on a shared prefix shows that a name is ours: `com.example.app`.
const OWN_PARTS: usize = 3;
/// The number of parts of a package that are kept.
const PARTS_MAX: usize = 64;

/// Qualified names and the files that define them.
#[derive(Default)]
pub(super) struct Names {
    paths: Vec<Box<str>>,
    files: HashMap<Box<str>, Vec<u32>>,
    packages: HashSet<Box<str>>,
    /// Prefixes of packages that are long enough to be ours alone.
    prefixes: HashSet<Box<str>>,
}

impl Names {
    /// Adds the names of a file. `package` is its package if the place of the file says it, and not its text.
    pub(super) fn add(&mut self, source: &Source<'_>, package: Option<&str>) {
        let package = package.map_or_else(|| package_of(source.outline), str::to_owned);
        let number = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.paths.push(source.path.into());
        self.add_package(&package);
        let mut name = String::new();
        for definition in source.outline.definitions.iter().filter(|definition| definition.kind != DefinitionKind::Method) {
            let Some(around) = modules_around(source.outline, definition) else { continue };
            name.clear();
            // Namespaces with a body are definitions, and say the whole name.
            let is_whole = matches!(source.language, Some(Language::CSharp | Language::Php | Language::Elixir));
            let starts = around.first().is_some_and(|first| dotted(first) == package);
            if !(package.is_empty() || !around.is_empty() && (is_whole || starts)) {
                name.push_str(&package);
            }
            for part in around.iter().copied().chain([definition.name.as_str()]) {
                if !name.is_empty() {
                    name.push('.');
                }
                name.push_str(&dotted(part));
            }
            if definition.kind == DefinitionKind::Module {
                self.add_package(&name);
                if source.language != Some(Language::Elixir) {
                    continue;
                }
            }
            self.add_name(&name, number);
        }
    }

    fn add_name(&mut self, name: &str, file: u32) {
        let files = match self.files.get_mut(name) {
            Some(files) => files,
            None => self.files.entry(name.into()).or_default(),
        };
        if files.len() < FILES_MAX && files.last() != Some(&file) {
            files.push(file);
        }
    }

    fn add_package(&mut self, package: &str) {
        if package.is_empty() || self.packages.contains(package) {
            return;
        }
        self.packages.insert(package.into());
        for prefix in prefixes(package).take(PARTS_MAX).filter(|prefix| prefix.matches('.').count() + 1 >= OWN_PARTS) {
            self.prefixes.insert(prefix.into());
        }
    }

    /// The files that define a name.
    pub(super) fn files(&self, name: &str) -> Vec<&str> {
        let numbers = self.files.get(name).into_iter().flatten();
        numbers.filter_map(|number| self.paths.get(*number as usize)).map(|path| &**path).collect()
    }

    /// The files of a name, or of the longest part of it that is defined: a member is in the file of its type.
    pub(super) fn longest(&self, name: &str) -> Vec<&str> {
        prefixes(name).map(|prefix| self.files(prefix)).find(|files| !files.is_empty()).unwrap_or_default()
    }

    pub(super) fn has_package(&self, package: &str) -> bool {
        self.packages.contains(package)
    }

    /// Whether a name that nobody defines would be one of ours.
    pub(super) fn is_ours(&self, name: &str) -> bool {
        prefixes(name).any(|prefix| self.packages.contains(prefix) || self.prefixes.contains(prefix))
    }
}

/// A name, and what is before each of its dots, longest first.
pub(super) fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| name.rsplit_once('.').map(|(before, _)| before))
}

/// The package that a file declares.
pub(super) fn package_of(outline: &Outline) -> String {
    outline.package.as_deref().map(dotted).unwrap_or_default()
}

/// A name with dots between its parts.
pub(super) fn dotted(name: &str) -> String {
    let plain = name.trim().trim_start_matches(['\\', '.']).trim_start_matches("global::");
    let plain: String = plain.chars().filter(|letter| !letter.is_whitespace() && *letter != '`').collect();
    if plain.contains(['\\', ':']) { plain.replace("::", ".").replace('\\', ".") } else { plain }
}

/// The modules around a definition, from the outermost. Nothing if it is inside something else.
fn modules_around<'a>(outline: &'a Outline, definition: &Definition) -> Option<Vec<&'a str>> {
    let mut around = Vec::new();
    let mut next = definition.parent;
    while let Some(number) = next {
        let parent = outline.definitions.get(number as usize)?;
        if parent.kind != DefinitionKind::Module || around.len() >= PARTS_MAX {
            return None;
        }
        around.push(parent.name.as_str());
        next = parent.parent;
    }
    around.reverse();
    Some(around)
}

/// The names that a file uses: those of references, and what their qualifiers begin with.
pub(super) fn used(outline: &Outline) -> HashSet<&str> {
    let mut used = HashSet::new();
    for reference in &outline.references {
        used.insert(reference.name.as_str());
        let qualifier = reference.qualifier.as_deref().unwrap_or_default();
        let first = qualifier.split(['.', ':', '\\', '<', '(']).find(|part| !part.is_empty());
        used.extend(first);
    }
    used
}
