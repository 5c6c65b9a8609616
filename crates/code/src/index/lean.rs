//! What the index keeps of an outline: names as numbers, kinds, lines and imports. Signatures and doc comments stay in the files.

use std::borrow::Cow;
use std::collections::HashSet;

use syntax::{Definition, DefinitionKind, Export, Import, ImportKind, Imported, Outline, Reference, ReferenceKind};

use super::names::{Known, NO_NAME, Name};

/// No definition.
pub(crate) const NO_DEFINITION: u32 = u32::MAX;

/// The outline of a file, reduced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lean {
    /// In the order of the text. A parent comes before its members.
    pub(crate) symbols: Box<[Symbol]>,
    /// Each use once, whatever the number of lines it is on.
    pub(crate) uses: Box<[Use]>,
    pub(crate) imports: Box<[LeanImport]>,
    /// The names of all imports, one import after the other: the name in the module, and the name here if it differs.
    pub(crate) imported: Box<[(Name, Name)]>,
    /// Each exported name with its line.
    pub(crate) exports: Box<[(Name, u32)]>,
    pub(crate) package: Option<Name>,
}

/// A definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) name: Name,
    /// The definition around it, or [`NO_DEFINITION`].
    pub(crate) parent: u32,
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    pub(crate) kind: DefinitionKind,
}

/// A call or a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Use {
    pub(crate) name: Name,
    /// What stands before it, or [`NO_NAME`].
    pub(crate) qualifier: Name,
    /// The definition around it, or [`NO_DEFINITION`].
    pub(crate) from: u32,
    pub(crate) kind: ReferenceKind,
}

/// An import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeanImport {
    pub(crate) path: Name,
    pub(crate) location: Name,
    /// The end of its names in [`Lean::imported`].
    pub(crate) names_end: u32,
    pub(crate) kind: ImportKind,
}

impl Lean {
    pub(crate) fn new(outline: &Outline, names: &mut Known) -> Self {
        let symbol = |definition: &Definition, names: &mut Known| Symbol {
            name: names.number(&definition.name),
            parent: definition.parent.unwrap_or(NO_DEFINITION),
            start_line: definition.start_line,
            end_line: definition.end_line,
            kind: definition.kind,
        };
        let symbols = outline.definitions.iter().map(|definition| symbol(definition, names)).collect();
        let (mut seen, mut uses) = (HashSet::new(), Vec::new());
        for reference in &outline.references {
            let found = Use {
                name: names.number(&reference.name),
                qualifier: names.optional(reference.qualifier.as_deref().map(short).as_deref()),
                from: reference.from.unwrap_or(NO_DEFINITION),
                kind: reference.kind,
            };
            if seen.insert(found) {
                uses.push(found);
            }
        }
        let (mut imports, mut imported) = (Vec::with_capacity(outline.imports.len()), Vec::new());
        for import in &outline.imports {
            let taken = import.names.iter().map(|name| (names.number(&name.name), names.optional(name.alias.as_deref())));
            imported.extend(taken.collect::<Vec<_>>());
            imports.push(LeanImport {
                path: names.number(&import.path),
                location: names.optional(import.location.as_deref()),
                names_end: u32::try_from(imported.len()).unwrap_or(u32::MAX),
                kind: import.kind,
            });
        }
        let exports = outline.exports.iter().map(|export| (names.number(&export.name), export.line)).collect();
        let package = outline.package.as_deref().map(|package| names.number(package));
        Self { symbols, uses: uses.into(), imports: imports.into(), imported: imported.into(), exports, package }
    }

    /// The outline that a resolver needs for the imports of this file.
    pub(crate) fn outline_with_uses(&self, names: &Known) -> Outline {
        let reference = |found: &Use| Reference {
            kind: found.kind,
            name: names.text(found.name).to_owned(),
            qualifier: names.text_of(found.qualifier).map(str::to_owned),
            from: (found.from != NO_DEFINITION).then_some(found.from),
            line: 1,
        };
        Outline { references: self.uses.iter().map(reference).collect(), ..self.outline(names) }
    }

