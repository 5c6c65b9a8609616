//! What a query cannot say: statements that a function has to read node by node. A function here never walks deeper than
//! [`DEPTH_MAX`].

use tree_sitter::Node;

use crate::collect::Found;
use crate::{Bounds, Language};

/// Deeper trees of one import statement are cut.
pub(crate) const DEPTH_MAX: usize = 64;

/// Reads a statement that a query captured as `@import.walk`.
pub(crate) fn walk(language: Language, node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let _ = (language, node, text, bounds, found);
}
