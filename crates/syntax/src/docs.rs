//! Which comments belong to a definition, and what they say without comment marks.

use std::collections::HashMap;

use crate::collect::Mark;
use crate::text::{Span, clip};

/// Where a definition starts when its doc, attributes and wrappers are counted, and what its doc says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Above {
    pub(crate) start: u32,
    pub(crate) start_line: u32,
    pub(crate) doc: String,
}

/// The comments and attributes of a text, in order.
pub(crate) struct Marks<'a> {
    text: &'a str,
    marks: Vec<Mark>,
    wrappers: HashMap<u32, u32>,
    chars_max: usize,
}

impl<'a> Marks<'a> {
    pub(crate) fn new(text: &'a str, mut marks: Vec<Mark>, wrappers: HashMap<u32, u32>, chars_max: usize) -> Self {
        for mark in &mut marks {
            // Some grammars count the line break as part of a comment.
            let trimmed = mark.span.text(text).trim_end().len();
            mark.span.end = mark.span.start.saturating_add(u32::try_from(trimmed).unwrap_or(u32::MAX));
        }
        marks.sort_by_key(|mark| (mark.span.start, mark.span.end));
        Self { text, marks, wrappers, chars_max }
    }

    /// What stands directly above a definition that starts at `start` on `start_line`.
    pub(crate) fn above(&self, start: u32, start_line: u32) -> Above {
        let mut above = Above { start, start_line, doc: String::new() };
        let mut docs = Vec::new();
        loop {
            while let Some(wrapper) = self.wrappers.get(&above.start).filter(|wrapper| **wrapper < above.start) {
                above.start_line = above.start_line.saturating_sub(self.breaks_between(*wrapper, above.start));
                above.start = *wrapper;
            }
            let Some(mark) = self.before(above.start).filter(|mark| self.is_directly_above(mark, above.start)) else { break };
            above.start = mark.span.start;
            above.start_line = mark.start_line;
            if mark.is_doc {
                docs.push(mark.span);
            }
        }
        above.doc = self.doc(docs.into_iter().rev());
        above
    }

    /// The attributes that stand above a place, the nearest first. Comments may stand between.
    pub(crate) fn attributes_above(&self, start: u32) -> Vec<&'a str> {
        let mut attributes = Vec::new();
        let mut start = start;
        while let Some(mark) = self.before(start).filter(|mark| self.is_directly_above(mark, start)) {
            start = mark.span.start;
            if !mark.is_doc {
                attributes.push(mark.span.text(self.text));
            }
        }
        attributes
    }

    /// Where a definition goes on after the attributes that are inside of it: `class` in `@A class B`.
    pub(crate) fn after_attributes(&self, start: u32) -> u32 {
        let mut start = start;
        loop {
            let place = self.marks.partition_point(|mark| mark.span.start < start);
            let Some(mark) = self.marks.get(place).filter(|mark| mark.span.start == start && mark.span.end > start) else {
                break;
            };
            let rest = self.text.get(mark.span.end as usize..).unwrap_or_default();
            let blank = rest.len() - rest.trim_start().len();
            start = mark.span.end.saturating_add(u32::try_from(blank).unwrap_or(u32::MAX));
        }
        start
    }

    /// The last comment or attribute that ends before a place.
    fn before(&self, start: u32) -> Option<&Mark> {
        let count = self.marks.partition_point(|mark| mark.span.end <= start && mark.span.start < start);
        count.checked_sub(1).and_then(|place| self.marks.get(place))
    }

    /// The words of comments or of a doc string.
    pub(crate) fn doc(&self, spans: impl Iterator<Item = Span>) -> String {
        let mut doc = String::new();
        for span in spans {
            // Marks take room too: cut twice, first the bytes that are read, then the characters that are kept.
            let raw = clip(span.text(self.text), self.chars_max.saturating_mul(4));
            // `lines` of an empty comment would be none, but it parts two paragraphs.
            for line in unmarked(raw).split('\n') {
                let line = line.trim_end();
                if !(doc.is_empty() && line.is_empty()) {
                    doc.push_str(line);
                    doc.push('\n');
                }
            }
            if doc.len() > self.chars_max.saturating_mul(4) {
                break;
            }
        }
        doc.truncate(doc.trim_end().len());
        let kept = clip(&doc, self.chars_max).len();
        doc.truncate(kept);
        doc
    }

    /// Only white space and at most one line break lie between, and a comment stands alone on its line.
    fn is_directly_above(&self, mark: &Mark, start: u32) -> bool {
        let between = Span { start: mark.span.end, end: start }.text(self.text);
        if !between.chars().all(char::is_whitespace) || between.matches('\n').count() > 1 {
            return false;
        }
        let before = self.text.get(..mark.span.start as usize).unwrap_or_default();
        let own = before.trim_end_matches([' ', '\t']);
        !mark.is_doc || own.is_empty() || own.ends_with(['\n', '\r']) || !between.contains('\n')
    }

    fn breaks_between(&self, start: u32, end: u32) -> u32 {
        u32::try_from(Span { start, end }.text(self.text).matches('\n').count()).unwrap_or(u32::MAX)
    }
}

