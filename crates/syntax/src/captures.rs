//! What the names of captures in `queries/*.scm` mean.
//!
//! | capture | on | meaning |
//! |---|---|---|
//! | `@def.<kind>` | the whole definition | with `@name` in the same pattern, and optional `@body`: the signature ends before it |
//! | `@owner` | the name of a type | in a pattern with `@def.method`: the type whose method it is, when it is not around it (Go, C++) |
//! | `@scope` | a block | with `@owner`: functions in it are methods of that type (`impl` in Rust, extensions elsewhere) |
//! | `@doc` | a comment | if it ends on the line above a definition, it is its doc |
//! | `@doc.inside` | a string or a comment | in the pattern of a definition: its doc (Python) |
//! | `@attribute` | an attribute or a decorator | may stand between a doc and its definition, and belongs to the definition |
//! | `@wrapper` | a node around a definition | with `@wrapped` on the definition: what is above the wrapper is above the definition (`export`, `template`) |
//! | `@ref.call`, `@ref.extends`, `@ref.implements` | the last part of a name | with optional `@qualifier` on what stands before it, or on the whole name |
//! | `@import`, `@import.<kind>` | the whole statement | with `@import.path`, `@import.name`, `@import.alias`, `@import.location`; matches of the same statement become one import |
//! | `@import.walk` | the whole statement | a function in `languages/` reads it |
//! | `@export.name`, `@export.default`, `@export.all` | a name; any node | an exported name; `default`; `*` |
//! | `@package` | a name | the declared package or namespace |
//!
//! `(#set! exported)` in a pattern exports the name of its definition. When two patterns name the same node, the first in the file wins.

use crate::{DefinitionKind, ImportKind, ReferenceKind};

/// The meaning of one capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Definition(DefinitionKind),
    Name,
    Body,
    Owner,
    Scope,
    Doc,
    DocInside,
    Attribute,
    Wrapper,
    Wrapped,
    Reference(ReferenceKind),
    Qualifier,
    Import(ImportKind),
    ImportPath,
    ImportName,
    ImportAlias,
    ImportLocation,
    ImportWalk,
    ExportName,
    ExportDefault,
    ExportAll,
    Package,
    /// A name that begins with `_` serves predicates of the query only.
    Private,
}

impl Role {
    /// The meaning of a capture's name, or `None` for a name that nobody gave a meaning.
    pub(crate) fn of(name: &str) -> Option<Self> {
        if let Some(kind) = name.strip_prefix("def.") {
            return definition(kind).map(Self::Definition);
        }
        Some(match name {
            "name" => Self::Name,
            "body" => Self::Body,
            "owner" => Self::Owner,
            "scope" => Self::Scope,
            "doc" => Self::Doc,
            "doc.inside" => Self::DocInside,
            "attribute" => Self::Attribute,
            "wrapper" => Self::Wrapper,
            "wrapped" => Self::Wrapped,
            "ref.call" => Self::Reference(ReferenceKind::Call),
            "ref.extends" => Self::Reference(ReferenceKind::Extends),
            "ref.implements" => Self::Reference(ReferenceKind::Implements),
            "qualifier" => Self::Qualifier,
            "import" => Self::Import(ImportKind::Plain),
            "import.wildcard" => Self::Import(ImportKind::Wildcard),
            "import.reexport" => Self::Import(ImportKind::ReExport),
            "import.type" => Self::Import(ImportKind::Type),
            "import.dynamic" => Self::Import(ImportKind::Dynamic),
            "import.module" => Self::Import(ImportKind::Module),
            "import.relative" => Self::Import(ImportKind::Relative),
            "import.system" => Self::Import(ImportKind::System),
            "import.path" => Self::ImportPath,
            "import.name" => Self::ImportName,
            "import.alias" => Self::ImportAlias,
            "import.location" => Self::ImportLocation,
            "import.walk" => Self::ImportWalk,
            "export.name" => Self::ExportName,
            "export.default" => Self::ExportDefault,
            "export.all" => Self::ExportAll,
            "package" => Self::Package,
            _ if name.starts_with('_') => Self::Private,
            _ => return None,
        })
    }
}

fn definition(kind: &str) -> Option<DefinitionKind> {
    Some(match kind {
        "function" => DefinitionKind::Function,
        "method" => DefinitionKind::Method,
        "class" => DefinitionKind::Class,
        "struct" => DefinitionKind::Struct,
        "enum" => DefinitionKind::Enum,
        "interface" => DefinitionKind::Interface,
        "trait" => DefinitionKind::Trait,
        "module" => DefinitionKind::Module,
        "type" => DefinitionKind::Type,
        "constant" => DefinitionKind::Constant,
        "variable" => DefinitionKind::Variable,
        "macro" => DefinitionKind::Macro,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_a_meaning_is_refused() {
        assert_eq!(Role::of("def.class"), Some(Role::Definition(DefinitionKind::Class)));
        assert_eq!(Role::of("_keyword"), Some(Role::Private));
        assert_eq!(Role::of("def.klass"), None);
        assert_eq!(Role::of("refs.call"), None);
    }
}
