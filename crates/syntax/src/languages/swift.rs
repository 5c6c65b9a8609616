//! Valid Swift that the grammar takes for broken: a write must not be refused for it.

use tree_sitter::Node;

/// Whether an ERROR or MISSING node stands for valid code.
pub(crate) fn is_valid(node: Node<'_>, text: &str) -> bool {
    if node.is_missing() {
        // `()` is the empty tuple.
        let (before, behind) = text.split_at_checked(node.start_byte()).unwrap_or_default();
        return before.trim_end().ends_with('(') && behind.trim_start().starts_with(')');
    }
    // A parameter can have several attributes.
    node.child_count() == 1 && node.child(0).is_some_and(|only| only.kind() == "attribute" && !only.has_error())
}

#[cfg(test)]
mod tests {
    use crate::{Bounds, Language, added_errors};

    fn is_refused(text: &str) -> bool {
        let bounds = Bounds { bytes_max: 1 << 16, parse_ms_max: 60_000, items_max: 100, text_chars_max: 100 };
        !added_errors(Language::Swift, None, text, &bounds).is_empty()
    }

    #[test]
    fn only_broken_code_is_refused() {
        for text in ["func f() {\n    return ()\n}\n", "func f(@A @B _ body: () -> Void) {}\n", "struct A { let x: Int }\n"] {
            assert!(!is_refused(text), "{text}");
        }
        for text in ["func f( {}\n", "let x = (1\n", "func f() { return ( }\n", "class {}\n"] {
            assert!(is_refused(text), "{text}");
        }
    }
}
