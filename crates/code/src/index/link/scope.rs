//! The names that a file sees: its own and those that it imports.

use std::cell::OnceCell;
use std::collections::HashMap;

use syntax::{ImportKind, Language};

use super::super::file::IndexedFile;
use super::super::imports::{ImportTo, NO_PLACE, To, called_paths};
use super::super::names::{Known, NO_NAME, Name};
use super::super::table::FileNumber;
use super::is_exact;
use super::kinds::is_type;

/// What a name stands for because of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    /// The file, or nothing for something outside of the project.
    pub(super) file: Option<FileNumber>,
    /// The name in that file, or [`NO_NAME`] if the import takes the file as a whole.
    pub(super) item: Name,
    pub(super) is_exact: bool,
    /// Whether other files can take the name from here.
    pub(super) is_passed_on: bool,
}

/// The names that a file sees.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Where the file itself defines each name.
    pub(super) own: HashMap<Name, Vec<u32>>,
    pub(super) bound: HashMap<Name, Vec<Binding>>,
    /// Files whose names are all visible here.
    pub(super) wildcards: Vec<Binding>,
    /// Paths before called names, and the files that they lead to.
    pub(super) paths: HashMap<Name, Vec<Binding>>,
    /// The imported files, sorted.
    pub(super) reached: Vec<FileNumber>,
    /// Imported names and types of this file without the marks of their case, to find the type that a variable is named after.
    plain: OnceCell<HashMap<String, Name>>,
}

impl Scope {
    pub(super) fn new(file: &IndexedFile, imports: &[ImportTo], known: &Known) -> Self {
        let mut scope = Self::default();
        for (place, symbol) in (0..).zip(&file.lean.symbols) {
            scope.own.entry(symbol.name).or_default().push(place);
        }
        let called = called_paths(file, known);
        for import in imports {
            let target = match import.to {
                To::File(number) => Some(number),
                To::External(_) => None,
                To::Nowhere => continue,
            };
            let written = file.lean.imports.get(import.import as usize);
            let binding = Binding {
                file: target,
                item: NO_NAME,
                is_exact: is_exact(import.resolution),
                is_passed_on: written.is_some_and(|written| written.kind == ImportKind::ReExport),
            };
            scope.reached.extend(target);
            match written {
                Some(written) => scope.bind(file, import, (written.kind, written.path), binding, known),
                None => {
                    let place = (import.import as usize).checked_sub(file.lean.imports.len());
                    if let Some(path) = place.and_then(|place| called.get(place)) {
                        let is_word = !known.text(*path).contains("::");
                        if target.is_some() || !is_word {
                            // A variable may have the name of a module.
                            let binding = Binding { is_exact: binding.is_exact && !is_word, ..binding };
                            scope.paths.entry(*path).or_default().push(binding);
                        }
                    }
                }
            }
        }
        scope.reached.sort_unstable();
        scope.reached.dedup();
        scope
    }

    /// The type that a variable is probably named after.
    pub(super) fn named_after(&self, variable: &str, file: &IndexedFile, known: &Known) -> Option<Name> {
        let make = || {
            let types = file.lean.symbols.iter().filter(|symbol| is_type(symbol.kind)).map(|symbol| symbol.name);
            let mut all: Vec<Name> = self.bound.keys().copied().chain(types).collect();
            all.retain(|name| known.text(*name).starts_with(char::is_uppercase));
            // Of two names that differ in case only, the first one counts.
            all.sort_unstable_by(|one, other| known.text(*other).cmp(known.text(*one)));
            all.into_iter().map(|name| (plain(known.text(name)), name)).collect()
        };
        self.plain.get_or_init(make).get(variable).copied()
    }

    /// Adds the names of one resolved import.
    fn bind(&mut self, file: &IndexedFile, import: &ImportTo, (kind, path): (ImportKind, Name), binding: Binding, known: &Known) {
        let names = file.lean.names_of(import.import);
        let is_whole = matches!(kind, ImportKind::Wildcard | ImportKind::Relative | ImportKind::System);
        if is_whole && names.is_empty() {
            self.wildcards.push(binding);
            return;
        }
        let taken = match import.name {
            NO_PLACE => names,
            place => names.get(place as usize..=place as usize).unwrap_or_default(),
        };
        for (name, alias) in taken {
            let local = if *alias == NO_NAME { *name } else { *alias };
            match known.text(*name) {
                "*" if *alias == NO_NAME => self.wildcards.push(binding),
                // A namespace, or a module under another name.
                "*" | "" => self.add(local, binding),
                text if is_module(file.language, text, known.text(path)) => self.add(local, binding),
                _ => self.add(local, Binding { item: *name, ..binding }),
            }
        }
        if !taken.is_empty() {
            return;
        }
        if kind == ImportKind::ReExport && file.language.is_some_and(is_script) {
            self.wildcards.push(binding);
            return;
        }
        // The module itself: its full path in Python, its last part elsewhere. In Rust or Java the last part can be an item.
        let text = known.text(path);
        let last = last_part(text);
        if let Some(local) = known.get(last) {
            self.add(local, binding);
            self.add(local, Binding { item: local, ..binding });
        }
        if last != text {
            self.add(path, binding);
        }
    }

    fn add(&mut self, local: Name, binding: Binding) {
        let bound = self.bound.entry(local).or_default();
        if !bound.contains(&binding) {
            bound.push(binding);
        }
    }
}

fn is_script(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

/// Whether the imported name is the module's own: `import a.b as c`.
fn is_module(language: Option<Language>, name: &str, path: &str) -> bool {
    name == path && matches!(language, Some(Language::Python | Language::Go))
}

/// The last part of the path of an import: `c` in `a::b::c`, `a.b.c`, `a/b/c.rb`.
fn last_part(path: &str) -> &str {
    let last = path.rsplit(['/', '\\', ':']).next().unwrap_or(path);
    match path.contains('/') {
        // The file's ending is not part of its name.
        true => last.split_once('.').map_or(last, |(stem, _)| stem),
        false => last.rsplit('.').next().unwrap_or(last),
    }
}

/// A name without the marks of its case: `userService`, `user_service` and `UserService` are the same.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The parts of a path as it is written before a name.
pub(super) fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split(['.', ':', '\\', '>', '-', '?', '!', ' ', '&', '*']).filter(|part| !part.is_empty())
}
