//! Names with something before them: `self.f()`, `module.f()`, `Type::f()`, and receivers whose type the text does not say.

use syntax::{DefinitionKind, Language, ReferenceKind};

use super::super::file::IndexedFile;
use super::super::lean::Use;
use super::super::names::Name;
use super::super::table::FileNumber;
use super::scope::{Binding, parts, plain};
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
        let made = called(written);
        let path = made.unwrap_or(written);
        let is_path = !path.contains(['(', '[', '{', '"', '\'', '`', '<', '+']);
        let all: Vec<&str> = parts(path).collect();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return None };
        if !is_path {
            return self.guessed(number, file, found, None);
        }
        if made.is_some() {
            return self.of_made(number, file, found, &all);
        }
        match *first {
            "self" | "this" | "Self" | "cls" | "@" | "static" | "$this" if all.len() == 1 => {
                let member = self.owner(file, found.from).and_then(|owner| self.member((number, owner), found.name, true));
                // In Rust, `self` is also the module.
                let is_module = *first == "self" && file.language == Some(Language::Rust);
                return member.or_else(|| is_module.then(|| self.top(number, found.name)).flatten());
            }
            "super" | "parent" | "base" if all.len() == 1 && self.owner(file, found.from).is_some() => {
                return self.inherited(number, file, found);
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
        // A full path to the file that it is in.
        if file.language == Some(Language::Rust) && (written == "crate" || (all.len() > 1 && is_named(&file.path, last))) {
            return self.top(number, found.name);
        }
        self.guessed(number, file, found, Some(last))
    }

    /// A method of what a call returns: `Type().f()`, `new Type().f()`, `super().f()`.
    fn of_made(&self, number: FileNumber, file: &IndexedFile, found: &Use, all: &[&str]) -> Option<Found> {
        match all {
            ["super"] => self.inherited(number, file, found),
            ["new", inner @ ..] | inner => {
                let last = inner.last().and_then(|last| self.known.get(last))?;
                let scope = self.scope(number);
                let first = inner.first().and_then(|first| self.known.get(first));
                let is_type = |meant: &Found| {
                    meant.places.iter().all(|place| self.symbol(*place).is_some_and(|symbol| kinds::is_type(symbol.kind)))
                };
                let meant = match inner.len() {
                    1 => self.bare(number, file, last, found.from, ReferenceKind::Call),
                    _ => first.and_then(|first| scope.bound.get(&first)).and_then(|bound| self.bound(bound, last)),
                };
                match meant.filter(is_type).as_ref().map(|meant| (meant.places.as_slice(), meant.is_exact)) {
                    Some(([place], is_exact)) => {
                        let member = self.member(*place, found.name, true)?;
                        Some(Found { is_exact: is_exact && member.is_exact, ..member })
                    }
                    _ => self.guessed(number, file, found, None),
                }
            }
        }
    }

    /// A method of a base of the type around.
    fn inherited(&self, number: FileNumber, file: &IndexedFile, found: &Use) -> Option<Found> {
        let owner = self.owner(file, found.from)?;
        self.member((number, owner), found.name, false)
    }

    /// A symbol at the top of a file.
    fn top(&self, number: FileNumber, name: Name) -> Option<Found> {
        self.among(self.offered(number, name, 0), true)
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
            let holders = item.map(|item| self.offered(file, item, 0)).unwrap_or_default();
            // `from package import module`.
            let is_module =
                item.is_some_and(|item| self.file(file).is_some_and(|file| is_named(&file.path, self.known.text(item))));
            if holders.is_empty() && is_module {
                places.extend(self.offered(file, name, 0));
            }
            for holder in holders {
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
            // A method rarely calls itself through something unknown.
            let is_itself = *place == (number, found.from);
            if !is_itself && symbol.kind == DefinitionKind::Method && kinds::are_related(file.language, other.language) {
                let owner = other.lean.symbol(symbol.parent).map(|owner| self.known.text(owner.name));
                namesakes.push((*place, other, owner));
            }
        }
        if let Some(receiver) = receiver.map(plain).filter(|receiver| receiver.len() > 2) {
            // The type that it is named after may inherit the method.
            let named = scope
                .named_after(&receiver, file, self.known)
                .and_then(|name| self.bare(number, file, name, found.from, ReferenceKind::Extends));
            let member = named.and_then(|named| self.member(*named.places.first()?, found.name, true));
            if let Some(member) = member.filter(|member| member.places.len() == 1) {
                return Some(Found { is_exact: false, ..member });
            }
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

/// What is called, if the text is one call: `a.B` in `a.B(c, d())`.
fn called(text: &str) -> Option<&str> {
    let inner = text.strip_suffix(')')?;
    let (head, _) = inner.split_once('(')?;
    let mut open = 1_i32;
    for letter in inner.get(head.len() + 1..)?.chars() {
        match letter {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return None;
        }
    }
    Some(head)
}

/// Whether a file is the module of a name: `a/name.py`, `a/name/__init__.py`, `a/name/mod.rs`.
fn is_named(path: &str, name: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').next().unwrap_or(file);
    match stem {
        "__init__" | "mod" | "index" | "lib" => folder.rsplit('/').next() == Some(name),
        stem => stem == name,
    }
}
