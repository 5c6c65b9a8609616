//! A write through this server: checked, recorded, indexed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::limits::{CODE_AFFECTED_MAX, CODE_FILE_BYTES_MAX};
use base::{Author, Error, Kind, Result};
use store::Change;
use syntax::{Language, Outline};

use super::Codebase;
use crate::files::Sha256;
use crate::history::{NewContent, Version};
use crate::index::{Algorithm, Analysis, FarFile};
use crate::path::CodePath;

/// Symbols in each list of an answer.
const SYMBOLS_MAX: usize = 200;
/// Syntax errors that a refused write lists.
const ERRORS_SHOWN_MAX: usize = 10;
/// How far an impact is followed.
const IMPACT_DEPTH: u32 = 5;

/// A write.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The file.
    pub path: CodePath,
    /// Its new text.
    pub content: String,
    /// Why.
    pub reason: String,
    /// How the caller calls itself.
    pub label: Option<String>,
    /// The content that the caller has seen.
    pub expected: Option<Sha256>,
    /// Whether the contents are kept in history.
    pub keeps_content: bool,
    /// Whether new syntax errors are refused.
    pub checks_syntax: bool,
    /// Whether the index is updated before the answer.
    pub updates_index: bool,
}

/// A write that is done.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The new version.
    pub version: Version,
    /// The definitions that it changed.
    pub symbols: ChangedSymbols,
    /// The files that depend on this one, nearest first.
    pub affected: Vec<FarFile>,
    /// Whether there are more.
    pub more_affected: bool,
}

/// Definitions that a write changed, by their names with those around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedSymbols {
    /// Those that are new.
    pub added: Vec<String>,
    /// Those that are gone.
    pub removed: Vec<String>,
    /// Those with another text.
    pub changed: Vec<String>,
}

impl Codebase<Change> {
    /// Looks at versions that a killed process left behind, once after the start.
    pub async fn settle(&self) -> Result<()> {
        if !self.place.is_settled.swap(true, Ordering::Relaxed) {
            self.history().settle().await?;
        }
        Ok(())
    }

    /// Writes a file.
    ///
    /// # Errors
    /// `syntax_error` with `line`, `column` and `errors` if the text adds syntax errors; `conflict` if the file changed since it was seen.
    pub async fn write(&self, author: &Author, edit: Edit) -> Result<Edited> {
        let Edit { path, content, reason, label, expected, keeps_content, checks_syntax, updates_index } = edit;
        if content.len() > CODE_FILE_BYTES_MAX {
            let words = format!("the text has {} bytes; the limit is {CODE_FILE_BYTES_MAX}; split the file", content.len());
            return Err(Error::new(Kind::TooLarge, words).with("bytes", content.len()).with("limit", CODE_FILE_BYTES_MAX));
        }
        let text: Arc<str> = content.into();
        let checked = (path.clone(), Arc::clone(&text));
        let check = move |before: Option<&[u8]>| match checks_syntax {
            true => check_syntax(&checked.0, before, &checked.1),
            false => Ok(()),
        };
        let content = text.as_bytes().to_vec();
        let new = NewContent { path, content, expected, keeps_content, label, reason: Some(reason) };
        let written = self.history().write(author, new, check).await?;
        let (index, path, before) = (Arc::clone(&self.index), written.version.path.clone(), written.before);
        let work = move || {
            if updates_index {
                index.refresh(path.as_str());
            } else {
                index.ask_to_look_at(path.as_str());
            }
            let before = before.and_then(|before| String::from_utf8(before).ok()).unwrap_or_default();
            let symbols = changed_symbols(path.as_str(), &before, &text);
            let impact = index.snapshot().analyze(path.as_str(), Analysis::Impact, IMPACT_DEPTH, false, Algorithm::Bfs);
            // The index does not have a file that is ignored, or that it did not reach yet.
            let affected = impact.map(|found| found.impact).unwrap_or_default();
            (symbols, affected)
        };
        let (symbols, mut affected) = store::compute(self.rows().org(), work).await?;
        let more_affected = affected.len() > CODE_AFFECTED_MAX;
        affected.truncate(CODE_AFFECTED_MAX);
        Ok(Edited { version: written.version, symbols, affected, more_affected })
    }
}