    /// The outline that a resolver needs of every file: definitions, imports, exports and the package. Uses and texts are left out.
    pub(crate) fn outline(&self, names: &Known) -> Outline {
        let definition = |symbol: &Symbol| Definition {
            kind: symbol.kind,
            name: names.text(symbol.name).to_owned(),
            parent: (symbol.parent != NO_DEFINITION).then_some(symbol.parent),
            start_line: symbol.start_line,
            end_line: symbol.end_line,
            start: 0,
            end: 0,
            signature: String::new(),
            doc: String::new(),
        };
        let owned = |name: Name| names.text_of(name).map(str::to_owned);
        let imports = (0u32..).zip(&self.imports).map(|(place, import)| Import {
            kind: import.kind,
            path: names.text(import.path).to_owned(),
            names: (self.names_of(place).iter())
                .map(|(name, alias)| Imported { name: names.text(*name).to_owned(), alias: owned(*alias) })
                .collect(),
            location: owned(import.location),
            line: 1,
        });
        Outline {
            definitions: self.symbols.iter().map(definition).collect(),
            references: Vec::new(),
            imports: imports.collect(),
            exports: (self.exports.iter())
                .map(|(name, line)| Export { name: names.text(*name).to_owned(), line: *line })
                .collect(),
            package: self.package.and_then(owned),
            errors: 0,
            is_cut: false,
        }
    }

    /// The names that an import takes.
    pub(crate) fn names_of(&self, import: u32) -> &[(Name, Name)] {
        let end = |place: usize| self.imports.get(place).map_or(0, |import| import.names_end as usize);
        let place = import as usize;
        let start = place.checked_sub(1).map_or(0, end);
        self.imported.get(start..end(place)).unwrap_or_default()
    }

    pub(crate) fn symbol(&self, place: u32) -> Option<&Symbol> {
        self.symbols.get(place as usize)
    }

    /// The approximate memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let (symbols, uses) = (self.symbols.len() * size_of::<Symbol>(), self.uses.len() * size_of::<Use>());
        let imports = self.imports.len() * size_of::<LeanImport>() + self.imported.len() * size_of::<(Name, Name)>();
        size_of::<Self>() + symbols + uses + imports + self.exports.len() * size_of::<(Name, u32)>()
    }

    /// Whether a changed file can change the links of files that do not mention its names: through its bases, its package, or the
    /// modules that it passes on as a whole.
    pub(crate) fn differs_for_all(&self, other: &Self) -> bool {
        let bases = |lean: &Self| {
            let bases = lean.uses.iter().filter(|found| found.kind != ReferenceKind::Call);
            bases.map(|base| (base.name, base.qualifier, lean.symbol(base.from).map(|from| from.name))).collect::<Vec<_>>()
        };
        // An import of a whole module passes on any name. An import of names decides what a base is.
        let whole = |lean: &Self| {
            let all = (0u32..).zip(&lean.imports);
            all.filter(|(place, _)| lean.names_of(*place).is_empty()).map(|(_, import)| *import).collect::<Vec<_>>()
        };
        let (mine, others) = (bases(self), bases(other));
        let has_new_names = self.imported != other.imported || self.imports != other.imports;
        let plain = |import: LeanImport| LeanImport { names_end: 0, ..import };
        self.package != other.package
            || mine != others
            || (has_new_names && !mine.is_empty())
            || !whole(self).into_iter().map(plain).eq(whole(other).into_iter().map(plain))
    }

    /// The names that other files find elsewhere or not at all after a change.
    pub(crate) fn names_changed(&self, other: &Self) -> HashSet<Name> {
        let holders = |lean: &Self| -> Vec<(u32, Symbol)> {
            let all = (0..).zip(&lean.symbols).filter(|(_, symbol)| holds_others(symbol.kind));
            all.map(|(place, symbol)| (place, Symbol { start_line: 0, end_line: 0, ..*symbol })).collect()
        };
        let imports = |lean: &Self| (lean.imports.clone(), lean.imported.clone());
        if holders(self) != holders(other) || imports(self) != imports(other) {
            return self.offered().chain(other.offered()).collect();
        }
        let places = |lean: &Self| -> HashSet<(u32, Name, u32, DefinitionKind)> {
            (0..).zip(&lean.symbols).map(|(place, symbol)| (place, symbol.name, symbol.parent, symbol.kind)).collect()
        };
        let (mine, others) = (places(self), places(other));
        let moved = mine.symmetric_difference(&others).map(|(_, name, ..)| *name);
        // The line of an export says what it exports where it has a name of its own.
        let exports = |lean: &Self| -> HashSet<(Name, u32)> {
            let own: HashSet<Name> = lean.symbols.iter().map(|symbol| symbol.name).collect();
            lean.exports.iter().map(|(name, line)| (*name, if own.contains(name) { 0 } else { *line })).collect()
        };
        let (mine, others) = (exports(self), exports(other));
        let exported = mine.symmetric_difference(&others).map(|(name, _)| *name);
        moved.chain(exported).collect()
    }

    /// Every name that other files can find in this one.
    pub(crate) fn offered(&self) -> impl Iterator<Item = Name> + '_ {
        let own = self.symbols.iter().map(|symbol| symbol.name).chain(self.exports.iter().map(|export| export.0));
        own.chain(self.imported.iter().flat_map(|(name, alias)| [*name, *alias]).filter(|name| *name != NO_NAME))
    }
}

