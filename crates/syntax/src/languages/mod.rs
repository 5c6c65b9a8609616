//! What a query cannot say: statements that a function has to read node by node. A function here never goes deeper than [`DEPTH_MAX`].

mod bash;
mod c;
mod ecmascript;
mod elixir;
mod kotlin;
mod php;
mod python;
mod ruby;
pub(crate) mod rust;
mod scala;
mod swift;

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
    match language {
        Language::Kotlin => kotlin::is_valid(node, text),
        Language::Swift => swift::is_valid(node, text),
        Language::Bash => bash::is_valid(node, text),
        _ => false,
    }
}

/// Drops errors that cannot be believed, because the grammar does not know all of the language.
pub(crate) fn retain_sure<T>(language: Language, text: &str, errors: &mut Vec<T>, parts: impl Fn(&T) -> (usize, &str)) {
    match language {
        Language::C | Language::Cpp if !errors.is_empty() => {
            let is_balanced = c::is_balanced(text);
            errors.retain(|error| {
                let (at, message) = parts(error);
                c::is_sure(text, at, message, is_balanced)
            });
        }
        // Flow adds types to JavaScript, which its grammar does not know.
        Language::JavaScript if ecmascript::is_flow(text) => errors.clear(),
        _ => {}
    }
}
