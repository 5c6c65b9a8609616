//! What a query cannot say: statements that a function has to read node by node. A function here never goes deeper than [`DEPTH_MAX`].

mod bash;
mod ecmascript;
mod elixir;
mod kotlin;
mod php;
mod python;
mod ruby;
pub(crate) mod rust;
mod scala;

use tree_sitter::Node;

use crate::collect::Found;
use crate::{Bounds, Language};

/// Deeper trees of one statement are cut.
const DEPTH_MAX: usize = 64;

/// Reads a statement that a query captured as `@import.walk`.
pub(crate) fn walk(language: Language, node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    match language {
        Language::Rust => rust::walk(node, text, bounds, found),
        Language::Python => python::walk(node, text, bounds, found),
        Language::JavaScript | Language::TypeScript | Language::Tsx => ecmascript::walk(node, text, bounds, found),
        Language::Ruby => ruby::walk(node, text, bounds, found),
        Language::Php => php::walk(node, text, bounds, found),
        Language::Scala => scala::walk(node, text, bounds, found),
        Language::Bash => bash::walk(node, text, bounds, found),
        Language::Elixir => elixir::walk(node, text, bounds, found),
        // The queries of the others need no help.
        _ => {}
    }
}

/// A text of the same length that the grammar understands better, for a text that it took for broken.
pub(crate) fn repaired(language: Language, text: &str) -> Option<String> {
    if language == Language::Kotlin { kotlin::repaired(text) } else { None }
}

/// Whether an ERROR or MISSING node is a fault of the grammar and not of the text.
pub(crate) fn is_valid(language: Language, node: Node<'_>, text: &str) -> bool {
    language == Language::Kotlin && kotlin::is_valid(node, text)
}
