//! Valid Kotlin that the grammar takes for broken. A write must not be refused for it, and an outline must not lose what follows it.
//!
//! The grammar wants a line break or a `;` after the last member of a class: in `class A { val x = 1 }` it misses one and may lose the
//! rest of the file. A blank before such a brace becomes `;` in the text that is parsed; all positions stay.

use tree_sitter::Node;

/// The number of bytes of a character in quotes, such as `'\u0041'`, after its first.
const CHARACTER_BYTES_MAX: usize = 8;

/// What a brace that is open began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brace {
    /// The body of a class, an interface or an object.
    Body,
    /// A block or a lambda.
    Block,
    /// A `${` in a string, which goes on after its `}`. True for a string in three quotes.
    Template(bool),
}

/// The text with a `;` after the last member of each class whose body ends on that member's line. `None` if there is no such class.
pub(crate) fn repaired(text: &str) -> Option<String> {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0, braces: Vec::new(), parentheses: 0, awaited: None, blanks: Vec::new() };
    while scan.at < scan.bytes.len() {
        scan.step();
    }
    if scan.blanks.is_empty() {
        return None;
    }
    let blanks = scan.blanks;
    let mut bytes = text.as_bytes().to_vec();
    for blank in blanks {
        if let Some(byte) = bytes.get_mut(blank) {
            *byte = b';';
        }
    }
    String::from_utf8(bytes).ok()
}

/// One pass over the bytes of a text.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    braces: Vec<Brace>,
    /// The number of parentheses that are open.
    parentheses: usize,
    /// After `class`, `interface` or `object`: the number of parentheses around the brace to come.
    awaited: Option<usize>,
    /// Where a `;` belongs.
    blanks: Vec<usize>,
}

