//! A first look at a policy text, before the parser sees it: how deep it nests, and where its statements begin.
//!
//! Cedar's parser builds trees without a limit and walks them recursively, so a text such as `((((…` would end the process.
//! This scan needs no stack. It knows tokens, not grammar: for a text that parses, its depth is never less than that of the
//! tree the parser builds; of a text that does not parse, the parser builds only what came before the first error.

use crate::finding::Complaint;
use crate::limits::NESTING_MAX;

/// What the scan found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Where each statement begins, in bytes, in order.
    pub(crate) statements: Vec<usize>,
    /// Where each statement ends, in bytes, in order; one that lacks its semicolon is not among them.
    pub(crate) ends: Vec<usize>,
    /// Where a statement nests too deeply, if one does: the first place only, the rest was not read.
    pub(crate) too_deep: Option<Complaint>,
}

/// Scans a policy text.
pub(crate) fn scan(text: &str) -> Scan {
    let mut scan = Scan::default();
    let mut nesting = Nesting::default();
    let mut between_statements = true;
    let mut tokens = Tokens { text, offset: 0 };
    while let Some((offset, token)) = tokens.next() {
        if between_statements {
            scan.statements.push(offset);
            between_statements = false;
        }
        nesting.take(token);
        if nesting.depth() > NESTING_MAX {
            let message =
                format!("this statement nests too deeply (more than {NESTING_MAX} levels, a bracket counts as four); split it");
            scan.too_deep = Some(Complaint::new(offset, message));
            return scan;
        }
        if token == Token::End && nesting.outer.is_empty() {
            nesting = Nesting::default();
            between_statements = true;
            scan.ends.push(tokens.offset);
        }
    }
    scan
}

/// What a token does to the depth of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// `&&`, `||`, `if`, `when` and `unless`: what they join lies side by side, and each deepens the tree by one level.
    Join,
    /// Any other operator: it may wrap what stands before it (`a.b.c`) or after it (`!!a`).
    Wrap,
    /// A comma: what follows is a tree of its own.
    Comma,
    /// A semicolon.
    End,
    /// A name, a number, a string.
    Leaf,
}

/// What a pair of brackets counts beside the wrap it is. The parser goes through ten rules of its grammar for one, on as much
/// stack as the evaluator takes for four operators.
const BRACKET: usize = 3;

/// The depth of the statement read so far, at most.
#[derive(Debug, Default)]
struct Nesting {
    /// The brackets that are open around `here`, outermost first.
    outer: Vec<Level>,
    here: Level,
    /// The sum of `joins + wraps + BRACKET` over `outer`.
    outer_depth: usize,
}

/// What stands between two brackets, or on the outside.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// Joins since the last comma.
    joins: usize,
    /// Wraps since the last join, and the deepest bracket among them.
    wraps: usize,
    bracket: usize,
    /// The deepest operand of the joins, and the deepest member between commas.
    operand: usize,
    member: usize,
}

impl Level {
    fn end_operand(&mut self) {
        self.operand = self.operand.max(self.wraps + self.bracket);
        self.wraps = 0;
        self.bracket = 0;
    }

    fn end_member(&mut self) {
        self.end_operand();
        self.member = self.member.max(self.joins + self.operand);
        self.joins = 0;
        self.operand = 0;
    }

    fn depth(&self) -> usize {
        self.member.max(self.joins + self.operand.max(self.wraps + self.bracket))
    }
}

impl Nesting {
    fn take(&mut self, token: Token) {
        match token {
            Token::Open => {
                // A bracket may follow what it belongs to (`a["b"]["c"]`), so it also wraps.
                self.here.wraps += 1;
                self.outer_depth += self.here.joins + self.here.wraps + BRACKET;
                self.outer.push(std::mem::take(&mut self.here));
            }
            Token::Close => {
                // A bracket that closes nothing is the parser's to complain about.
                if let Some(outer) = self.outer.pop() {
                    let inner = self.here.depth() + BRACKET;
                    self.outer_depth -= outer.joins + outer.wraps + BRACKET;
                    self.here = outer;
                    self.here.bracket = self.here.bracket.max(inner);
                }
            }
            Token::Join => {
                self.here.end_operand();
                self.here.joins += 1;
            }
            Token::Wrap => self.here.wraps += 1,
            Token::Comma => self.here.end_member(),
            Token::End | Token::Leaf => {}
        }
    }

