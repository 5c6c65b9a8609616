//! Source text in, outline out. Tree-sitter parses the text, and our own queries (`queries/<language>.scm`) find what it defines, uses,
//! imports and exports. The same parse gives syntax errors and the chunks that search indexes.
//!
//! This crate is a pure function of a text: no files, no clock but the one that stops a parse, no other crate of ours. Everything it
//! returns is bounded, whatever the text: see [`Bounds`].

mod assemble;
mod captures;
mod chunk;
mod collect;
mod define;
mod docs;
mod errors;
mod exports;
mod grammar;
mod language;
mod languages;
mod nesting;
mod outline;
mod parse;
mod query;
mod text;

pub use chunk::{Chunk, chunks};
pub use errors::{SyntaxError, added_errors};
pub use language::Language;
pub use outline::{Bounds, Definition, DefinitionKind, Export, Import, ImportKind, Imported, Outline, Reference, ReferenceKind};
pub use parse::Unparsed;

/// What `text` defines, uses, imports and exports.
///
/// # Errors
///
/// If the text is too long, takes too long to parse, or this build has no grammar of the language.
pub fn outline(language: Language, text: &str, bounds: &Bounds) -> Result<Outline, Unparsed> {
    let query = query::of(language).ok_or(Unparsed::NoGrammar)?;
    let parsed = parse::parse(language, text, bounds)?;
    let found = collect::collect(language, query, &parsed, text, bounds)?;
    let errors = parse::error_count(language, &parsed.tree, text);
    Ok(assemble::assemble(language, found, text, bounds, errors))
}