fn holds_others(kind: DefinitionKind) -> bool {
    use DefinitionKind::{Class, Enum, Interface, Module, Struct, Trait, Type};
    matches!(kind, Class | Enum | Interface | Module | Struct | Trait | Type)
}

/// What the index keeps of what stands before a name: a path as it is, a call of a short path without its arguments, and of everything
/// else how it begins.
fn short(text: &str) -> Cow<'_, str> {
    let Some(bracket) = text.find(['(', '[', '{']) else { return Cow::Borrowed(text) };
    let (head, rest) = text.split_at(bracket);
    let parts = head.split(['.', ':']).filter(|part| !part.is_empty()).count();
    let mut open = 0_u32;
    let closes_at = rest.char_indices().find_map(|(place, letter)| {
        match letter {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        (open == 0).then_some(place)
    });
    let is_one_call = rest.starts_with('(') && closes_at == Some(rest.len() - 1);
    if is_one_call && parts <= 2 {
        return Cow::Owned(format!("{head}()"));
    }
    let first = head.split(['.', ':']).next().unwrap_or_default();
    Cow::Owned(format!("{first}.()"))
}

#[cfg(test)]
mod tests {
    use super::super::names::Names;
    use super::*;

    #[test]
    fn arguments_are_left_out() {
        for (text, expected) in [
            ("a.b", "a.b"),
            ("super()", "super()"),
            ("new A({x: 1})", "new A()"),
            ("a.b(1, c(2))", "a.b()"),
            ("a(1).b(2)", "a.()"),
            ("a.b.c.d(1)", "a.()"),
            ("a[0]", "a.()"),
            ("f(", "f.()"),
            ("[1, 2]", ".()"),
            ("é(ü)", "é()"),
        ] {
            assert_eq!(short(text), expected);
        }
    }

    #[test]
    fn what_a_resolver_needs_comes_back() {
        let definition = |name: &str, parent| Definition {
            kind: DefinitionKind::Class,
            name: name.to_owned(),
            parent,
            start_line: 1,
            end_line: 2,
            start: 0,
            end: 0,
            signature: String::new(),
            doc: String::new(),
        };
        let import = |path: &str, names: &[(&str, Option<&str>)]| Import {
            kind: ImportKind::Plain,
            path: path.to_owned(),
            names: (names.iter())
                .map(|(name, alias)| Imported { name: (*name).to_owned(), alias: alias.map(str::to_owned) })
                .collect(),
            location: None,
            line: 1,
        };
        let outline = Outline {
            definitions: vec![definition("A", None), definition("b", Some(0))],
            imports: vec![import("x", &[("y", None), ("z", Some("w"))]), import("v", &[]), import("u", &[("t", None)])],
            exports: vec![Export { name: "A".to_owned(), line: 1 }],
            package: Some("p".to_owned()),
            ..Outline::default()
        };
        let call = Reference { kind: ReferenceKind::Call, name: "b".to_owned(), qualifier: None, from: Some(0), line: 1 };
        let with_calls = Outline { references: vec![call.clone(), Reference { line: 2, ..call }], ..outline.clone() };
        let names = Names::default();
        let lean = Lean::new(&with_calls, &mut names.write());
        assert_eq!(lean.outline(&names.read()), outline);
        assert_eq!(lean.uses.len(), 1, "a use is kept once");
        assert!(!lean.differs_for_all(&lean.clone()));
    }
}
