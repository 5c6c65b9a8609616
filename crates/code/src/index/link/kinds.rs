//! What differs between kinds of symbols and between languages.

use syntax::{DefinitionKind, Language, ReferenceKind};

use super::super::file::IndexedFile;

/// Whether a symbol has members.
pub(super) fn is_type(kind: DefinitionKind) -> bool {
    use DefinitionKind::{Class, Enum, Interface, Struct, Trait, Type};
    matches!(kind, Class | Struct | Enum | Interface | Trait | Type)
}

/// Whether a symbol can be used in this way.
pub(super) fn fits(kind: DefinitionKind, used: ReferenceKind) -> bool {
    match used {
        ReferenceKind::Call => kind != DefinitionKind::Module && kind != DefinitionKind::Trait,
        ReferenceKind::Extends | ReferenceKind::Implements => is_type(kind) || kind == DefinitionKind::Module,
    }
}

/// Whether a symbol far away can be used in this way. A call of a variable elsewhere is too unlikely.
pub(super) fn fits_far(kind: DefinitionKind, used: ReferenceKind) -> bool {
    fits(kind, used) && !matches!(kind, DefinitionKind::Variable | DefinitionKind::Constant | DefinitionKind::Method)
}

/// Whether a file of one language can use symbols of a file of another.
pub(super) fn are_related(one: Option<Language>, other: Option<Language>) -> bool {
    let family = |language: Language| match language {
        Language::TypeScript | Language::Tsx => Language::JavaScript,
        Language::Cpp => Language::C,
        Language::Kotlin | Language::Scala => Language::Java,
        other => other,
    };
    matches!((one, other), (Some(one), Some(other)) if family(one) == family(other))
}

/// Whether methods of a class call each other by their names alone.
pub(super) fn has_implicit_members(language: Option<Language>) -> bool {
    use Language::{CSharp, Cpp, Java, Kotlin, Ruby, Scala, Swift};
    matches!(language, Some(CSharp | Cpp | Java | Kotlin | Ruby | Scala | Swift))
}

/// Whether a name can be used without an import, wherever in the project it is defined.
pub(super) fn shares_names(language: Option<Language>, used: ReferenceKind) -> bool {
    use Language::{Bash, C, CSharp, Cpp, Elixir, Java, Kotlin, Lua, Php, Ruby, Scala, Swift};
    match language {
        Some(Bash | C | Cpp | Elixir | Lua | Php | Ruby | Swift) => true,
        Some(CSharp | Java | Kotlin | Scala) => used != ReferenceKind::Call,
        _ => false,
    }
}

/// Whether a file can name a module's members through anything that the module imports.
pub(super) fn passes_imports_on(language: Option<Language>) -> bool {
    use Language::{C, Cpp, Python};
    matches!(language, Some(Python | C | Cpp))
}

/// Whether an import can name a member of a type.
pub(super) fn imports_members(language: Option<Language>) -> bool {
    use Language::{CSharp, Java, Kotlin, Scala};
    matches!(language, Some(CSharp | Java | Kotlin | Scala))
}

/// Whether two files see each other's names without an import.
pub(super) fn are_in_one_package(one: &IndexedFile, other: &IndexedFile, text: impl Fn(u32) -> String) -> bool {
    let (inner, outer) = (one.lean.package, other.lean.package);
    match (one.language, other.language) {
        (Some(Language::Go), Some(Language::Go)) => folder(&one.path) == folder(&other.path) && inner == outer,
        (
            Some(Language::Java | Language::Kotlin | Language::Scala),
            Some(Language::Java | Language::Kotlin | Language::Scala),
        ) => inner == outer && (inner.is_some() || folder(&one.path) == folder(&other.path)),
        (Some(Language::Php), Some(Language::Php)) => inner == outer,
        (Some(Language::Swift), Some(Language::Swift)) => true,
        (Some(Language::CSharp), Some(Language::CSharp)) => match (inner, outer) {
            (Some(inner), Some(outer)) => {
                inner == outer || text(inner).strip_prefix(&text(outer)).is_some_and(|rest| rest.starts_with('.'))
            }
            // Names outside of a namespace are visible everywhere.
            (_, None) => true,
            (None, Some(_)) => false,
        },
        _ => false,
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
