//! Compiled queries: made once in a process and shared by all threads. Compiling takes milliseconds, running takes microseconds.

use std::sync::OnceLock;

use crate::Language;
use crate::captures::Role;
use crate::grammar;

/// A query with the meaning of its captures.
pub(crate) struct Compiled {
    pub(crate) query: tree_sitter::Query,
    /// The meaning of each capture, by its index.
    roles: Vec<Role>,
    /// Whether a pattern says `(#set! exported)`, by its index.
    exported: Vec<bool>,
}

impl Compiled {
    pub(crate) fn role(&self, capture: u32) -> Role {
        self.roles.get(capture as usize).copied().unwrap_or(Role::Private)
    }

    pub(crate) fn is_exported(&self, pattern: usize) -> bool {
        self.exported.get(pattern).copied().unwrap_or(false)
    }
}

/// The query of a language, or `None` if this build has no grammar of it.
pub(crate) fn of(language: Language) -> Option<&'static Compiled> {
    static COMPILED: [OnceLock<Option<Compiled>>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];
    COMPILED.get(language as usize)?.get_or_init(|| compile(language).ok()).as_ref()
}

/// Compiles a query. The error is for the person who writes queries.
fn compile(language: Language) -> Result<Compiled, String> {
    let grammar = grammar::of(language).ok_or("this build has no grammar")?;
    let query = tree_sitter::Query::new(&grammar, grammar::query_text(language)).map_err(|error| error.to_string())?;
    let roles = query
        .capture_names()
        .iter()
        .map(|name| Role::of(name).ok_or_else(|| format!("`@{name}` has no meaning, use a capture of captures.rs")))
        .collect::<Result<Vec<_>, String>>()?;
    let exported = (0..query.pattern_count())
        .map(|pattern| query.property_settings(pattern).iter().any(|property| &*property.key == "exported"))
        .collect();
    Ok(Compiled { query, roles, exported })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_compiles() {
        let broken: Vec<String> = Language::ALL
            .iter()
            .filter(|language| grammar::of(**language).is_some())
            .filter_map(|language| compile(*language).err().map(|why| format!("{}: {why}", language.name())))
            .collect();
        assert_eq!(broken, Vec::<String>::new());
    }
}
