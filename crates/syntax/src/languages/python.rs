//! Imports of Python: leading dots stay in the path, and names are listed.

use tree_sitter::Node;

use crate::collect::Found;
use crate::text::{Span, clip, line};
use crate::{Bounds, Import, ImportKind, Imported};

/// Reads `import …` and `from … import …`.
pub(crate) fn walk(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let mut cursor = node.walk();
    let start = Span::of(node).start;
    if node.kind() == "import_statement" {
        for child in node.children_by_field_name("name", &mut cursor) {
            let Imported { name: path, alias } = named(child, text, bounds);
            let names = alias.map(|alias| Imported { name: "*".to_owned(), alias: Some(alias) }).into_iter().collect();
            found.import(start, Import { kind: ImportKind::Plain, path, names, location: None, line: line(child) }, bounds);
        }
        return;
    }
    let path = match node.child_by_field_name("module_name") {
        Some(module) => dense(module, text, bounds),
        None => "__future__".to_owned(),
    };
    let names: Vec<Imported> =
        node.children_by_field_name("name", &mut cursor).take(bounds.items_max).map(|child| named(child, text, bounds)).collect();
    let is_wildcard = node.named_children(&mut cursor).any(|child| child.kind() == "wildcard_import");
    let kind = if is_wildcard { ImportKind::Wildcard } else { ImportKind::Plain };
    found.import(start, Import { kind, path, names, location: None, line: line(node) }, bounds);
}

/// `a.b` or `a.b as c`.
fn named(node: Node<'_>, text: &str, bounds: &Bounds) -> Imported {
    match (node.child_by_field_name("name"), node.child_by_field_name("alias")) {
        (Some(name), Some(alias)) => Imported { name: dense(name, text, bounds), alias: Some(dense(alias, text, bounds)) },
        _ => Imported { name: dense(node, text, bounds), alias: None },
    }
}

/// The text of a dotted name. White space is allowed around its dots.
fn dense(node: Node<'_>, text: &str, bounds: &Bounds) -> String {
    clip(Span::of(node).text(text), bounds.text_chars_max).chars().filter(|character| !character.is_whitespace()).collect()
}