impl Scan<'_> {
    fn sees(&self, what: &str) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    /// Reads one token.
    fn step(&mut self) {
        let byte = self.bytes.get(self.at).copied().unwrap_or_default();
        match byte {
            b'/' if self.sees("//") => self.skip_to("\n"),
            b'/' if self.sees("/*") => self.comment(),
            b'"' if self.sees("\"\"\"") => {
                self.at += 3;
                self.string(true);
            }
            b'"' => {
                self.at += 1;
                self.string(false);
            }
            b'`' => {
                self.at += 1;
                self.skip_to("`");
            }
            b'\'' => self.character(),
            b'{' => {
                let is_body = self.awaited.take_if(|parentheses| *parentheses == self.parentheses).is_some();
                self.braces.push(if is_body { Brace::Body } else { Brace::Block });
                self.at += 1;
            }
            b'}' => self.close(),
            b'(' | b')' => {
                self.parentheses = if byte == b'(' { self.parentheses + 1 } else { self.parentheses.saturating_sub(1) };
                self.at += 1;
            }
            _ if byte.is_ascii_alphabetic() || byte == b'_' => self.word(),
            _ => self.at += 1,
        }
    }

    /// Reads a character, which may be a quote or a brace.
    fn character(&mut self) {
        let is_escaped = self.bytes.get(self.at + 1) == Some(&b'\\');
        let start = self.at + if is_escaped { 3 } else { 2 };
        let rest = self.bytes.get(start..).unwrap_or_default();
        self.at = match rest.iter().take(CHARACTER_BYTES_MAX).position(|byte| *byte == b'\'') {
            Some(end) => start + end + 1,
            None => self.at + 1,
        };
    }

    fn word(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        // `A::class` is an expression.
        let is_expression = self.at.checked_sub(1).and_then(|before| self.bytes.get(before)) == Some(&b':');
        if !is_expression && matches!(rest.get(..length), Some(b"class" | b"interface" | b"object")) {
            self.awaited = Some(self.parentheses);
        }
        self.at += length.max(1);
    }

    fn close(&mut self) {
        let brace = self.braces.pop();
        if brace == Some(Brace::Body) {
            let before = self.bytes.get(..self.at).unwrap_or_default();
            let last = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t')).copied();
            let needs_end = !matches!(last, None | Some(b'{' | b';' | b',' | b'\n' | b'\r'));
            if needs_end && matches!(before.last(), Some(b' ' | b'\t')) {
                self.blanks.push(self.at - 1);
            }
        }
        self.at += 1;
        if let Some(Brace::Template(is_raw)) = brace {
            self.string(is_raw);
        }
    }

    /// Reads a string to its end or to a template in it.
    fn string(&mut self, is_raw: bool) {
        while let Some(byte) = self.bytes.get(self.at) {
            if self.sees("${") {
                self.at += 2;
                self.braces.push(Brace::Template(is_raw));
                return;
            }
            match byte {
                b'"' if !is_raw => {
                    self.at += 1;
                    return;
                }
                b'"' if self.sees("\"\"\"") => {
                    self.at += 3;
                    return;
                }
                // A line ends a string that nobody closed.
                b'\n' if !is_raw => return,
                b'\\' if !is_raw => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// Comments nest.
    fn comment(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            if self.sees("/*") {
                depth += 1;
                self.at += 2;
            } else if self.sees("*/") {
                depth = depth.saturating_sub(1);
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.at += 1;
            }
        }
    }

    /// Goes behind the next `mark`, or behind the line if it has none.
    fn skip_to(&mut self, mark: &str) {
        while self.at < self.bytes.len() && !self.sees(mark) && !self.sees("\n") {
            self.at += 1;
        }
        self.at += 1;
    }
}

/// Whether an ERROR or MISSING node stands for valid code.
pub(crate) fn is_valid(node: Node<'_>, text: &str) -> bool {
    if node.is_missing() {
        // `[]` is a list without items.
        let (before, behind) = text.split_at_checked(node.start_byte()).unwrap_or_default();
        return before.trim_end().ends_with('[') && behind.trim_start().starts_with(']');
    }
    // `@Suppress("a") set(value) {}` is an accessor.
    node.child_count() == 1 && node.child(0).is_some_and(|only| only.kind() == "annotation" && !only.has_error())
}

#[cfg(test)]
mod tests {
    use super::repaired;
    use crate::{Bounds, Language, added_errors, outline};

    const BOUNDS: Bounds = Bounds { bytes_max: 1 << 16, parse_ms_max: 60_000, items_max: 100, text_chars_max: 100 };

    fn is_refused(text: &str) -> bool {
        !added_errors(Language::Kotlin, None, text, &BOUNDS).is_empty()
    }

    #[test]
    fn valid_code_is_not_refused() {
        for text in [
            "class A(x: Int) : B(x), C",
            "class A : B() { fun f() {} }",
            "interface A { fun f() }\n\nfun interface B { fun g(): Int }\n",
            "object A { init { f() } }\nclass B { class C }\n",
            "class A { val x = 1 }\n\nfun main() { val l = object : L { override fun f() {} } }\n",
            "class A { fun f() {} }; class B { val s = \"a } ${b { it } } class {\" }\n",
            "annotation class A(val groups: Array<String> = [])\n",
            "class A {\n    var x: Int\n        get() = 1\n        @Suppress(\"a\") set(value) {}\n}\n",
        ] {
            assert!(!is_refused(text), "{text}");
        }
    }

    #[test]
    fn broken_code_is_refused() {
        for text in
            ["class A { fun }", "class A { fun f() {}", "fun f( {}", "val x = \n)", "val x = [1, ", "class A { fun f() { ( } }"]
        {
            assert!(is_refused(text), "{text}");
        }
    }

    #[test]
    fn nothing_after_a_class_on_one_line_is_lost() {
        let found =
            outline(Language::Kotlin, "interface A { fun f() }\n\nclass B { val x = 1 }\n\nfun g() {}\n", &BOUNDS).unwrap();
        let names: Vec<_> = found.definitions.iter().map(|one| (one.name.as_str(), one.start_line)).collect();
        assert_eq!(names, [("A", 1), ("f", 1), ("B", 3), ("x", 3), ("g", 5)]);
        assert_eq!(found.errors, 0);
    }

    #[test]
    fn only_bodies_of_classes_get_an_end() {
        let same = |text| assert_eq!(repaired(text), None);
        same("fun f() { g() }");
        same("class A { }\nclass B {\n    val x = 1\n}\nenum class C { X, }\n");
        same("val x = A::class.run { it }");
        same("// class A { fun f() }\n/* class A { /* { */ fun f() } */ val s = \"class A { b }\"\nval c = '{'");
        same("val s = \"\"\"class A { fun f() }\"\"\"\nval `class` = { 1 }");
        assert_eq!(
            repaired("class A(f: () -> Unit = { g() }) { fun h() }").as_deref(),
            Some("class A(f: () -> Unit = { g() }) { fun h();}")
        );
        assert_eq!(repaired("class A { val s = \"${b { c } } }\" }").as_deref(), Some("class A { val s = \"${b { c } } }\";}"));
    }
}
