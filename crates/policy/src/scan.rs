//! Scans a policy text before parsing: how deeply it nests, and where its statements begin.
//!
//! Cedar's parser builds trees without a limit and walks them recursively, so a text such as `((((…` would crash the process.
//! This scan needs no stack. It knows tokens but not the grammar. If a text parses, its depth here is at least the depth of the
//! parsed tree. If it does not, the parser builds only what comes before the first error.

use base::limits::POLICY_NESTING_MAX;

use crate::finding::Complaint;

/// What the scan found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The start of each statement in bytes, in order.
    pub(crate) statements: Vec<usize>,
    /// The end of each statement in bytes, in order. A statement without a semicolon has none.
    pub(crate) ends: Vec<usize>,
    /// The first position where a statement nests too deeply, if there is one. The rest was not read.
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
        if nesting.depth() > POLICY_NESTING_MAX {
            let message = format!(
                "this statement nests too deeply (more than {POLICY_NESTING_MAX} levels, a bracket counts as four); split it"
            );
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

/// The effect of a token on the depth of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// `&&`, `||`, `if`, `when` and `unless`: their operands are siblings, and each adds one level.
    Join,
    /// Any other operator. It may wrap what comes before it (`a.b.c`) or after it (`!!a`).
    Wrap,
    /// A comma, after which a new tree starts.
    Comma,
    /// A semicolon.
    End,
    /// A name, a number or a string.
    Leaf,
}

/// What a pair of brackets adds in addition to its wrap. The parser goes through ten grammar rules for it, on as much stack as
/// the evaluator needs for four operators.
const BRACKET: usize = 3;

/// An upper bound for the depth of the statement so far.
#[derive(Debug, Default)]
struct Nesting {
    /// The open brackets around `here`, outermost first.
    outer: Vec<Level>,
    here: Level,
    /// The sum of `joins + wraps + BRACKET` over `outer`.
    outer_depth: usize,
}

/// The tokens between two brackets, or outside of all brackets.
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
                // A bracket may follow the expression that it belongs to (`a["b"]["c"]`), so it also wraps.
                self.here.wraps += 1;
                self.outer_depth += self.here.joins + self.here.wraps + BRACKET;
                self.outer.push(std::mem::take(&mut self.here));
            }
            Token::Close => {
                // The parser reports an unmatched closing bracket.
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

/// The tokens of Cedar that matter here.
struct Tokens<'a> {
    text: &'a str,
    offset: usize,
}

impl Tokens<'_> {
    /// The next token and its position.
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

/// The first token of `rest`, and its length in bytes.
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

/// The length of a string literal with its quotes, or of the rest of the text if it does not end.
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
    fn statement_positions_are_found() {
        let text =
            "// permit;\n@id(\"a;b\")\npermit(principal, action, resource) when { \"\\\";\" == \"ü\" };;\n  forbid(principal);";
        let starts: Vec<&str> = scan(text).statements.iter().map(|start| &text[*start..*start + 3]).collect();
        assert_eq!(starts, ["@id", ";\n ", "for"]);
        let ends: Vec<&str> = scan(text).ends.iter().map(|end| &text[end - 2..*end]).collect();
        assert_eq!(ends, ["};", ";;", ");"]);
        assert!(scan("  // nothing\n").statements.is_empty());
    }

    #[test]
    fn depth_counts_nesting_and_not_siblings() {
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
