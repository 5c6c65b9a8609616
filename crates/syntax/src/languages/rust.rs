//! `use` trees of Rust: each leaf is one import with its whole path.

use tree_sitter::Node;

use super::DEPTH_MAX;
use crate::collect::Found;
use crate::text::{Span, clip, line};
use crate::{Bounds, Import, ImportKind, Imported};

/// Reads a `use` declaration.
pub(crate) fn walk(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let mut cursor = node.walk();
    let is_public = node.children(&mut cursor).any(|child| child.kind() == "visibility_modifier");
    let Some(argument) = node.child_by_field_name("argument") else { return };
    let mut reader = Reader { text, bounds, found, is_public, start: Span::of(node).start };
    reader.tree(argument, "", 0);
}

struct Reader<'a> {
    text: &'a str,
    bounds: &'a Bounds,
    found: &'a mut Found,
    is_public: bool,
    start: u32,
}

impl Reader<'_> {
    fn tree(&mut self, node: Node<'_>, prefix: &str, depth: usize) {
        if depth > DEPTH_MAX {
            self.found.is_cut = true;
            return;
        }
        let field = |name| node.child_by_field_name(name);
        match node.kind() {
            "scoped_use_list" => {
                let prefix = self.join(prefix, field("path"));
                if let Some(list) = field("list") {
                    self.tree(list, &prefix, depth + 1);
                }
            }
            "use_list" => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.tree(child, prefix, depth + 1);
                }
            }
            "use_as_clause" => {
                let alias = field("alias").map(|alias| Span::of(alias).text(self.text));
                let path = self.join(prefix, field("path"));
                self.leaf(node, path, alias, false);
            }
            "use_wildcard" => {
                let path = self.join(prefix, node.named_child(0));
                self.leaf(node, path, None, true);
            }
            // `a::{self}` is `a`.
            "self" if !prefix.is_empty() => self.leaf(node, prefix.to_owned(), None, false),
            "line_comment" | "block_comment" => {}
            _ => {
                let path = self.join(prefix, Some(node));
                self.leaf(node, path, None, false);
            }
        }
    }

    fn join(&self, prefix: &str, node: Option<Node<'_>>) -> String {
        let tail = node.map_or("", |node| clip(Span::of(node).text(self.text), self.bounds.text_chars_max));
        let glue = if prefix.is_empty() || tail.is_empty() { "" } else { "::" };
        let tail = if tail == "self" && !prefix.is_empty() { "" } else { tail };
        let joined = if tail.is_empty() { prefix.to_owned() } else { format!("{prefix}{glue}{tail}") };
        clip(&joined, self.bounds.text_chars_max).chars().filter(|character| !character.is_whitespace()).collect()
    }

    fn leaf(&mut self, node: Node<'_>, path: String, alias: Option<&str>, is_wildcard: bool) {
        let kind = match (self.is_public, is_wildcard) {
            (true, _) => ImportKind::ReExport,
            (false, true) => ImportKind::Wildcard,
            (false, false) => ImportKind::Plain,
        };
        if self.is_public {
            let last = path.rsplit("::").next().unwrap_or(&path);
            let name = if is_wildcard { "*" } else { alias.unwrap_or(last) };
            self.found.export(Span::of(node).start, name, line(node), self.bounds);
        }
        let mut names = Vec::new();
        if alias.is_some() || (self.is_public && is_wildcard) {
            names.push(Imported {
                name: "*".to_owned(),
                alias: alias.map(|alias| clip(alias, self.bounds.text_chars_max).to_owned()),
            });
        }
        self.found.import(self.start, Import { kind, path, names, location: None, line: line(node) }, self.bounds);
    }
}

/// The file in `#[path = "x.rs"]`.
pub(crate) fn path_attribute(attribute: &str) -> Option<&str> {
    let inner = attribute.trim().strip_prefix("#[")?.strip_suffix(']')?.trim();
    let value = inner.strip_prefix("path")?.trim_start().strip_prefix('=')?.trim();
    value.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_attribute_names_a_file() {
        assert_eq!(path_attribute("#[path = \"a/b.rs\"]"), Some("a/b.rs"));
        assert_eq!(path_attribute("#[pathological = \"a\"]"), None);
        assert_eq!(path_attribute("#[cfg(test)]"), None);
    }
}