/// Refuses a text with syntax errors that the text before did not have.
fn check_syntax(path: &CodePath, before: Option<&[u8]>, after: &str) -> Result<()> {
    let Some(language) = Language::of(path.as_str(), after) else { return Ok(()) };
    let before = before.map(String::from_utf8_lossy);
    let added = syntax::added_errors(language, before.as_deref(), after, &crate::PARSE_BOUNDS);
    let Some(first) = added.first() else { return Ok(()) };
    let at = format!("line {}, column {}: {}", first.line, first.column, first.message);
    let words = format!("the write adds a syntax error at {at}; correct the text, or set `validate_syntax` to false");
    let listed = added.iter().take(ERRORS_SHOWN_MAX);
    let listed: Vec<_> =
        listed.map(|error| serde_json::json!({"line": error.line, "column": error.column, "message": error.message})).collect();
    Err(Error::new(Kind::SyntaxError, words).with("line", first.line).with("column", first.column).with("errors", listed))
}

/// The definitions that differ between two texts.
fn changed_symbols(path: &str, before: &str, after: &str) -> ChangedSymbols {
    let Some(language) = Language::of(path, after) else { return ChangedSymbols::default() };
    let outline = |text: &str| syntax::outline(language, text, &crate::PARSE_BOUNDS).unwrap_or_default();
    let (old_outline, new_outline) = (outline(before), outline(after));
    let (old, new) = (definitions(&old_outline, before), definitions(&new_outline, after));
    let missing_in = |one: &BTreeMap<String, &str>, other: &BTreeMap<String, &str>| -> Vec<String> {
        one.keys().filter(|name| !other.contains_key(*name)).take(SYMBOLS_MAX).cloned().collect()
    };
    let differs = |(name, text): (&String, &&str)| new.get(name).is_some_and(|new| new != text).then(|| name.clone());
    let changed = old.iter().filter_map(differs).take(SYMBOLS_MAX).collect();
    ChangedSymbols { added: missing_in(&new, &old), removed: missing_in(&old, &new), changed }
}

/// The texts of definitions by their full names. Of several with one name, the last counts.
pub(super) fn definitions<'t>(outline: &Outline, text: &'t str) -> BTreeMap<String, &'t str> {
    let mut names: Vec<String> = Vec::with_capacity(outline.definitions.len());
    let mut found = BTreeMap::new();
    for definition in &outline.definitions {
        let parent = definition.parent.and_then(|parent| names.get(parent as usize));
        let name = parent.map_or_else(|| definition.name.clone(), |parent| format!("{parent}.{}", definition.name));
        found.insert(name.clone(), text.get(definition.start as usize..definition.end as usize).unwrap_or_default());
        names.push(name);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_definitions_are_named() {
        let before =
            "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n\ndef gone():\n    pass\n";
        let after =
            "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 3\n\ndef new():\n    pass\n";
        let found = changed_symbols("a.py", before, after);
        assert_eq!((found.added, found.removed), (vec!["new".to_owned()], vec!["gone".to_owned()]));
        assert_eq!(found.changed, ["A", "A.two"]);
        assert_eq!(changed_symbols("a.txt", before, after), ChangedSymbols::default());
    }

    #[test]
    fn only_new_syntax_errors_are_refused() {
        let path = CodePath::parse("a.py").unwrap();
        let error = check_syntax(&path, None, "def f(:\n    pass\n").unwrap_err();
        assert_eq!((error.kind(), &error.data()["line"]), (Kind::SyntaxError, &serde_json::json!(1)));
        assert!(check_syntax(&path, Some(b"def f(:\n    pass\n"), "x = 1\n\ndef f(:\n    pass\n").is_ok());
        assert!(check_syntax(&CodePath::parse("a.unknown").unwrap(), None, "def f(:").is_ok());
    }
}
