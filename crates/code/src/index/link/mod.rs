//! Which symbol a call or a base means.
//!
//! A name is looked for where the language would look: in the scopes around it, among the imports, in the same package. What is found
//! there is exact. Where the text alone cannot tell, a guess is made only if there is hardly another choice, and the link says so. A
//! name that nothing fits is no link.
//!
//! The links of a file depend on its own outline and imports, and on the files that offer a name which it mentions. Nothing here
//! depends on the order in which files were read.

mod kinds;
mod lookup;
mod receiver;
mod scope;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use syntax::ReferenceKind;

use super::file::IndexedFile;
use super::imports::Imports;
use super::lean::Use;
use super::names::{Known, NO_NAME, Name};
use super::table::{FileNumber, Table};
use crate::resolve::Resolution;
use scope::Scope;

/// More candidates than this are no candidates.
const CANDIDATES_MAX: usize = 5;
/// Scopes of files that a linker keeps.
const SCOPES_MAX: usize = 512;
/// Lookups for one use. Only a text that is made for it needs more.
const LOOKUPS_MAX: u32 = 2_000;
/// Lookups inside of each other for one use.
const NESTED_MAX: u32 = 24;
/// A name with more definitions in the project says nothing.
const DEFINITIONS_MAX: usize = 4_096;

/// A symbol: its file, and its place in the file's outline.
pub(crate) type SymbolPlace = (FileNumber, u32);

/// From a symbol of a file to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    /// The symbol, or `NO_DEFINITION` for code outside of symbols.
    pub(crate) from: u32,
    pub(crate) to: SymbolPlace,
    pub(crate) kind: LinkKind,
    pub(crate) is_exact: bool,
}

/// The relationship of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LinkKind {
    Calls,
    Extends,
    Implements,
}

impl From<ReferenceKind> for LinkKind {
    fn from(kind: ReferenceKind) -> Self {
        match kind {
            ReferenceKind::Call => Self::Calls,
            ReferenceKind::Extends => Self::Extends,
            ReferenceKind::Implements => Self::Implements,
        }
    }
}

/// The links of one file.
pub(crate) type Links = Arc<[Link]>;

/// The symbols that a name can mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    places: Vec<SymbolPlace>,
    is_exact: bool,
}

impl Found {
    fn guess(place: SymbolPlace) -> Self {
        Self { places: vec![place], is_exact: false }
    }
}

/// Finds the links of files. One thread uses it.
pub(crate) struct Linker<'a> {
    table: &'a Table,
    imports: &'a [Imports],
    known: &'a Known,
    scopes: RefCell<HashMap<FileNumber, Rc<Scope>>>,
    /// Lookups that are left for the current use.
    left: Cell<u32>,
    nested: Cell<u32>,
}

impl<'a> Linker<'a> {
    pub(crate) fn new(table: &'a Table, imports: &'a [Imports], known: &'a Known) -> Self {
        Self { table, imports, known, scopes: RefCell::default(), left: Cell::new(0), nested: Cell::new(0) }
    }

    /// The links of a file, sorted.
    pub(crate) fn links(&self, number: FileNumber) -> Links {
        let Some(file) = self.table.file(number) else { return Arc::default() };
        let mut links = Vec::new();
        for found in &file.lean.uses {
            self.left.set(LOOKUPS_MAX);
            let Some(meant) = self.meant(number, file, found) else { continue };
            let kind = LinkKind::from(found.kind);
            links.extend(meant.places.iter().map(|to| Link { from: found.from, to: *to, kind, is_exact: meant.is_exact }));
        }
        // Two uses can mean the same symbol. The better one stays.
        links.sort_unstable_by_key(|link| (link.from, link.to, link.kind, !link.is_exact));
        links.dedup_by_key(|link| (link.from, link.to, link.kind));
        links.into()
    }

    /// The symbols that a use means.
    fn meant(&self, number: FileNumber, file: &IndexedFile, found: &Use) -> Option<Found> {
        if self.nested.get() >= NESTED_MAX {
            return None;
        }
        self.nested.update(|nested| nested + 1);
        let meant = match found.qualifier {
            NO_NAME => self.bare(number, file, found.name, found.from, found.kind),
            _ => self.qualified(number, file, found),
        };
        self.nested.update(|nested| nested - 1);
        meant
    }

