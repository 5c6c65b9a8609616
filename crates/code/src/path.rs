//! A checked path of a file in a project: relative to the root and separated by `/`.
//!
//! A [`CodePath`] never leads out of the root by its text alone, and never into git's folder or to Toolcrib's own temporary files.
//! What symbolic links make of it is the matter of [`Root`](crate::Root).
//!
//! The text is kept as given. Unicode is not normalised, because most file systems treat the two spellings of `é` as two names: a
//! path that differs from a file's name only in its normal form does not find that file.

use std::fmt;

use base::{Error, Result};

/// Bytes of a path.
const BYTES_MAX: usize = 1024;
/// Names in a path.
const NAMES_MAX: usize = 64;
/// Bytes of one name. Most file systems accept no more.
const NAME_BYTES_MAX: usize = 255;
/// How Toolcrib's temporary files start and end.
const TEMPORARY: (&str, &str) = (".toolcrib-", ".tmp");

/// The path of a file in a project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodePath(Box<str>);

impl CodePath {
    /// Checks a path.
    ///
    /// # Errors
    /// `invalid_params` for anything that is not the plain relative path of a file, with the reason.
    pub fn parse(text: &str) -> Result<Self> {
        match fault_of(text) {
            None => Ok(Self(text.into())),
            Some(fault) => Err(Error::invalid("path", format!("`{}` {fault}", shown(text)))),
        }
    }

    /// A path from the database. It was checked when it was stored.
    pub(crate) fn from_row(text: &str) -> Self {
        Self(text.into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names of the folders, and the name of the file.
    pub(crate) fn split(&self) -> (Option<&str>, &str) {
        self.0.rsplit_once('/').map_or((None, &*self.0), |(folder, name)| (Some(folder), name))
    }
}

impl fmt::Display for CodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl store::AsParam for CodePath {
    fn as_param(&self) -> store::Param<'_> {
        store::Param::Text(&self.0)
    }
}

/// The name of the temporary file of one write.
pub(crate) fn temporary_name(write: &base::FileVersionId) -> String {
    format!("{}{write}{}", TEMPORARY.0, TEMPORARY.1)
}

/// Whether a file of this name is a temporary file of Toolcrib, which nothing lists or indexes.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

/// Why `text` is not a path of a project's file.
fn fault_of(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("is empty; give a path relative to the project's root, such as `src/main.rs`");
    }
    if text.len() > BYTES_MAX {
        return Some("is longer than 1024 bytes; give a shorter path");
    }
    if text.starts_with('/') {
        return Some("is absolute; give it relative to the project's root");
    }
    if text.contains('\\') {
        return Some("contains a backslash; separate names with `/`");
    }
    if text.chars().any(char::is_control) {
        return Some("contains a control character; give a plain path");
    }
    let mut bytes = text.bytes();
    if bytes.next().is_some_and(|first| first.is_ascii_alphabetic()) && bytes.next() == Some(b':') {
        return Some("starts with a drive; give it relative to the project's root");
    }
    if text.split('/').count() > NAMES_MAX {
        return Some("has more than 64 names; give a shorter path");
    }
    text.split('/').find_map(fault_of_name)
}

fn fault_of_name(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("contains an empty name; separate names with a single `/`, without one at the end"),
        "." => Some("contains `.`; leave it out"),
        ".." => Some("contains `..`; a path cannot leave the project's root"),
        _ if name.len() > NAME_BYTES_MAX => Some("contains a name longer than 255 bytes; give a shorter name"),
        _ if is_of_git(name) => Some("is inside `.git`, which belongs to git; use git to change it"),
        _ if is_temporary(name) => Some("is a temporary file of the server; give another name"),
        _ => None,
    }
}

