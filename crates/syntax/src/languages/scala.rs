//! Imports of Scala: one statement can name several paths, and each can end in selectors, renames or a wildcard. And package clauses,
//! which add up: `package a` and `package b` below it are `a.b`.

use tree_sitter::Node;

use crate::collect::Found;
use crate::text::{Span, clip, line};
use crate::{Bounds, Import, ImportKind, Imported};

/// Reads an import or a package clause.
pub(crate) fn walk(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    match node.kind() {
        "package_clause" => package(node, text, bounds, found),
        _ => import(node, text, bounds, found),
    }
}

fn package(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let Some(name) = node.child_by_field_name("name").map(|name| Span::of(name).text(text)) else { return };
    let has_body = node.child_by_field_name("body").is_some();
    found.package = match found.package.take() {
        Some(outer) if has_body => Some(outer),
        Some(outer) => Some(clip(&format!("{outer}.{name}"), bounds.text_chars_max).to_owned()),
        None => Some(clip(name, bounds.text_chars_max).to_owned()),
    };
}

/// Reads `import a.b.C`, `import a.{B, C => D}`, `import a.B as C`, `import a._`, `import a.*, b.given`.
fn import(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let start = Span::of(node).start;
    let mut part = Part::new(text, bounds);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "," => {
                part.finish(start, line(node), found);
                part = Part::new(text, bounds);
            }
            "identifier" | "operator_identifier" => part.path.push(Span::of(child).text(text)),
            "namespace_wildcard" => part.is_wildcard = true,
            "namespace_selectors" => part.selectors(child),
            "as_renamed_identifier" | "arrow_renamed_identifier" => part.renamed(child),
            _ => {}
        }
    }
    part.finish(start, line(node), found);
}

/// One path of a statement with what follows it.
struct Part<'a> {
    text: &'a str,
    bounds: &'a Bounds,
    path: Vec<&'a str>,
    names: Vec<Imported>,
    is_wildcard: bool,
}

impl<'a> Part<'a> {
    fn new(text: &'a str, bounds: &'a Bounds) -> Self {
        Self { text, bounds, path: Vec::new(), names: Vec::new(), is_wildcard: false }
    }

    fn cut(&self, node: Node<'_>) -> String {
        clip(Span::of(node).text(self.text), self.bounds.text_chars_max).to_owned()
    }

    fn selectors(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).take(self.bounds.items_max) {
            match child.kind() {
                "identifier" | "operator_identifier" => self.names.push(Imported { name: self.cut(child), alias: None }),
                "namespace_wildcard" => self.is_wildcard = true,
                "as_renamed_identifier" | "arrow_renamed_identifier" => self.renamed(child),
                // `given Ordering[Int]` names a type and not something that is imported under a name.
                _ => {}
            }
        }
    }

    /// `A => B` and `A as B`. `A => _` hides a name from the wildcard: nothing is imported.
    fn renamed(&mut self, node: Node<'_>) {
        let (Some(name), Some(alias)) = (node.child_by_field_name("name"), node.child_by_field_name("alias")) else { return };
        if alias.kind() != "wildcard" {
            self.names.push(Imported { name: self.cut(name), alias: Some(self.cut(alias)) });
        }
    }

    fn finish(self, start: u32, line: u32, found: &mut Found) {
        let path = clip(&self.path.join("."), self.bounds.text_chars_max).to_owned();
        let kind = if self.is_wildcard { ImportKind::Wildcard } else { ImportKind::Plain };
        found.import(start, Import { kind, path, names: self.names, location: None, line }, self.bounds);
    }
}
