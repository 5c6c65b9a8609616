//! Cells of the rows in readable texts: one line per item, with values separated by ` | `.

use std::fmt::{self, Display, Formatter, Write};

/// Free text as a cell. Text that could look like another cell or line is written as a JSON string.
pub(crate) struct Cell<'t>(pub(crate) &'t str);

impl Display for Cell<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| !c.is_control() && !matches!(c, '|' | '\u{2028}' | '\u{2029}');
        if self.0.chars().all(is_plain) && !self.0.starts_with('"') {
            return f.write_str(self.0);
        }
        f.write_str(&serde_json::to_string(self.0).map_err(|_| fmt::Error)?)
    }
}

/// An optional value, `-` if it is missing.
pub(crate) struct Maybe<'v, T>(pub(crate) Option<&'v T>);

impl<T: Display> Display for Maybe<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => value.fmt(f),
            None => f.write_char('-'),
        }
    }
}

/// Text without line breaks, so that it cannot look like one of our own lines.
pub(crate) fn one_line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if is_break(c) { ' ' } else { c }).collect()
}

/// Adds a line to `text`.
pub(crate) fn line(text: &mut String, line: fmt::Arguments<'_>) {
    if !text.is_empty() {
        text.push('\n');
    }
    // Writing into a string fails only if a value cannot be formatted, and ours always can.
    let _ = text.write_fmt(line);
}

/// A heading and one line per item, for clients that show their model only text. Empty if there are no items.
pub(crate) fn table<T>(heading: &str, items: &[T], add_line: impl Fn(&mut String, &T)) -> String {
    let mut text = String::new();
    if !items.is_empty() {
        text.push_str(heading);
        items.iter().for_each(|item| add_line(&mut text, item));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_cannot_fake_another_cell() {
        for (text, cell) in [
            ("Tone is friendly", "Tone is friendly"),
            ("", ""),
            ("a | b", r#""a | b""#),
            ("a\nbrk_1 | forged", r#""a\nbrk_1 | forged""#),
            (r#""quoted""#, r#""\"quoted\"""#),
            ("Grüße 🦀", "Grüße 🦀"),
        ] {
            assert_eq!(Cell(text).to_string(), cell);
        }
        assert_eq!((Maybe(Some(&3)).to_string(), Maybe::<i32>(None).to_string()), ("3".to_owned(), "-".to_owned()));
    }

    #[test]
    fn each_line_starts_on_a_new_line() {
        let mut text = String::new();
        line(&mut text, format_args!("a | {}", 1));
        line(&mut text, format_args!("b"));
        assert_eq!(text, "a | 1\nb");
        assert_eq!(one_line("a\n> b\u{2028}c"), "a > b c");
    }
}