/// Whether some file system reads this name as `.git`: in another case, with trailing dots or spaces, as a stream, in its short
/// form, or with characters that are ignored.
fn is_of_git(name: &str) -> bool {
    let plain: String = name.chars().filter(|char| !is_ignored(*char)).flat_map(char::to_lowercase).collect();
    let plain = plain.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    plain == ".git"
        || plain.strip_prefix("git~").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Characters that HFS+ ignores when it compares names.
fn is_ignored(char: char) -> bool {
    matches!(char, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// The path for a message: bounded, and without characters that disturb a terminal.
pub(crate) fn shown(text: &str) -> String {
    const CHARS_MAX: usize = 200;
    let safe = |char: char| if char.is_control() || is_ignored(char) { '\u{fffd}' } else { char };
    let mut shown: String = text.chars().take(CHARS_MAX).map(safe).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use base::{FileVersionId, Kind, Timestamp};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_paths_are_accepted_as_given() {
        for text in [
            "a",
            "src/main.rs",
            ".gitignore",
            ".github/workflows/ci.yml",
            "a b/c'd\"e",
            "a..b",
            "...",
            "..a/b",
            "naïve/日本.py",
            "ab:c",
            "git/x",
            "git~/x",
            "gitx~1",
            ".gitx/y",
            "e\u{301}.txt",
            ".toolcrib.toml",
        ] {
            assert_eq!(CodePath::parse(text).map(|path| path.as_str().to_owned()).unwrap(), text);
        }
        let longest = format!("{}/{}", vec!["a"; 63].join("/"), "b");
        assert!(CodePath::parse(&longest).is_ok());
    }

    #[test]
    fn everything_else_is_refused_with_its_parameter() {
        let long = "a/".repeat(600) + "b";
        let deep = vec!["a"; 65].join("/");
        let name = "n".repeat(256);
        let temporary = temporary_name(&FileVersionId::new(Timestamp::from_ms(1)));
        for text in [
            "",
            "/",
            "/etc/passwd",
            "//a",
            "a//b",
            "a/",
            ".",
            "..",
            "./a",
            "a/./b",
            "a/../b",
            "../a",
            "a/..",
            "a\\b",
            "..\\a",
            "\\\\host\\a",
            "C:/a",
            "c:a",
            "z:",
            "a\0b",
            "a\nb",
            "\u{7f}",
            "\u{85}",
            ".git",
            ".git/config",
            "a/.git/hooks/x",
            ".GIT/config",
            ".Git /config",
            ".git./x",
            ".git . ./x",
            "git~1/config",
            "GIT~1",
            "a/git~2/b",
            ".git::$INDEX_ALLOCATION/x",
            ".g\u{200c}it/config",
            ".git\u{feff}/x",
            &long,
            &deep,
            &name,
            &temporary,
        ] {
            let error = CodePath::parse(text).map(drop).expect_err(text);
            assert_eq!(error.kind(), Kind::InvalidParams, "{text:?}");
            assert_eq!(error.data().get("parameter").and_then(|value| value.as_str()), Some("path"), "{text:?}");
            assert!(!error.message().chars().any(char::is_control) && error.message().len() < 1_200, "{text:?}");
        }
    }

    /// Paths made of the pieces that matter.
    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("..".to_owned()),
            Just(".".to_owned()),
            Just("/".to_owned()),
            Just("\\".to_owned()),
            Just(".git".to_owned()),
            Just("\0".to_owned()),
            Just("C:".to_owned()),
            Just(" ".to_owned()),
            Just("GIT~1".to_owned()),
            "[a-z.~: ]{1,3}",
            "\\PC{1,2}",
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn no_accepted_path_escapes(text in hostile()) {
            if let Ok(path) = CodePath::parse(&text) {
                prop_assert_eq!(path.as_str(), &text);
                let components: Vec<_> = Path::new(&text).components().collect();
                prop_assert!(components.iter().all(|part| matches!(part, Component::Normal(_))), "{:?}", components);
                prop_assert_eq!(components.len(), text.split('/').count());
                prop_assert!(!text.split('/').any(|name| name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git")));
                prop_assert!(!text.contains(['\0', '\\']));
            }
        }
    }
}