    /// Takes one lookup from those that are left. Bases and re-exports can lead around in circles.
    fn may_look(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// What was found where the language looks: one symbol is exact, several are guesses, many are nothing.
    fn among(&self, mut places: Vec<SymbolPlace>, is_exact: bool) -> Option<Found> {
        let path = |place: &SymbolPlace| self.file(place.0).map(|file| &file.path);
        places.sort_unstable_by(|one, other| path(one).cmp(&path(other)).then(one.1.cmp(&other.1)));
        places.dedup();
        let is_exact = is_exact && places.len() == 1;
        (!places.is_empty() && places.len() <= CANDIDATES_MAX).then_some(Found { places, is_exact })
    }

    /// Where a name is defined, unless it is defined everywhere.
    fn definitions(&self, name: Name) -> &'a [SymbolPlace] {
        let places = self.table.definitions(name);
        if places.len() > DEFINITIONS_MAX { &[] } else { places }
    }

    fn file(&self, number: FileNumber) -> Option<&'a IndexedFile> {
        self.table.file(number).map(AsRef::as_ref)
    }

    /// The scope of a file. It is made when it is first needed.
    fn scope(&self, number: FileNumber) -> Rc<Scope> {
        if let Some(known) = self.scopes.borrow().get(&number) {
            return Rc::clone(known);
        }
        let imports = self.imports.get(number as usize).map(AsRef::as_ref).unwrap_or_default();
        let scope = Rc::new(self.file(number).map(|file| Scope::new(file, imports, self.known)).unwrap_or_default());
        let mut scopes = self.scopes.borrow_mut();
        if scopes.len() >= SCOPES_MAX {
            scopes.clear();
        }
        scopes.insert(number, Rc::clone(&scope));
        scope
    }
}

/// Finds the files whose links depend on some names.
pub(crate) struct Mentions<'a> {
    known: &'a Known,
    /// What is known about each name, alone and as what stands before a name.
    names: Vec<Mention>,
}

#[derive(Clone, Copy, Default)]
struct Mention {
    is_wanted: bool,
    /// Whether a part of it is wanted, once somebody asked.
    has_wanted: Option<bool>,
}

impl<'a> Mentions<'a> {
    pub(crate) fn new(known: &'a Known, wanted: &HashSet<Name>) -> Self {
        let mut names = vec![Mention::default(); known.len()];
        for name in wanted {
            if let Some(mention) = names.get_mut(*name as usize) {
                mention.is_wanted = true;
            }
        }
        Self { known, names }
    }

    /// Whether the links of a file depend on one of the names.
    pub(crate) fn are_in(&mut self, file: &IndexedFile) -> bool {
        let lean = &file.lean;
        lean.imported.iter().any(|(name, alias)| self.is_wanted(*name) || self.is_wanted(*alias))
            || lean.uses.iter().any(|found| self.is_wanted(found.name) || self.has_wanted(found.qualifier))
            || lean.imports.iter().any(|import| self.has_wanted(import.path))
    }

    fn is_wanted(&self, name: Name) -> bool {
        self.names.get(name as usize).is_some_and(|mention| mention.is_wanted)
    }

    fn has_wanted(&mut self, qualifier: Name) -> bool {
        let Some(mention) = self.names.get(qualifier as usize) else { return false };
        if let Some(known) = mention.has_wanted {
            return known;
        }
        let mut parts = scope::parts(self.known.text(qualifier)).map(|part| part.trim_end_matches("()"));
        let found = parts.any(|part| self.known.get(part).is_some_and(|part| self.is_wanted(part)));
        if let Some(mention) = self.names.get_mut(qualifier as usize) {
            mention.has_wanted = Some(found);
        }
        found
    }
}

/// Whether an import is certain.
fn is_exact(resolution: Resolution) -> bool {
    matches!(resolution, Resolution::Exact)
}
