//! Calls of Ruby that are only a word: `total` is a call unless a variable of that name was set before it. Ruby decides so too.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::collect::{Found, Used};
use crate::text::{Span, line};
use crate::{Bounds, ReferenceKind};

/// Words that change how the definitions after them are seen, and parameters without a declaration.
const NOT_CALLED: [&str; 6] = ["private", "protected", "public", "module_function", "it", "_1"];

/// Nodes whose identifiers are new variables.
const DECLARING: [&str; 15] = [
    "alternative_pattern",
    "array_pattern",
    "as_pattern",
    "block_parameter",
    "block_parameters",
    "destructured_left_assignment",
    "destructured_parameter",
    "exception_variable",
    "find_pattern",
    "hash_splat_parameter",
    "lambda_parameters",
    "left_assignment_list",
    "method_parameters",
    "rest_assignment",
    "splat_parameter",
];

/// Nodes whose identifiers are names and neither called nor set.
const NAMING: [&str; 6] = ["alias", "method", "setter", "singleton_method", "undef", "scope_resolution"];

/// Variables that can be seen in a part of the text.
struct Scope<'a> {
    names: HashSet<&'a str>,
    end: usize,
    /// A method does not see the variables around it; a block does.
    is_closed: bool,
}

/// Notes the calls of a whole file. The walk is a loop, because a text can nest as deep as it is long.
pub(crate) fn walk(root: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let mut cursor = root.walk();
    let mut parents: Vec<&str> = Vec::new();
    let mut scopes = vec![Scope { names: HashSet::new(), end: usize::MAX, is_closed: true }];
    loop {
        let node = cursor.node();
        while scopes.pop_if(|scope| scope.end <= node.start_byte()).is_some() {}
        match node.kind() {
            "method" | "singleton_method" | "class" | "module" | "singleton_class" if node.is_named() => {
                scopes.push(Scope { names: HashSet::new(), end: node.end_byte(), is_closed: true });
            }
            "block" | "do_block" | "lambda" => {
                scopes.push(Scope { names: HashSet::new(), end: node.end_byte(), is_closed: false });
            }
            "identifier" => {
                let parent = parents.last().copied().unwrap_or_default();
                word(node, parent, cursor.field_name().unwrap_or_default(), text, &mut scopes, bounds, found);
            }
            // `in {name:}` sets a variable.
            "hash_key_symbol" if parents.last() == Some(&"keyword_pattern") => {
                if let Some(scope) = scopes.last_mut() {
                    scope.names.insert(Span::of(node).text(text));
                }
            }
            _ => {}
        }
        if cursor.goto_first_child() {
            parents.push(node.kind());
            continue;
        }
        while !cursor.goto_next_sibling() {
            parents.pop();
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Notes one word: a new variable, a variable that is used, or a call.
fn word<'a>(
    node: Node<'_>,
    parent: &str,
    field: &str,
    text: &'a str,
    scopes: &mut [Scope<'a>],
    bounds: &Bounds,
    found: &mut Found,
) {
    let name = Span::of(node).text(text);
    let is_new = match (parent, field) {
        ("assignment" | "operator_assignment", "left") | ("for", "pattern") => true,
        ("optional_parameter" | "keyword_parameter", "name") | ("match_pattern", "pattern") | ("keyword_pattern", "value") => {
            true
        }
        // The value of `in String => name` and a guard are expressions.
        ("in_clause", _) => field == "pattern",
        _ => DECLARING.contains(&parent),
    };
    if is_new {
        if let Some(scope) = scopes.last_mut() {
            scope.names.insert(name);
        }
        return;
    }
    // A call that has more than its word is found by the query.
    let is_name = NAMING.contains(&parent) && matches!(field, "name" | "alias" | "") || (parent == "call" && field == "method");
    if is_name || NOT_CALLED.contains(&name) || is_variable(name, scopes) {
        return;
    }
    if found.references.len() >= bounds.items_max.saturating_mul(2) {
        found.is_cut = true;
        return;
    }
    let name = Span::of(node);
    found.references.push(Used { kind: ReferenceKind::Call, name, qualifier: None, line: line(node), pattern: usize::MAX });
}

fn is_variable(name: &str, scopes: &[Scope<'_>]) -> bool {
    for scope in scopes.iter().rev() {
        if scope.names.contains(name) {
            return true;
        }
        if scope.is_closed {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::{Bounds, Language, outline};

    fn calls(text: &str) -> Vec<String> {
        let bounds = Bounds { bytes_max: 1 << 16, parse_ms_max: 60_000, items_max: 100, text_chars_max: 100 };
        outline(Language::Ruby, text, &bounds).unwrap().references.into_iter().map(|one| one.name).collect()
    }

    #[test]
    fn a_word_is_called_unless_a_variable_has_its_name() {
        assert_eq!(calls("def total\n  sum = net\n  sum + tax\nend\n"), ["net", "tax"]);
        assert_eq!(calls("def f(a, b = c, *d, e:, g: h, **i, &j)\n  [a, b, d, e, g, i, j, k]\nend\n"), ["c", "h", "k"]);
        assert_eq!(calls("x = 1\ndef f\n  x\nend\n"), ["x"]);
        assert_eq!(calls("x = 1\nlist.each { |y| [x, y, z] }\ny\n"), ["list", "each", "z", "y"]);
        assert_eq!(calls("a, (b, *c) = 1\nfor d in e do [a, b, c, d] end\n"), ["e"]);
        assert_eq!(calls("begin\nrescue E => e\n  e\nend\ncase v\nin {a:, b: [c, d]}\n  [a, b, c, d]\nend\n"), ["v"]);
        assert_eq!(calls("f = ->(a) { a + b }\nalias new_name old_name\nclass A\n  private\n  attr_reader :b\nend\n"), ["b"]);
        assert_eq!(calls("x ||= y\nx += 1\nlogger.info x\n"), ["y", "logger", "info"]);
    }
}
