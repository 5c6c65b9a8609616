//! Syntax errors, and which of them a change adds. A text that never parsed must stay editable: only errors that the text did not have
//! before count. Errors are compared by what they say and what stands around them, because a change above moves their lines.

use std::collections::HashMap;

use tree_sitter::Node;

use crate::parse::{each_error, parse};
use crate::text::clip;
use crate::{Bounds, Language, languages};

/// The number of characters of an unexpected piece of text that a message shows.
const SHOWN_CHARS: usize = 40;
/// The number of bytes before and after an error that must be equal in both texts.
const AROUND_BYTES: usize = 60;
/// The number of parts of an error that are looked at for an open bracket.
const PARTS_MAX: usize = 10_000;

/// A place where a text is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters (Unicode scalar values).
    pub column: u32,
    /// What is wrong: ``unexpected `}` ``.
    pub message: String,
}

/// The syntax errors of `after` that `before` does not have. None if `after` cannot be parsed within the bounds.
#[must_use]
pub fn added_errors(language: Language, before: Option<&str>, after: &str, bounds: &Bounds) -> Vec<SyntaxError> {
    let new = faults(language, after, bounds);
    if new.is_empty() {
        return Vec::new();
    }
    let before = before.unwrap_or_default();
    let old = faults(language, before, bounds);
    let is_added = unmatched(&old, before, &new, after);
    let mut place = Place::new(after);
    let mut errors = Vec::new();
    for (fault, is_added) in new.into_iter().zip(is_added) {
        if is_added {
            let (line, column) = place.of(fault.at);
            errors.push(SyntaxError { line, column, message: fault.message });
        }
    }
    errors
}

/// An error at a byte.
struct Fault {
    at: usize,
    message: String,
}

/// The errors of a text in its order.
fn faults(language: Language, text: &str, bounds: &Bounds) -> Vec<Fault> {
    let Ok(parsed) = parse(language, text, bounds) else { return Vec::new() };
    let mut faults = Vec::new();
    each_error(&parsed.tree, |node| {
        if !languages::is_valid(language, node, text) {
            faults.push(describe(node, text));
        }
        faults.len() < bounds.items_max
    });
    faults.sort_by_key(|fault| fault.at);
    faults
}

/// For each new error, whether the old text lacks it.
fn unmatched(old: &[Fault], before: &str, new: &[Fault], after: &str) -> Vec<bool> {
    let mut known: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (index, fault) in old.iter().enumerate().rev() {
        known.entry((&fault.message, around(before, fault.at))).or_default().push(index);
    }
    let mut is_gone = vec![true; old.len()];
    let mut is_added: Vec<bool> = new
        .iter()
        .map(|fault| match known.get_mut(&(fault.message.as_str(), around(after, fault.at))).and_then(Vec::pop) {
            Some(index) => {
                if let Some(gone) = is_gone.get_mut(index) {
                    *gone = false;
                }
                false
            }
            None => true,
        })
        .collect();
    // An error on a line that was edited has other text around it now. It is the same if it says the same.
    let (old_region, new_region) = changed(before, after);
    let mut left: HashMap<&str, usize> = HashMap::new();
    for (fault, _) in old.iter().zip(&is_gone).filter(|(fault, is_gone)| **is_gone && old_region.contains(&fault.at)) {
        *left.entry(&fault.message).or_default() += 1;
    }
    for (fault, is_added) in new.iter().zip(&mut is_added).filter(|(fault, _)| new_region.contains(&fault.at)) {
        if let (true, Some(count)) = (*is_added, left.get_mut(fault.message.as_str()).filter(|count| **count > 0)) {
            *count -= 1;
            *is_added = false;
        }
    }
    is_added
}

/// The lines that differ, as ranges of bytes of both texts. The end of a text counts as one more byte.
fn changed(before: &str, after: &str) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let prefix = new.get(..prefix).unwrap_or_default().iter().rposition(|byte| *byte == b'\n').map_or(0, |line| line + 1);
    let (old_rest, new_rest) = (old.get(prefix..).unwrap_or_default(), new.get(prefix..).unwrap_or_default());
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    // The suffix starts with a whole line.
    let tail = new.get(new.len() - suffix..).unwrap_or_default();
    let suffix = tail.iter().position(|byte| *byte == b'\n').map_or(0, |line| suffix - line - 1);
    (prefix..old.len() - suffix + 1, prefix..new.len() - suffix + 1)
}

