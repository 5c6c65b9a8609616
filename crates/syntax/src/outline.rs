//! What a file defines, uses, imports and exports. These types are stored in caches: a change of them needs a new cache version.

use serde::{Deserialize, Serialize};

/// Limits on the work and on the result for one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// A longer text is not parsed.
    pub bytes_max: usize,
    /// Parsing stops after this many milliseconds.
    pub parse_ms_max: u64,
    /// The number of definitions, and separately of references, imports and exports, that are kept.
    pub items_max: usize,
    /// The number of characters that are kept of a name, a path, a signature or a doc comment.
    pub text_chars_max: usize,
}

/// What a file defines, uses, imports and exports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Definitions in the order of the text. A parent comes before its members.
    pub definitions: Vec<Definition>,
    /// Calls and bases in the order of the text.
    pub references: Vec<Reference>,
    /// Imports in the order of the text.
    pub imports: Vec<Import>,
    /// Names that other files can import, in the order of the text.
    pub exports: Vec<Export>,
    /// The package or namespace that the file declares, as written.
    pub package: Option<String>,
    /// The number of syntax errors.
    pub errors: u32,
    /// Whether a limit cut the outline.
    pub is_cut: bool,
}

/// Something with a name: a function, a type, a constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// What it is.
    pub kind: DefinitionKind,
    /// Its own name, without its parents.
    pub name: String,
    /// The definition that contains it, as an index into [`Outline::definitions`].
    pub parent: Option<u32>,
    /// The first line, from 1. Its doc comment and attributes belong to it.
    pub start_line: u32,
    /// The last line, included.
    pub end_line: u32,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// Its head on one line, without the body.
    pub signature: String,
    /// Its doc comment without comment marks; empty if it has none.
    pub doc: String,
}

/// What a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DefinitionKind {
    /// A function outside a type.
    Function,
    /// A function of a type.
    Method,
    /// A class, a record or an object.
    Class,
    /// A struct or a union.
    Struct,
    /// An enum.
    Enum,
    /// An interface or a protocol.
    Interface,
    /// A trait or a mixin.
    Trait,
    /// A module or a namespace.
    Module,
    /// A type alias.
    Type,
    /// A constant or a static.
    Constant,
    /// A variable or a property at the top level of a file or a type.
    Variable,
    /// A macro.
    Macro,
}

/// A use of a name that is defined elsewhere, or earlier in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// How the name is used.
    pub kind: ReferenceKind,
    /// The last part of the name: `b` in `a.b()`.
    pub name: String,
    /// What stands before it, as written: `a` in `a.b()`, `crate::x` in `crate::x::f()`, `self` in `self.f()`.
    pub qualifier: Option<String>,
    /// The innermost definition around it, as an index into [`Outline::definitions`].
    pub from: Option<u32>,
    /// The line, from 1.
    pub line: u32,
}

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReferenceKind {
    /// It is called or constructed.
    Call,
    /// It is a base class, a supertype, a supertrait, an embedded type or an included mixin.
    Extends,
    /// It is an interface, trait or protocol that is implemented.
    Implements,
}

/// One import statement, or one leaf of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The form of the import.
    pub kind: ImportKind,
    /// What is imported, as written without quotes: `./a`, `..pkg.mod`, `crate::a::B`, `java.util.List`, `vector`.
    pub path: String,
    /// The names that are taken from it. Empty if the module itself is imported.
    /// A name `*` with an alias is the imported thing itself under another name: `import a as b`, `use a::B as C`.
    /// A name `*` without an alias in a re-export means all names: `export * from`, `pub use a::*`.
    pub names: Vec<Imported>,
    /// The file that the import names itself: `#[path = "x.rs"] mod y;`.
    pub location: Option<String>,
    /// The line, from 1.
    pub line: u32,
}

/// A name that is taken from a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Its name in the module.
    pub name: String,
    /// Its name in this file, if it differs.
    pub alias: Option<String>,
}

/// The form of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImportKind {
    /// A module or some of its names.
    Plain,
    /// Every name of a module: `from a import *`, `use a::*`, `import a.*`.
    Wildcard,
    /// A re-export: `export … from`, `pub use`.
    ReExport,
    /// Only types: `import type`.
    Type,
    /// A literal dynamic import or `require`.
    Dynamic,
    /// `mod x;` in Rust.
    Module,
    /// A file that is named relative to this one: `#include "x.h"`, `require_relative`, `source`, `/// <reference path>`.
    Relative,
    /// A file that is searched for in the system's folders: `#include <x.h>`.
    System,
}

/// A name that other files can import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// The name. `default` and `*` are names too.
    pub name: String,
    /// The line, from 1.
    pub line: u32,
}
