//! Source text in, outline out. Tree-sitter parses the text, and our own queries (`queries/<language>.scm`) find what it defines, uses,
//! imports and exports. The same parse gives syntax errors and the chunks that search indexes.
//!
//! This crate is a pure function of a text: no files, no clock, no other crate of ours. Everything it returns is bounded, whatever the
//! text: see [`Bounds`].

mod outline;

pub use outline::{Bounds, Definition, DefinitionKind, Export, Import, ImportKind, Imported, Outline, Reference, ReferenceKind};
