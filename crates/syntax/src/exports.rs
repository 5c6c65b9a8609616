//! Which definitions other files can use, where the language says it by a rule and not by a statement.

use crate::{DefinitionKind, Language};

/// What the rules look at.
pub(crate) struct Candidate<'a> {
    pub(crate) kind: DefinitionKind,
    pub(crate) name: &'a str,
    /// What stands before the name in the definition: `pub async fn`.
    pub(crate) head: &'a str,
}

/// Whether other files can use a definition at the top level of a file (or of exported modules of it).
pub(crate) fn is_exported(language: Language, candidate: &Candidate<'_>) -> bool {
    let says = |words: &[&str]| {
        candidate.head.split(|character: char| !character.is_alphanumeric() && character != '_').any(|word| words.contains(&word))
    };
    let is_function = matches!(candidate.kind, DefinitionKind::Method);
    match language {
        Language::Rust => says(&["pub"]),
        Language::Go => candidate.name.starts_with(char::is_uppercase) && !is_function,
        Language::Python => !candidate.name.starts_with('_'),
        // Statements say it: the queries capture them.
        Language::JavaScript | Language::TypeScript | Language::Tsx => false,
        Language::Java | Language::CSharp => says(&["public"]) || candidate.kind == DefinitionKind::Module,
        Language::C | Language::Cpp => !says(&["static"]) && !is_function,
        Language::Kotlin | Language::Swift | Language::Scala => !says(&["private", "fileprivate"]),
        Language::Zig => says(&["pub"]),
        Language::Lua => !says(&["local"]),
        Language::Elixir => candidate.kind == DefinitionKind::Module,
        Language::Php => !is_function,
        Language::Ruby | Language::Bash => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exported(language: Language, head: &str, name: &str) -> bool {
        is_exported(language, &Candidate { kind: DefinitionKind::Function, name, head })
    }

    #[test]
    fn each_language_has_its_rule() {
        assert!(exported(Language::Rust, "pub(crate) fn ", "a"));
        assert!(!exported(Language::Rust, "fn ", "public"));
        assert!(exported(Language::Go, "func ", "Ärger"));
        assert!(!exported(Language::Go, "func ", "a"));
        assert!(!exported(Language::Python, "def ", "_a"));
        assert!(!exported(Language::C, "static int ", "a"));
        assert!(exported(Language::C, "int ", "a"));
    }
}
