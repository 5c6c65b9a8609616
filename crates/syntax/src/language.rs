//! The languages that can be parsed, and which of them a file is written in. A wrong guess only costs quality: the parse is bounded.

use serde::{Deserialize, Serialize};

/// A language with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Kotlin.
    Kotlin,
    /// Swift.
    Swift,
    /// Scala.
    Scala,
    /// Zig.
    Zig,
    /// Bash and other shells.
    Bash,
    /// Lua.
    Lua,
    /// Elixir.
    Elixir,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 19] = [
        Self::Rust,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Go,
        Self::Java,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Ruby,
        Self::Php,
        Self::Kotlin,
        Self::Swift,
        Self::Scala,
        Self::Zig,
        Self::Bash,
        Self::Lua,
        Self::Elixir,
    ];

    /// The language of a file: by the end of its name, then by its whole name, then by the `#!` line of its text.
    #[must_use]
    pub fn of(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        // A name that only begins with a dot (`.bashrc`) has no extension.
        let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
        match extension {
            Some("h" | "H") => Some(header(text)),
            Some(extension) => of_extension(extension).or_else(|| of_name(name)).or_else(|| of_shebang(text)),
            None => of_name(name).or_else(|| of_shebang(text)),
        }
    }

    /// Its name in lower case: `rust`, `cpp`, `csharp`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Tsx => "tsx",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::CSharp => "csharp",
            Self::Ruby => "ruby",
            Self::Php => "php",
            Self::Kotlin => "kotlin",
            Self::Swift => "swift",
            Self::Scala => "scala",
            Self::Zig => "zig",
            Self::Bash => "bash",
            Self::Lua => "lua",
            Self::Elixir => "elixir",
        }
    }
}

fn of_extension(extension: &str) -> Option<Language> {
    let lower = extension.to_ascii_lowercase();
    Some(match lower.as_str() {
        "rs" => Language::Rust,
        "py" | "pyi" | "pyw" => Language::Python,
        "js" | "jsx" | "mjs" | "cjs" => Language::JavaScript,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "go" => Language::Go,
        "java" => Language::Java,
        // `.C` is C++ by an old custom.
        "c" if extension == "C" => Language::Cpp,
        "c" => Language::C,
        "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "inl" | "tpp" => Language::Cpp,
        "cs" | "csx" => Language::CSharp,
        "rb" | "rake" | "gemspec" | "ru" => Language::Ruby,
        "php" | "phtml" => Language::Php,
        "kt" | "kts" => Language::Kotlin,
        "swift" => Language::Swift,
        "scala" | "sc" | "sbt" => Language::Scala,
        "zig" => Language::Zig,
        "sh" | "bash" | "ksh" | "zsh" | "bats" => Language::Bash,
        "lua" => Language::Lua,
        "ex" | "exs" => Language::Elixir,
        _ => return None,
    })
}

fn of_name(name: &str) -> Option<Language> {
    Some(match name {
        "Rakefile" | "Gemfile" | "Podfile" | "Vagrantfile" | "Fastfile" | "Brewfile" => Language::Ruby,
        "SConstruct" | "SConscript" | "wscript" => Language::Python,
        ".bashrc" | ".bash_profile" | ".bash_aliases" | ".profile" | ".zshrc" | ".zprofile" | "PKGBUILD" => Language::Bash,
        _ => return None,
    })
}

/// The program of `#!/usr/bin/python3` or of `#!/usr/bin/env -S node --flag`.
fn of_shebang(text: &str) -> Option<Language> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let line = line.get(..line.floor_char_boundary(200))?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut program = words.next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    Some(match program.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.') {
        "sh" | "bash" | "dash" | "ksh" | "zsh" | "ash" | "bats" => Language::Bash,
        "python" | "pypy" => Language::Python,
        "node" | "nodejs" => Language::JavaScript,
        "deno" | "bun" | "ts-node" | "tsx" => Language::TypeScript,
        "ruby" => Language::Ruby,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        "elixir" => Language::Elixir,
        "kotlin" => Language::Kotlin,
        "scala" => Language::Scala,
        "swift" => Language::Swift,
        _ => return None,
    })
}

/// `.h` is C, unless a line near the top begins with what only C++ has.
fn header(text: &str) -> Language {
    const CPP: [&str; 9] =
        ["class ", "namespace ", "template", "public:", "private:", "protected:", "using ", "constexpr ", "extern \"C++\""];
    let is_cpp = text.lines().take(2_000).any(|line| CPP.iter().any(|start| line.trim_start().starts_with(start)));
    if is_cpp { Language::Cpp } else { Language::C }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_own_name_and_place() {
        for (place, language) in Language::ALL.iter().enumerate() {
            assert_eq!(*language as usize, place);
            assert_eq!(Language::ALL.iter().filter(|other| other.name() == language.name()).count(), 1);
        }
    }

    #[test]
    fn the_end_of_a_name_decides_first() {
        assert_eq!(Language::of("src/a.rs", "#!/bin/sh"), Some(Language::Rust));
        assert_eq!(Language::of("a.PY", ""), Some(Language::Python));
        assert_eq!(Language::of("a.d.ts", ""), Some(Language::TypeScript));
        assert_eq!(Language::of("a.C", ""), Some(Language::Cpp));
        assert_eq!(Language::of("notes.txt", "hello"), None);
        assert_eq!(Language::of("", ""), None);
    }

    #[test]
    fn a_file_without_an_extension_is_known_by_its_name_or_its_first_line() {
        assert_eq!(Language::of("deploy/Rakefile", ""), Some(Language::Ruby));
        assert_eq!(Language::of("home/.bashrc", ""), Some(Language::Bash));
        assert_eq!(Language::of("bin/run", "#!/usr/bin/env python3.12\n"), Some(Language::Python));
        assert_eq!(Language::of("bin/run", "#!/usr/bin/env -S NODE_ENV=x node --flag\n"), Some(Language::JavaScript));
        assert_eq!(Language::of("bin/run", "#! /bin/sh -e\n"), Some(Language::Bash));
        assert_eq!(Language::of("bin/run", "#!"), None);
        assert_eq!(Language::of(".py", ""), None);
    }

    #[test]
    fn a_header_is_cpp_only_if_it_looks_so() {
        assert_eq!(Language::of("a.h", "struct point { int x; };\n"), Language::C.into());
        assert_eq!(Language::of("a.h", "namespace a {\nclass B;\n}\n"), Language::Cpp.into());
    }
}
