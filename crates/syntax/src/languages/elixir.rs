//! Imports and calls of Elixir. Everything is a call there: a definition, its head and a type too. What is around a call tells which.

use tree_sitter::{Node, TreeCursor};

use crate::collect::{Found, Used};
use crate::text::{Span, clip, line};
use crate::{Bounds, Import, ImportKind, Imported, ReferenceKind};

/// Words whose first argument is the head of a definition.
const DEFINERS: [&str; 8] = ["def", "defp", "defmacro", "defmacrop", "defdelegate", "defguard", "defguardp", "defn"];

/// Words that read like calls and are part of the language.
const SPECIAL: [&str; 26] = [
    "alias",
    "case",
    "cond",
    "defexception",
    "defimpl",
    "defmodule",
    "defoverridable",
    "defprotocol",
    "defstruct",
    "destructure",
    "for",
    "if",
    "import",
    "quote",
    "raise",
    "receive",
    "require",
    "reraise",
    "super",
    "throw",
    "try",
    "unless",
    "unquote",
    "unquote_splicing",
    "use",
    "with",
];

/// Attributes that hold types and not calls.
const TYPES: [&str; 8] = ["spec", "type", "typep", "opaque", "callback", "macrocallback", "behaviour", "impl"];

/// Reads an import, or all calls of a file.
pub(crate) fn walk(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    match node.kind() {
        "source" => calls(node, text, bounds, found),
        _ => import(node, text, bounds, found),
    }
}

fn import(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let Some(word) = node.child_by_field_name("target").map(|target| Span::of(target).text(text)) else { return };
    let Some(arguments) = child_of_kind(node, "arguments") else { return };
    let Some(module) = arguments.named_child(0) else { return };
    let cut = |node: Node<'_>| clip(Span::of(node).text(text), bounds.text_chars_max).to_owned();
    let mut names = Vec::new();
    if let Some(options) = child_of_kind(arguments, "keywords") {
        if let Some(alias) = option(options, "as:", text) {
            names.push(Imported { name: "*".to_owned(), alias: Some(cut(alias)) });
        }
        if let (Some(list), "import") = (option(options, "only:", text), word) {
            names.extend(keys(list, text).take(bounds.items_max).map(|name| Imported { name, alias: None }));
        }
    }
    let kind = if word == "import" && names.is_empty() { ImportKind::Wildcard } else { ImportKind::Plain };
    let mut push = |path: String, names: Vec<Imported>| {
        found.import(Span::of(node).start, Import { kind, path, names, location: None, line: line(node) }, bounds);
    };
    // `alias A.{B, C}` is an import of `A.B` and one of `A.C`.
    let group = module.child_by_field_name("right").filter(|right| right.kind() == "tuple");
    match (group, module.child_by_field_name("left")) {
        (Some(group), Some(left)) => {
            let mut cursor = group.walk();
            for member in group.named_children(&mut cursor).take(bounds.items_max) {
                push(clip(&format!("{}.{}", cut(left), cut(member)), bounds.text_chars_max).to_owned(), Vec::new());
            }
        }
        _ if matches!(module.kind(), "alias" | "dot" | "atom" | "identifier") => push(cut(module), names),
        _ => {}
    }
}

fn child_of_kind<'tree>(node: Node<'tree>, kind: &str) -> Option<Node<'tree>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| child.kind() == kind)
}

/// The value of an option: `as: B` in `alias A, as: B`.
fn option<'tree>(options: Node<'tree>, key: &str, text: &str) -> Option<Node<'tree>> {
    let mut cursor = options.walk();
    options
        .named_children(&mut cursor)
        .find(|pair| pair.child_by_field_name("key").is_some_and(|found| Span::of(found).text(text).trim() == key))
        .and_then(|pair| pair.child_by_field_name("value"))
}

/// The keys of a list: `a` and `b` in `[a: 1, b: 2]`.
fn keys(list: Node<'_>, text: &str) -> impl Iterator<Item = String> {
    let written = Span::of(list).text(text).trim_start_matches('[').trim_end_matches(']');
    written.split(',').filter_map(|pair| pair.split_once(':')).map(|(key, _)| key.trim().to_owned()).filter(|key| !key.is_empty())
}

/// Notes every call. The walk is a loop, because a text can nest as deep as it is long.
fn calls(root: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let mut cursor = root.walk();
    let mut head = None;
    loop {
        let node = cursor.node();
        let goes_in = match node.kind() {
            "call" => call(node, text, bounds, &mut head, found),
            "unary_operator" => attribute(node, text, bounds, &mut head, found),
            _ => true,
        };
        if (goes_in && cursor.goto_first_child()) || next(&mut cursor) {
            continue;
        }
        return;
    }
}

/// Goes to what follows this node and all in it.
fn next(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

/// Notes a call. False if what is in it has no calls. `head` is a call to come that is the head of a definition or an attribute.
fn call(node: Node<'_>, text: &str, bounds: &Bounds, head: &mut Option<usize>, found: &mut Found) -> bool {
    let Some(target) = node.child_by_field_name("target") else { return true };
    let word = Span::of(target).text(text);
    if target.kind() == "identifier" {
        if DEFINERS.contains(&word) {
            *head = child_of_kind(node, "arguments").and_then(|arguments| arguments.named_child(0)).map(|first| {
                let guarded = first.child_by_field_name("left").filter(|_| first.kind() == "binary_operator");
                guarded.unwrap_or(first).id()
            });
        } else if *head == Some(node.id()) {
            *head = None;
        } else if !SPECIAL.contains(&word) {
            note(target, None, bounds, found);
        }
        return !matches!(word, "alias" | "import" | "require");
    }
    let (left, right) = (target.child_by_field_name("left"), target.child_by_field_name("right"));
    if let (Some(left), Some(right)) = (left, right) {
        // Without arguments, `a.b` is a field and `A.b` is a call.
        let is_call = child_of_kind(node, "arguments").is_some() || matches!(left.kind(), "alias" | "atom");
        if is_call && right.kind() == "identifier" {
            note(right, Some(left), bounds, found);
        }
    }
    true
}

/// Notes the function in `&name/1`. False for an attribute that holds types.
fn attribute(node: Node<'_>, text: &str, bounds: &Bounds, head: &mut Option<usize>, found: &mut Found) -> bool {
    let Some(operand) = node.child_by_field_name("operand") else { return true };
    let operator = node.child_by_field_name("operator").map_or("", |operator| Span::of(operator).text(text));
    match (operator, operand.kind()) {
        ("@", "call") => {
            let word = operand.child_by_field_name("target").map_or("", |target| Span::of(target).text(text));
            // The attribute itself is not called, but its value may hold calls.
            *head = Some(operand.id());
            !TYPES.contains(&word)
        }
        ("&", "binary_operator") => {
            if let Some(name) = operand.child_by_field_name("left").filter(|left| left.kind() == "identifier") {
                note(name, None, bounds, found);
            }
            true
        }
        _ => true,
    }
}

fn note(name: Node<'_>, qualifier: Option<Node<'_>>, bounds: &Bounds, found: &mut Found) {
    if found.references.len() >= bounds.items_max.saturating_mul(2) {
        found.is_cut = true;
        return;
    }
    found.references.push(Used {
        kind: ReferenceKind::Call,
        name: Span::of(name),
        qualifier: qualifier.map(Span::of),
        line: line(name),
        pattern: usize::MAX,
    });
}
