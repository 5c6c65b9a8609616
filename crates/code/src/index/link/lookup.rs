//! Lookups: a name in a file, in the scopes around a use, among the members of a type.

use std::collections::HashSet;

use syntax::{DefinitionKind, ReferenceKind};

use super::super::file::IndexedFile;
use super::super::lean::{NO_DEFINITION, Symbol, Use};
use super::super::names::{NO_NAME, Name};
use super::super::table::FileNumber;
use super::scope::{Binding, Scope};
use super::{Found, Linker, SymbolPlace, kinds};

/// How many files a name is followed through when each passes it on from the next.
const PASSED_ON_MAX: u32 = 8;
/// How many bases are looked through.
const BASES_MAX: usize = 16;

impl Linker<'_> {
    /// What a name without anything before it means.
    pub(super) fn bare(
        &self,
        number: FileNumber,
        file: &IndexedFile,
        name: Name,
        from: u32,
        used: ReferenceKind,
    ) -> Option<Found> {
        let scope = self.scope(number);
        let fits = |place: &SymbolPlace| self.symbol(*place).is_some_and(|symbol| kinds::fits(symbol.kind, used));
        let around = self.around(number, file, &scope, name, from);
        // A base is never the type itself.
        let around: Vec<u32> = around.into_iter().filter(|place| used == ReferenceKind::Call || *place != from).collect();
        if let Some(first) = around.iter().map(|place| (number, *place)).find(fits) {
            // Several symbols of one name in one scope are overloads, or one replaces the other.
            return Some(Found { places: vec![first], is_exact: around.len() == 1 });
        }
        if kinds::has_implicit_members(file.language)
            && used == ReferenceKind::Call
            && let Some(found) = self.owner(file, from).and_then(|owner| self.member((number, owner), name, true))
        {
            return Some(found);
        }
        if let Some(bound) = scope.bound.get(&name) {
            return self.bound(bound, name).filter(|found| found.places.iter().all(fits));
        }
        let offered = |binding: &Binding| binding.file.map(|file| self.offered(file, name, 0)).unwrap_or_default();
        let places: Vec<SymbolPlace> = scope.wildcards.iter().flat_map(offered).filter(fits).collect();
        if !places.is_empty() {
            return self.among(places, scope.wildcards.iter().all(|binding| binding.is_exact));
        }
        self.far(number, file, name, used)
    }

    /// What a name means that nothing in the file says: the same package, then the only such name in the project.
    pub(super) fn far(&self, number: FileNumber, file: &IndexedFile, name: Name, used: ReferenceKind) -> Option<Found> {
        let mut everywhere = Vec::new();
        for place in self.definitions(name) {
            let (Some(symbol), Some(other)) = (self.symbol(*place), self.file(place.0)) else { continue };
            let is_top = symbol.parent == NO_DEFINITION || self.is_in_module(other, symbol);
            let fits = kinds::fits_far(symbol.kind, used) && kinds::are_related(file.language, other.language);
            if place.0 != number && is_top && fits {
                everywhere.push((*place, other));
            }
        }
        let text = |name| self.known.text(name).to_owned();
        let near = everywhere.iter().filter(|(_, other)| kinds::are_in_one_package(file, other, text));
        let near: Vec<SymbolPlace> = near.map(|(place, _)| *place).collect();
        if !near.is_empty() {
            return self.among(near, true);
        }
        match everywhere.as_slice() {
            [(only, _)] if kinds::shares_names(file.language, used) => Some(Found::guess(*only)),
            _ => None,
        }
    }

    /// The symbols of a name in the innermost scope around a use that has one.
    fn around(&self, number: FileNumber, file: &IndexedFile, scope: &Scope, name: Name, from: u32) -> Vec<u32> {
        let Some(own) = scope.own.get(&name) else { return Vec::new() };
        let mut around = from;
        loop {
            let holder = file.lean.symbol(around);
            let is_visible = holder.is_none_or(|holder| {
                !kinds::is_type(holder.kind) || kinds::has_implicit_members(self.file(number).and_then(|file| file.language))
            });
            let is_here = |place: &&u32| {
                let symbol = file.lean.symbol(**place);
                symbol.is_some_and(|symbol| {
                    // A method whose type is in another file is no function of this one.
                    symbol.parent == around && (around != NO_DEFINITION || symbol.kind != DefinitionKind::Method)
                })
            };
            let here: Vec<u32> = own.iter().filter(is_here).copied().collect();
            if is_visible && !here.is_empty() {
                return here;
            }
            let Some(holder) = holder else { return Vec::new() };
            around = holder.parent;
        }
    }

    /// The symbols that imports bind to a name.
    pub(super) fn bound(&self, bound: &[Binding], name: Name) -> Option<Found> {
        let mut places = Vec::new();
        for binding in bound {
            let Some(file) = binding.file else { continue };
            let item = if binding.item == NO_NAME { name } else { binding.item };
            let offered = self.offered(file, item, 0);
            places.extend(if offered.is_empty() { self.static_member(file, item) } else { offered });
        }
        self.among(places, bound.iter().all(|binding| binding.is_exact))
    }

    /// A member of the only type of a file, which an import can name: `import static a.B.c`.
    fn static_member(&self, number: FileNumber, name: Name) -> Vec<SymbolPlace> {
        let Some(file) = self.file(number).filter(|file| kinds::imports_members(file.language)) else { return Vec::new() };
        let scope = self.scope(number);
        let own = scope.own.get(&name).map(Vec::as_slice).unwrap_or_default();
        let is_member = |place: &&u32| {
            let owner = file.lean.symbol(**place).and_then(|symbol| file.lean.symbol(symbol.parent));
            owner.is_some_and(|owner| kinds::is_type(owner.kind) && owner.parent == NO_DEFINITION)
        };
        own.iter().find(is_member).map(|place| (number, *place)).into_iter().collect()
    }

    /// The symbols that a file offers under a name, its own or passed on from other files.
    pub(super) fn offered(&self, number: FileNumber, name: Name, depth: u32) -> Vec<SymbolPlace> {
        let Some(file) = self.file(number).filter(|_| self.may_look()) else { return Vec::new() };
        let scope = self.scope(number);
        let own = scope.own.get(&name).map(Vec::as_slice).unwrap_or_default();
        let is_top = |symbol: &Symbol| symbol.parent == NO_DEFINITION || self.is_in_module(file, symbol);
        let is_function = |symbol: &Symbol| symbol.parent != NO_DEFINITION || symbol.kind != DefinitionKind::Method;
        let top =
            own.iter().filter(|place| file.lean.symbol(**place).is_some_and(|symbol| is_top(symbol) && is_function(symbol)));
        // Overloads, or one replaces the other.
        if let Some(first) = top.min() {
            return vec![(number, *first)];
        }
        if let Some(found) = self.exported_at(file, name) {
            return vec![(number, found)];
        }
        if depth >= PASSED_ON_MAX {
            return Vec::new();
        }
        let passes_all = kinds::passes_imports_on(file.language);
        let exports = file.lean.exports.iter().any(|(export, _)| *export == name);
        let follow = |binding: &Binding, item| binding.file.map(|next| self.offered(next, item, depth + 1)).unwrap_or_default();
        if let Some(bound) = scope.bound.get(&name) {
            let passed = bound.iter().filter(|binding| passes_all || exports || binding.is_passed_on);
            let found: Vec<_> = passed.filter(|binding| binding.item != NO_NAME).flat_map(|one| follow(one, one.item)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        let passed = scope.wildcards.iter().filter(|binding| passes_all || binding.is_passed_on);
        passed.filter(|binding| binding.file != Some(number)).flat_map(|binding| follow(binding, name)).collect()
    }

    /// The symbol that an export statement is part of: `export default function f`.
    fn exported_at(&self, file: &IndexedFile, name: Name) -> Option<u32> {
        if self.known.text(name) != "default" {
            return None;
        }
        let line = file.lean.exports.iter().find(|(export, _)| *export == name)?.1;
        let is_there = |symbol: &Symbol| symbol.parent == NO_DEFINITION && symbol.start_line <= line && line <= symbol.end_line;
        let found = file.lean.symbols.iter().position(is_there)?;
        u32::try_from(found).ok()
    }

    /// The member of a type, its own or that of a base.
    pub(super) fn member(&self, of: SymbolPlace, name: Name, own_too: bool) -> Option<Found> {
        let (mut waiting, mut seen) = (vec![of], HashSet::new());
        let mut is_exact = true;
        while let Some(next) = waiting.pop() {
            if seen.len() >= BASES_MAX || !seen.insert(next) || !self.may_look() {
                continue;
            }
            let Some(file) = self.file(next.0) else { continue };
            if own_too || next != of {
                let scope = self.scope(next.0);
                let own = scope.own.get(&name).map(Vec::as_slice).unwrap_or_default();
                let mut members = own.iter().filter(|place| file.lean.symbol(**place).is_some_and(|one| one.parent == next.1));
                if let Some(first) = members.next() {
                    return Some(Found { places: vec![(next.0, *first)], is_exact: is_exact && members.next().is_none() });
                }
            }
            let is_base = |found: &&Use| found.from == next.1 && found.kind != ReferenceKind::Call;
            for base in file.lean.uses.iter().filter(is_base) {
                if let Some(found) = self.meant(next.0, file, base) {
                    is_exact &= found.is_exact;
                    waiting.extend(found.places);
                }
            }
        }
        None
    }

    /// The type around a symbol.
    pub(super) fn owner(&self, file: &IndexedFile, from: u32) -> Option<u32> {
        let mut around = from;
        loop {
            let symbol = file.lean.symbol(around)?;
            if kinds::is_type(symbol.kind) {
                return Some(around);
            }
            around = symbol.parent;
        }
    }

    pub(super) fn symbol(&self, (number, place): SymbolPlace) -> Option<&Symbol> {
        self.file(number)?.lean.symbol(place)
    }

    /// Whether there is nothing but modules around a symbol.
    fn is_in_module(&self, file: &IndexedFile, symbol: &Symbol) -> bool {
        let mut around = symbol.parent;
        while let Some(holder) = file.lean.symbol(around) {
            if holder.kind != DefinitionKind::Module {
                return false;
            }
            around = holder.parent;
        }
        true
    }
}
