//! `require` and `include` of PHP. Only a literal name can be followed; `__DIR__ . '/a.php'` is a literal next to this file.

use tree_sitter::Node;

use crate::collect::Found;
use crate::text::{Span, clip, line, unquote};
use crate::{Bounds, Import, ImportKind};

/// Parentheses around a name that are looked through.
const PARENTHESES_MAX: usize = 4;

/// Reads `require 'a.php'`, `require('a.php')`, `require __DIR__ . '/a.php'` and `require dirname(__FILE__) . '/a.php'`.
pub(crate) fn walk(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let mut argument = node.named_child(0);
    for _ in 0..PARENTHESES_MAX {
        argument = argument
            .and_then(|inner| if inner.kind() == "parenthesized_expression" { inner.named_child(0) } else { Some(inner) });
    }
    let Some(path) = argument.and_then(|argument| literal(argument, text).or_else(|| beside(argument, text))) else { return };
    let path = clip(&path, bounds.text_chars_max).to_owned();
    let import = Import { kind: ImportKind::Relative, path, names: Vec::new(), location: None, line: line(node) };
    found.import(Span::of(node).start, import, bounds);
}

/// A string without variables in it.
fn literal(node: Node<'_>, text: &str) -> Option<String> {
    let has_variables =
        || node.named_child_count() > 1 || node.named_child(0).is_some_and(|inner| inner.kind() != "string_content");
    match node.kind() {
        "string" => Some(unquote(Span::of(node).text(text)).to_owned()),
        "encapsed_string" if !has_variables() => Some(unquote(Span::of(node).text(text)).to_owned()),
        _ => None,
    }
}

/// A literal after the folder of this file.
fn beside(node: Node<'_>, text: &str) -> Option<String> {
    if node.kind() != "binary_expression" {
        return None;
    }
    let folder = Span::of(node.child_by_field_name("left")?).text(text);
    let name = literal(node.child_by_field_name("right")?, text)?;
    let is_own_folder = folder == "__DIR__" || folder == "dirname(__FILE__)";
    (is_own_folder && name.starts_with('/')).then(|| format!(".{name}"))
}
