//! Java, Kotlin, Scala, C# and Swift: an import names a type or a package. A type leads to the file that defines it. A package leads
//! to the files of those of its types that the file visibly uses, and such an edge is a guess. So is a use of a type of the same
//! package, which needs no import.

use std::collections::HashSet;

use syntax::{Import, ImportKind, Language};

use super::edges::Edges;
use super::names::{Names, dotted, package_of, prefixes, used};
use super::path::folders;
use super::{ReferenceEdge, Resolution, Source};

/// The number of files that one import of a package leads to.
const PACKAGE_FILES_MAX: usize = 64;

/// The types of a tree. The languages of one virtual machine share theirs.
#[derive(Default)]
pub(super) struct Index {
    java: Names,
    sharp: Names,
    swift: Names,
}

impl Index {
    pub(super) fn add(&mut self, source: &Source<'_>) {
        match source.language {
            Some(Language::Java | Language::Kotlin | Language::Scala) => self.java.add(source, None),
            Some(Language::CSharp) => self.sharp.add(source, None),
            Some(Language::Swift) => self.swift.add(source, swift_module(source.path)),
            _ => {}
        }
    }

    fn names(&self, source: &Source<'_>) -> &Names {
        match source.language {
            Some(Language::CSharp) => &self.sharp,
            Some(Language::Swift) => &self.swift,
            _ => &self.java,
        }
    }

    pub(super) fn imports(&self, source: &Source<'_>, edges: &mut Edges<'_>) {
        let names = self.names(source);
        let used = used(source.outline);
        let package = package_of(source.outline);
        // Scala and C# also read a path from the packages around it.
        let is_relative = matches!(source.language, Some(Language::Scala | Language::CSharp));
        let whole = |path: String| {
            if !is_relative || names.has_package(&path) || !names.longest(&path).is_empty() {
                return path;
            }
            let inside = prefixes(&package).map(|package| format!("{package}.{path}"));
            inside.into_iter().find(|inside| names.has_package(inside) || !names.files(inside).is_empty()).unwrap_or(path)
        };
        for (number, import) in source.outline.imports.iter().enumerate() {
            let path = dotted(&import.path);
            if import.names.is_empty() {
                edges.at(number, None);
                import_one(names, import, &whole(path.clone()), &used, edges);
            }
            for (name, imported) in import.names.iter().enumerate() {
                edges.at(number, Some(name));
                let name = if imported.name == "*" { path.clone() } else { format!("{path}.{}", imported.name) };
                import_one(names, import, &whole(name), &used, edges);
            }
        }
    }

    /// The files of the same package, or of a package around it in C#, that references name.
    pub(super) fn references(&self, source: &Source<'_>) -> Vec<ReferenceEdge> {
        let names = self.names(source);
        let package = match source.language {
            Some(Language::Swift) => swift_module(source.path).unwrap_or_default().to_owned(),
            _ => package_of(source.outline),
        };
        let packages: Vec<&str> = match source.language {
            Some(Language::CSharp) => prefixes(&package).collect(),
            _ => vec![&package],
        };
        let imported: HashSet<&str> = source.outline.imports.iter().flat_map(local_names).collect();
        same_package(names, source, &packages, &imported)
    }
}

/// The files that define what references name, if that is in one of these packages. The first reference to a file counts.
pub(super) fn same_package(
    names: &Names,
    source: &Source<'_>,
    packages: &[&str],
    imported: &HashSet<&str>,
) -> Vec<ReferenceEdge> {
    let mut found: Vec<ReferenceEdge> = Vec::new();
    let (mut seen, mut targets) = (HashSet::new(), HashSet::new());
    for (number, reference) in (0..).zip(&source.outline.references) {
        let qualifier = reference.qualifier.as_deref().unwrap_or_default();
        let first = qualifier.split(['.', ':', '\\', '<', '(']).find(|part| !part.is_empty());
        // `a.b()` uses `a`. Only a type begins with a capital letter, so `this.b()` and `local.b()` drop out by themselves.
        let name = first.unwrap_or(&reference.name);
        if imported.contains(name) || !seen.insert(name) {
            continue;
        }
        let mut files = packages.iter().map(|package| match package.is_empty() {
            true => names.files(name),
            false => names.files(&format!("{package}.{name}")),
        });
        let Some(files) = files.find(|files| !files.is_empty()) else { continue };
        if files.contains(&source.path) || files.len() > super::edges::CANDIDATES_MAX {
            continue;
        }
        for file in files {
            if targets.insert(file) {
                found.push(ReferenceEdge { reference: number, target: file.into(), resolution: Resolution::Heuristic });
            }
        }
    }
    found
}

/// The names that an import brings into a file.
fn local_names(import: &Import) -> Vec<&str> {
    if import.names.is_empty() {
        return import.path.rsplit(['.', '\\']).next().into_iter().collect();
    }
    import.names.iter().map(|name| name.alias.as_deref().unwrap_or(&name.name)).collect()
}

fn import_one(names: &Names, import: &Import, path: &str, used: &HashSet<&str>, edges: &mut Edges<'_>) {
    let package = [".*", "._", ".given"].iter().find_map(|end| path.strip_suffix(end));
    let is_wildcard = import.kind == ImportKind::Wildcard || package.is_some();
    let path = package.unwrap_or(path);
    if names.has_package(path) {
        return import_package(names, path, used, edges);
    }
    // The members of a type: `import static a.B.*`.
    let files = if is_wildcard { names.files(path) } else { names.longest(path) };
    match files.is_empty() {
        false => edges.candidates(files, Resolution::Exact),
        true if names.is_ours(path) => edges.unresolved(),
        true => edges.external(outer_package(path)),
    }
}

/// An import of a whole package.
fn import_package(names: &Names, package: &str, used: &HashSet<&str>, edges: &mut Edges<'_>) {
    let mut found: Vec<&str> = used.iter().flat_map(|name| names.files(&format!("{package}.{name}"))).collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(PACKAGE_FILES_MAX);
    if found.is_empty() {
        return edges.unresolved();
    }
    for file in found {
        edges.heuristic(file);
    }
}

/// The package of a type of others: what is before the first part with a capital letter, unless it begins with one.
fn outer_package(path: &str) -> &str {
    let mut end = 0;
    for part in path.split('.') {
        let is_type = part.starts_with(|letter: char| letter.is_uppercase());
        if is_type && end > 0 {
            return path.get(..end - 1).unwrap_or(path);
        }
        if is_type {
            return path;
        }
        end += part.len() + 1;
    }
    path
}

/// The module of a Swift file: the folder below `Sources` or `Tests`.
fn swift_module(path: &str) -> Option<&str> {
    let is_home = |folder: &str| matches!(super::path::base(folder), "Sources" | "Source" | "Tests");
    let home = folders(path).filter(|folder| is_home(folder)).last()?;
    super::path::below(path, home)?.split_once('/').map(|(module, _)| module)
}