/// What stands around an error on its line.
fn around(text: &str, at: usize) -> &str {
    let start = text.floor_char_boundary(at.saturating_sub(AROUND_BYTES));
    let end = text.ceil_char_boundary(at.saturating_add(AROUND_BYTES).min(text.len()));
    let at = text.floor_char_boundary(at);
    let before = text.get(start..at).unwrap_or_default();
    let behind = text.get(at..end).unwrap_or_default();
    let start = before.rfind('\n').map_or(start, |line| start + line + 1);
    let end = behind.find('\n').map_or(end, |line| at + line);
    text.get(start..end).unwrap_or_default().trim()
}

/// What is wrong at an ERROR or a MISSING node, and where.
fn describe(node: Node<'_>, text: &str) -> Fault {
    let at = node.start_byte();
    if node.is_missing() {
        let kind = node.kind();
        let message = match kind.strip_prefix('_') {
            Some(hidden) => format!("missing {}", hidden.replace('_', " ")),
            None => format!("missing `{kind}`"),
        };
        return Fault { at, message };
    }
    if let Some((at, message)) = bracket(node) {
        return Fault { at, message };
    }
    let piece = text.get(node.byte_range()).unwrap_or_default();
    let skipped = piece.len() - piece.trim_start().len();
    let message = match first_piece(piece.trim_start()) {
        "" if text.get(at..).unwrap_or_default().trim().is_empty() => "unexpected end of the text".to_owned(),
        "" => "unexpected text".to_owned(),
        piece => format!("unexpected `{piece}`"),
    };
    Fault { at: at + skipped, message }
}

/// A word or one other character.
fn first_piece(text: &str) -> &str {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let word = text.find(|character| !is_word(character)).unwrap_or(text.len());
    let end = if word > 0 { word } else { text.chars().next().map_or(0, char::len_utf8) };
    clip(text.get(..end).unwrap_or_default(), SHOWN_CHARS)
}

/// The bracket in an ERROR node that has no partner there.
fn bracket(node: Node<'_>) -> Option<(usize, String)> {
    let mut cursor = node.walk();
    let mut open: Vec<(&str, usize)> = Vec::new();
    for child in node.children(&mut cursor).take(PARTS_MAX).filter(|child| !child.is_named()) {
        let kind = child.kind();
        match kind {
            "(" | "[" | "{" => open.push((kind, child.start_byte())),
            ")" | "]" | "}" => {
                let partner = open.pop_if(|(opened, _)| matches!((*opened, kind), ("(", ")") | ("[", "]") | ("{", "}")));
                if partner.is_none() {
                    return Some((child.start_byte(), format!("unexpected `{kind}`")));
                }
            }
            _ => {}
        }
    }
    open.pop().map(|(kind, at)| (at, format!("unclosed `{kind}`")))
}

/// Lines and columns of bytes, asked in the order of the text.
struct Place<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Place<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, column: 1 }
    }

    fn of(&mut self, at: usize) -> (u32, u32) {
        for character in self.text.get(self.at..self.text.floor_char_boundary(at)).unwrap_or_default().chars() {
            if character == '\n' {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            } else {
                self.column = self.column.saturating_add(1);
            }
        }
        self.at = self.at.max(self.text.floor_char_boundary(at));
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_lines_are_found() {
        let (old, new) = changed("a\nb\nc\n", "a\nbb\nc\n");
        assert_eq!((&"a\nb\nc\n"[old.start..old.end - 1], &"a\nbb\nc\n"[new.start..new.end - 1]), ("b\n", "bb\n"));
        assert_eq!(changed("", ""), (0..1, 0..1));
        assert_eq!(changed("a\n", "a\na\n").1, 2..5);
        assert_eq!(changed("same\n", "same\n"), (5..6, 5..6));
    }

    #[test]
    fn what_is_around_stays_on_its_line() {
        let text = "first\n  second é third\nfourth";
        assert_eq!(around(text, 10), "second é third");
        assert_eq!(around(text, text.len()), "fourth");
        assert_eq!(around("", 0), "");
    }

    #[test]
    fn places_count_characters() {
        let mut place = Place::new("aé\nüx");
        assert_eq!((place.of(0), place.of(3), place.of(4), place.of(6)), ((1, 1), (1, 3), (2, 1), (2, 2)));
    }
}
