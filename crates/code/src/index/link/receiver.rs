//! Names with something before them: `self.f()`, `module.f()`, `Type::f()`, and receivers whose type the text does not say.

use syntax::{DefinitionKind, ReferenceKind};

use super::super::file::IndexedFile;
use super::super::lean::Use;
use super::super::names::Name;
use super::super::table::FileNumber;
use super::scope::{Binding, parts};
use super::{Found, Linker, SymbolPlace, kinds};

/// A method with more namesakes in the project is not guessed.
const NAMESAKES_MAX: usize = 3;

/// Methods that every container, string, file or promise has. A receiver that nothing is known about is probably one of these.
const ORDINARY: [&str; 76] = [
    "add", "all", "any", "append", "apply", "as_ref", "as_str", "bind", "call", "catch", "clear", "clone", "close", "collect",
    "concat", "contains", "copy", "count", "create", "decode", "delete", "emit", "encode", "end", "entries", "equals", "error",
    "exec", "execute", "exists", "extend", "filter", "find", "first", "flush", "forEach", "format", "from", "get", "has",
    "hashCode", "index", "info", "insert", "into", "is_empty", "items", "iter", "join", "keys", "last", "len", "length", "lock",
    "log", "map", "match", "next", "on", "open", "parse", "pop", "push", "put", "read", "remove", "replace", "run", "send",
    "set", "size", "sort", "split", "update", "values", "write",
];

impl Linker<'_> {
    /// What a name with something before it means.
    pub(super) fn qualified(&self, number: FileNumber, file: &IndexedFile, found: &Use) -> Option<Found> {
        let written = self.known.text(found.qualifier);
        let is_path = !written.contains(['(', '[', '{', '"', '\'', '`', '<', '+']);
        let all: Vec<&str> = parts(written).collect();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return None };
        if !is_path {
            return self.guessed(number, file, found, None);
        }
        match *first {
            "self" | "this" | "Self" | "cls" | "@" | "static" | "$this" if all.len() == 1 => {
                let owner = self.owner(file, found.from)?;
                return self.member((number, owner), found.name, true);
            }
            "super" | "parent" | "base" if all.len() == 1 && !written.contains("::") => {
                let owner = self.owner(file, found.from)?;
                return self.member((number, owner), found.name, false);
            }
            _ => {}
        }
        let scope = self.scope(number);
        if let Some(bound) = scope.paths.get(&found.qualifier).or_else(|| scope.bound.get(&found.qualifier)) {
            let meant = self.through(bound, last, found.name);
            if meant.is_some() || bound.iter().all(|binding| binding.file.is_none()) {
                return meant;
            }
        }
        if let Some(bound) = self.known.get(first).and_then(|first| scope.bound.get(&first)) {
            let meant = self.through(bound, last, found.name);
            if meant.is_some() || bound.iter().all(|binding| binding.file.is_none()) {
                return meant;
            }
        }
        if let Some(holder) = self.holder(number, file, found, &all) {
            return holder;
        }
        self.guessed(number, file, found, Some(last))
    }

    /// A name in an imported module, or a member of an imported type.
    fn through(&self, bound: &[Binding], last: &str, name: Name) -> Option<Found> {
        let mut places = Vec::new();
        let mut is_exact = true;
        let last = self.known.get(last);
        for binding in bound {
            let Some(file) = binding.file else { continue };
            is_exact &= binding.is_exact;
            if binding.item == super::NO_NAME {
                let offered = self.offered(file, name, 0);
                if !offered.is_empty() {
                    places.extend(offered);
                    continue;
                }
            }
            let item = if binding.item == super::NO_NAME { last } else { Some(binding.item) };
            for holder in item.map(|item| self.offered(file, item, 0)).unwrap_or_default() {
                if let Some(member) = self.member(holder, name, true) {
                    is_exact &= member.is_exact;
                    places.extend(member.places);
                }
            }
        }
        self.among(places, is_exact)
    }

    /// A member of a type or module that is named as such. The outer `None` means that nothing is named.
    fn holder(&self, number: FileNumber, file: &IndexedFile, found: &Use, all: &[&str]) -> Option<Option<Found>> {
        let last = self.known.get(all.last()?)?;
        let holds = |place: &SymbolPlace| {
            let kind = self.symbol(*place).map(|symbol| symbol.kind);
            kind.is_some_and(|kind| kinds::is_type(kind) || kind == DefinitionKind::Module)
        };
        let named = self.bare(number, file, last, found.from, ReferenceKind::Extends);
        let named = named.or_else(|| self.only_type(file, last)).filter(|named| named.places.iter().all(holds))?;
        let members: Vec<Found> = named.places.iter().filter_map(|place| self.member(*place, found.name, true)).collect();
        let is_exact = named.is_exact && members.iter().all(|member| member.is_exact);
        Some(self.among(members.into_iter().flat_map(|member| member.places).collect(), is_exact))
    }

    /// The only type of a name in the project, where the name is written like a type.
    fn only_type(&self, file: &IndexedFile, name: Name) -> Option<Found> {
        if !self.known.text(name).starts_with(char::is_uppercase) || !kinds::shares_names(file.language, ReferenceKind::Extends) {
            return None;
        }
        let is_type = |place: &&SymbolPlace| {
            let related = self.file(place.0).is_some_and(|other| kinds::are_related(file.language, other.language));
            related
                && self.symbol(**place).is_some_and(|symbol| kinds::is_type(symbol.kind) || symbol.kind == DefinitionKind::Module)
        };
        let mut types = self.definitions(name).iter().filter(is_type);
        let first = types.next()?;
        types.next().is_none().then(|| Found::guess(*first))
    }

    /// The method that a receiver of unknown type probably has: that of the type it is named after, or the only one in reach.
    fn guessed(&self, number: FileNumber, file: &IndexedFile, found: &Use, receiver: Option<&str>) -> Option<Found> {
        if found.kind != ReferenceKind::Call {
            return None;
        }
        let scope = self.scope(number);
        let text = |name| self.known.text(name).to_owned();
        let mut namesakes = Vec::new();
        for place in self.definitions(found.name) {
            let (Some(symbol), Some(other)) = (self.symbol(*place), self.file(place.0)) else { continue };
            if symbol.kind == DefinitionKind::Method && kinds::are_related(file.language, other.language) {
                let owner = other.lean.symbol(symbol.parent).map(|owner| self.known.text(owner.name));
                namesakes.push((*place, other, owner));
            }
        }
        if let Some(receiver) = receiver.map(plain).filter(|receiver| receiver.len() > 2) {
            let mut named = namesakes.iter().filter(|(_, _, owner)| owner.is_some_and(|owner| plain(owner) == receiver));
            if let (Some((place, ..)), None) = (named.next(), named.next()) {
                return Some(Found::guess(*place));
            }
        }
        if namesakes.len() > NAMESAKES_MAX || ORDINARY.contains(&self.known.text(found.name)) {
            return None;
        }
        let in_reach = |(place, other, _): &&(SymbolPlace, &IndexedFile, Option<&str>)| {
            place.0 == number || scope.reached.binary_search(&place.0).is_ok() || kinds::are_in_one_package(file, other, text)
        };
        let mut near = namesakes.iter().filter(in_reach);
        match (near.next(), near.next()) {
            (Some((place, ..)), None) => Some(Found::guess(*place)),
            _ => None,
        }
    }
}

/// A name without the marks of its case: `userService`, `user_service` and `UserService` are the same.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