    fn depth(&self) -> usize {
        self.outer_depth + self.here.depth()
    }
}

/// The tokens of Cedar, as far as they matter here.
struct Tokens<'a> {
    text: &'a str,
    offset: usize,
}

impl Tokens<'_> {
    /// The next token and where it begins.
    fn next(&mut self) -> Option<(usize, Token)> {
        loop {
            let rest = self.text.get(self.offset..)?;
            let start = self.offset;
            let first = rest.chars().next()?;
            if first.is_whitespace() {
                self.offset += first.len_utf8();
            } else if rest.starts_with("//") {
                self.offset += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else {
                let (length, token) = token(rest, first);
                self.offset += length;
                return Some((start, token));
            }
        }
    }
}

/// The token that `rest` begins with, and its length in bytes.
fn token(rest: &str, first: char) -> (usize, Token) {
    match first {
        '"' => (string_length(rest), Token::Leaf),
        '(' | '[' | '{' => (1, Token::Open),
        ')' | ']' | '}' => (1, Token::Close),
        ',' => (1, Token::Comma),
        ';' => (1, Token::End),
        '=' | '!' | '<' | '>' if rest.get(1..2) == Some("=") => (2, Token::Wrap),
        '&' | '|' if rest.starts_with("&&") || rest.starts_with("||") => (2, Token::Join),
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let token = match rest.get(..end) {
                Some("if" | "when" | "unless") => Token::Join,
                Some("in" | "has" | "like" | "is") => Token::Wrap,
                _ => Token::Leaf,
            };
            (end, token)
        }
        // Parts of a name and members of a record do not nest.
        ':' => (1, Token::Leaf),
        other => (other.len_utf8(), Token::Wrap),
    }
}

/// The length of a string literal with its quotes; the rest of the text if it does not end.
fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(text: &str) -> usize {
        let mut nesting = Nesting::default();
        let mut tokens = Tokens { text, offset: 0 };
        while let Some((_, token)) = tokens.next() {
            nesting.take(token);
        }
        nesting.depth()
    }

    #[test]
    fn statements_begin_where_they_begin() {
        let text =
            "// permit;\n@id(\"a;b\")\npermit(principal, action, resource) when { \"\\\";\" == \"ü\" };;\n  forbid(principal);";
        let starts: Vec<&str> = scan(text).statements.iter().map(|start| &text[*start..*start + 3]).collect();
        assert_eq!(starts, ["@id", ";\n ", "for"]);
        let ends: Vec<&str> = scan(text).ends.iter().map(|end| &text[end - 2..*end]).collect();
        assert_eq!(ends, ["};", ";;", ");"]);
        assert!(scan("  // nothing\n").statements.is_empty());
    }

    #[test]
    fn depth_counts_what_nests_and_not_what_lies_side_by_side() {
        for (text, expected) in [
            ("", 0),
            ("a", 0),
            ("a.b.c", 2),
            ("!!!a", 3),
            ("a && b && c", 2),
            ("a.b.c && d.e || f.g", 4),
            ("((a))", 8),
            ("[a, b, c, d, e]", 4),
            ("[a.b, c.d.e, f]", 6),
            ("a[\"x\"][\"y\"]", 5),
            ("a.contains(b)", 5),
            ("if a then b else if c then d else e", 2),
            ("Agent::\"x\" == principal", 1),
            ("\"((((\" == \"\\\"((((\" // ((((", 1),
        ] {
            assert_eq!(depth(text), expected, "{text}");
        }
    }

    #[test]
    fn only_the_deepest_statement_matters() {
        let statement = "permit(principal, action, resource) when { a.b == c && d };\n";
        let many = statement.repeat(1_000);
        let found = scan(&many);
        assert_eq!(found.statements.len(), 1_000);
        assert_eq!(found.too_deep, None);
        let deep = format!("{statement}permit(principal, action, resource) when {{ {}a }};", "(".repeat(100_000));
        let complaint = scan(&deep).too_deep.unwrap();
        assert!(complaint.offset > statement.len(), "{complaint:?}");
    }
}
