//! Import and export statements of JavaScript and TypeScript, and the `/// <reference path>` comment.

use tree_sitter::Node;

use super::DEPTH_MAX;
use crate::collect::Found;
use crate::text::{Span, clip, line, unquote};
use crate::{Bounds, Import, ImportKind, Imported};

/// Reads one statement.
pub(crate) fn walk(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let reader = Reader { text, bounds };
    match node.kind() {
        "import_statement" => reader.import(node, found),
        "export_statement" => reader.export(node, found),
        "comment" => reader.reference(node, found),
        _ => {}
    }
}

struct Reader<'a> {
    text: &'a str,
    bounds: &'a Bounds,
}

impl Reader<'_> {
    fn cut(&self, node: Node<'_>) -> String {
        clip(unquote(Span::of(node).text(self.text)), self.bounds.text_chars_max).to_owned()
    }

    fn imported(&self, name: Node<'_>, alias: Option<Node<'_>>) -> Imported {
        Imported { name: self.cut(name), alias: alias.map(|alias| self.cut(alias)) }
    }

    /// `import a, {b as c} from "x"`, `import * as d from "x"`, `import "x"`, `import a = require("x")`.
    fn import(&self, node: Node<'_>, found: &mut Found) {
        let mut cursor = node.walk();
        let mut source = node.child_by_field_name("source");
        let mut kind = ImportKind::Plain;
        let mut names = Vec::new();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "type" | "typeof" => kind = ImportKind::Type,
                "import_clause" => self.clause(child, &mut names),
                "import_require_clause" => {
                    source = child.child_by_field_name("source");
                    let alias = child.named_child(0).map(|alias| self.cut(alias));
                    names.push(Imported { name: "*".to_owned(), alias });
                }
                _ => {}
            }
        }
        let Some(source) = source else { return };
        let import = Import { kind, path: self.cut(source), names, location: None, line: line(node) };
        found.import(Span::of(node).start, import, self.bounds);
    }

    fn clause(&self, node: Node<'_>, names: &mut Vec<Imported>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "identifier" => names.push(Imported { name: "default".to_owned(), alias: Some(self.cut(child)) }),
                "namespace_import" => {
                    let alias = child.named_child(0).map(|alias| self.cut(alias));
                    names.push(Imported { name: "*".to_owned(), alias });
                }
                "named_imports" => self.specifiers(child, names),
                _ => {}
            }
        }
    }

    /// `{a, b as c}` of an import or an export.
    fn specifiers(&self, node: Node<'_>, names: &mut Vec<Imported>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).take(self.bounds.items_max) {
            if let Some(name) = child.child_by_field_name("name") {
                names.push(self.imported(name, child.child_by_field_name("alias")));
            }
        }
    }

    fn export(&self, node: Node<'_>, found: &mut Found) {
        let mut cursor = node.walk();
        let mut names = Vec::new();
        let mut is_default = false;
        for child in node.children(&mut cursor) {
            match child.kind() {
                "default" | "=" => is_default = true,
                "*" => names.push(Imported { name: "*".to_owned(), alias: None }),
                "namespace_export" => {
                    let alias = child.named_child(0).map(|alias| self.cut(alias));
                    names.push(Imported { name: "*".to_owned(), alias });
                }
                "export_clause" => self.specifiers(child, &mut names),
                _ => {}
            }
        }
        let start = Span::of(node).start;
        if is_default {
            found.export(start, "default", line(node), self.bounds);
        } else if let Some(declaration) = node.child_by_field_name("declaration") {
            self.declared(declaration, found, 0);
        }
        for name in &names {
            found.export(start, name.alias.as_ref().unwrap_or(&name.name), line(node), self.bounds);
        }
        if let Some(source) = node.child_by_field_name("source") {
            let kind = ImportKind::ReExport;
            let import = Import { kind, path: self.cut(source), names, location: None, line: line(node) };
            found.import(start, import, self.bounds);
        }
    }

    /// The names that an exported declaration declares. Patterns and ambient declarations hold others.
    fn declared(&self, node: Node<'_>, found: &mut Found, depth: usize) {
        if depth > DEPTH_MAX {
            found.is_cut = true;
            return;
        }
        let mut cursor = node.walk();
        match node.kind() {
            "lexical_declaration" | "variable_declaration" | "ambient_declaration" | "rest_pattern" => {
                for child in node.named_children(&mut cursor) {
                    self.declared(child, found, depth + 1);
                }
            }
            "object_pattern" | "array_pattern" => {
                for child in node.named_children(&mut cursor) {
                    let bound = child.child_by_field_name("value").or_else(|| child.child_by_field_name("left")).unwrap_or(child);
                    self.declared(bound, found, depth + 1);
                }
            }
            "identifier" | "shorthand_property_identifier_pattern" => {
                found.export(Span::of(node).start, &self.cut(node), line(node), self.bounds);
            }
            _ => {
                if let Some(name) = node.child_by_field_name("name") {
                    if name.kind().ends_with("_pattern") {
                        self.declared(name, found, depth + 1);
                    } else {
                        found.export(Span::of(name).start, &self.cut(name), line(name), self.bounds);
                    }
                }
            }
        }
    }

    /// `/// <reference path="./a.d.ts" />`
    fn reference(&self, node: Node<'_>, found: &mut Found) {
        let raw = Span::of(node).text(self.text);
        let Some((_, rest)) = raw.split_once("path") else { return };
        let Some(rest) = rest.trim_start().strip_prefix('=').map(str::trim_start) else { return };
        let Some(quote) = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else { return };
        let Some(path) = rest.split(quote).nth(1) else { return };
        let path = clip(path, self.bounds.text_chars_max).to_owned();
        let import = Import { kind: ImportKind::Relative, path, names: Vec::new(), location: None, line: line(node) };
        found.import(Span::of(node).start, import, self.bounds);
    }
}
