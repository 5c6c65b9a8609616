//! Which grammar and which query text belong to a language. A grammar can be left out of a build: see the features in `Cargo.toml`.

use crate::Language;

/// The grammars of this build.
const GRAMMARS: &[(Language, fn() -> tree_sitter::Language)] = &[
    #[cfg(feature = "rust")]
    (Language::Rust, || tree_sitter_rust::LANGUAGE.into()),
    #[cfg(feature = "python")]
    (Language::Python, || tree_sitter_python::LANGUAGE.into()),
    #[cfg(feature = "javascript")]
    (Language::JavaScript, || tree_sitter_javascript::LANGUAGE.into()),
    #[cfg(feature = "typescript")]
    (Language::TypeScript, || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
    #[cfg(feature = "typescript")]
    (Language::Tsx, || tree_sitter_typescript::LANGUAGE_TSX.into()),
    #[cfg(feature = "go")]
    (Language::Go, || tree_sitter_go::LANGUAGE.into()),
    #[cfg(feature = "java")]
    (Language::Java, || tree_sitter_java::LANGUAGE.into()),
    #[cfg(feature = "c")]
    (Language::C, || tree_sitter_c::LANGUAGE.into()),
    #[cfg(feature = "cpp")]
    (Language::Cpp, || tree_sitter_cpp::LANGUAGE.into()),
    #[cfg(feature = "csharp")]
    (Language::CSharp, || tree_sitter_c_sharp::LANGUAGE.into()),
    #[cfg(feature = "ruby")]
    (Language::Ruby, || tree_sitter_ruby::LANGUAGE.into()),
    #[cfg(feature = "php")]
    (Language::Php, || tree_sitter_php::LANGUAGE_PHP.into()),
    #[cfg(feature = "kotlin")]
    (Language::Kotlin, || tree_sitter_kotlin_ng::LANGUAGE.into()),
    #[cfg(feature = "swift")]
    (Language::Swift, || tree_sitter_swift::LANGUAGE.into()),
    #[cfg(feature = "scala")]
    (Language::Scala, || tree_sitter_scala::LANGUAGE.into()),
    #[cfg(feature = "zig")]
    (Language::Zig, || tree_sitter_zig::LANGUAGE.into()),
    #[cfg(feature = "bash")]
    (Language::Bash, || tree_sitter_bash::LANGUAGE.into()),
    #[cfg(feature = "lua")]
    (Language::Lua, || tree_sitter_lua::LANGUAGE.into()),
    #[cfg(feature = "elixir")]
    (Language::Elixir, || tree_sitter_elixir::LANGUAGE.into()),
];

/// The grammar, if this build has it.
pub(crate) fn of(language: Language) -> Option<tree_sitter::Language> {
    GRAMMARS.iter().find(|(has, _)| *has == language).map(|(_, load)| load())
}

/// The query of a language. Languages that grew out of another begin with its query.
pub(crate) fn query_text(language: Language) -> &'static str {
    match language {
        Language::Rust => include_str!("../queries/rust.scm"),
        Language::Python => include_str!("../queries/python.scm"),
        Language::JavaScript => {
            concat!(
                include_str!("../queries/javascript.scm"),
                include_str!("../queries/jsx.scm"),
                include_str!("../queries/ecmascript.scm")
            )
        }
        Language::TypeScript => concat!(include_str!("../queries/typescript.scm"), include_str!("../queries/ecmascript.scm")),
        Language::Tsx => {
            concat!(
                include_str!("../queries/typescript.scm"),
                include_str!("../queries/jsx.scm"),
                include_str!("../queries/ecmascript.scm")
            )
        }
        Language::Go => include_str!("../queries/go.scm"),
        Language::Java => include_str!("../queries/java.scm"),
        Language::C => include_str!("../queries/c.scm"),
        Language::Cpp => concat!(include_str!("../queries/cpp.scm"), include_str!("../queries/c.scm")),
        Language::CSharp => include_str!("../queries/csharp.scm"),
        Language::Ruby => include_str!("../queries/ruby.scm"),
        Language::Php => include_str!("../queries/php.scm"),
        Language::Kotlin => include_str!("../queries/kotlin.scm"),
        Language::Swift => include_str!("../queries/swift.scm"),
        Language::Scala => include_str!("../queries/scala.scm"),
        Language::Zig => include_str!("../queries/zig.scm"),
        Language::Bash => include_str!("../queries/bash.scm"),
        Language::Lua => include_str!("../queries/lua.scm"),
        Language::Elixir => include_str!("../queries/elixir.scm"),
    }
}