/// A comment without its marks: `/// a` is `a`, and so is `/** a */`, `# a`, `-- a` and a doc string.
fn unmarked(raw: &str) -> String {
    let raw = raw.trim();
    for (open, close) in
        [("/**", "*/"), ("/*!", "*/"), ("/*", "*/"), ("{-|", "-}"), ("{-", "-}"), ("--[[", "]]"), ("=begin", "=end")]
    {
        if let Some(inner) = raw.strip_prefix(open) {
            let inner = inner.strip_suffix(close).unwrap_or(inner);
            return inner.lines().map(star_line).collect::<Vec<_>>().join("\n").trim().to_owned();
        }
    }
    let unprefixed = raw.trim_start_matches(['r', 'R', 'b', 'B', 'u', 'U', 'f', 'F', '@', '~', 's', 'S']);
    for quotes in ["\"\"\"", "'''"] {
        if let Some(inner) = unprefixed.strip_prefix(quotes) {
            let inner = inner.strip_suffix(quotes).unwrap_or(inner);
            return inner.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned();
        }
    }
    for quote in ['"', '\''] {
        if let Some(inner) = unprefixed.strip_prefix(quote).and_then(|inner| inner.strip_suffix(quote)) {
            return inner.trim().to_owned();
        }
    }
    raw.lines().map(plain_line).collect::<Vec<_>>().join("\n")
}

fn star_line(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix('*').unwrap_or(line);
    line.strip_prefix(' ').unwrap_or(line)
}

fn plain_line(line: &str) -> &str {
    let line = line.trim_start();
    for mark in ["///", "//!", "//", "---", "--", "##", "#", ";;", ";"] {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest.strip_prefix(' ').unwrap_or(rest);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str, part: &str, is_doc: bool) -> Mark {
        let start = text.find(part).unwrap();
        let start_line = text[..start].matches('\n').count() as u32 + 1;
        Mark { span: Span { start: start as u32, end: (start + part.len()) as u32 }, start_line, is_doc }
    }

    fn above(text: &str, marks: &[(&str, bool)], definition: &str) -> Above {
        let marks = marks.iter().map(|(part, is_doc)| mark(text, part, *is_doc)).collect();
        let start = text.find(definition).unwrap();
        let line = text[..start].matches('\n').count() as u32 + 1;
        Marks::new(text, marks, HashMap::new(), 100).above(start as u32, line)
    }

    #[test]
    fn comments_and_attributes_directly_above_belong_to_a_definition() {
        let text = "/// One.\n///  Two.\n#[test]\nfn a() {}";
        let found = above(text, &[("/// One.\n", true), ("///  Two.", true), ("#[test]", false)], "fn a");
        assert_eq!(found, Above { start: 0, start_line: 1, doc: "One.\n Two.".to_owned() });
    }

    #[test]
    fn a_blank_line_or_code_on_the_line_parts_a_comment_from_a_definition() {
        assert_eq!(above("// a\n\nfn b() {}", &[("// a", true)], "fn b").doc, "");
        assert_eq!(above("x(); // a\nfn b() {}", &[("// a", true)], "fn b").start, 10);
        assert_eq!(above("/** a */ fn b() {}", &[("/** a */", true)], "fn b").doc, "a");
    }

    #[test]
    fn comment_marks_are_dropped() {
        assert_eq!(unmarked("/**\n * One.\n *\n *   Two.\n */"), "One.\n\n  Two.");
        assert_eq!(unmarked("r\"\"\"One.\n    Two.\n    \"\"\""), "One.\nTwo.");
        assert_eq!(unmarked("'one'"), "one");
        assert_eq!(unmarked("--- one"), "one");
        assert_eq!(unmarked("# one\n# two"), "one\ntwo");
    }
}
