//! Which syntax errors of C and C++ can be believed. A macro can stand for anything, so the grammar takes much valid code for broken.
//! Brackets are counted without the grammar; other errors are believed only where no macro is near.

use std::iter::Peekable;
use std::str::CharIndices;

/// A macro further away than this is not near, whatever the length of the lines.
const NEAR_BYTES: usize = 400;

/// Whether an error at a byte can be believed. `is_balanced` says whether the brackets of the text have partners.
pub(crate) fn is_sure(text: &str, at: usize, message: &str, is_balanced: bool) -> bool {
    let piece = message.split('`').nth(1).unwrap_or_default();
    if ["(", ")", "[", "]", "{", "}"].contains(&piece) {
        return !is_balanced;
    }
    // A word alone may be a macro.
    let is_word = piece.starts_with(|character: char| character.is_alphabetic() || character == '_');
    let at = text.floor_char_boundary(at);
    let start = text.floor_char_boundary(at.saturating_sub(NEAR_BYTES));
    let end = text.ceil_char_boundary(at.saturating_add(NEAR_BYTES).min(text.len()));
    let before = text.get(start..at).unwrap_or_default();
    let before = before.rmatch_indices('\n').nth(1).and_then(|(line, _)| before.get(line..)).unwrap_or(before);
    let behind = text.get(at..end).unwrap_or_default().split('\n').next().unwrap_or_default();
    !is_word && !has_macro(before) && !has_macro(behind)
}

/// Whether a word in capitals or a directive is in a text.
fn has_macro(text: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let is_macro = |word: &str| word.len() > 2 && word.contains(char::is_uppercase) && !word.contains(char::is_lowercase);
    text.contains('#') || text.contains("__") || text.split(|character| !is_word(character)).any(is_macro)
}

/// Whether each bracket outside of strings and comments has its partner. Of `#if` and `#else`, only the first branch counts.
pub(crate) fn is_balanced(text: &str) -> bool {
    let mut reader = Reader { text, characters: text.char_indices().peekable(), is_line_start: true, last: ' ' };
    let mut open = Vec::new();
    while let Some(bracket) = reader.next_bracket() {
        let partner = match bracket {
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => {
                open.push(bracket);
                continue;
            }
        };
        if open.pop() != Some(partner) {
            return false;
        }
    }
    open.is_empty()
}

struct Reader<'a> {
    text: &'a str,
    characters: Peekable<CharIndices<'a>>,
    is_line_start: bool,
    last: char,
}

impl Reader<'_> {
    fn next_bracket(&mut self) -> Option<char> {
        loop {
            let (at, character) = self.characters.next()?;
            let last = std::mem::replace(&mut self.last, character);
            match character {
                '\n' => self.is_line_start = true,
                '#' if self.is_line_start => self.directive(),
                '/' if self.next_is('/') => {
                    self.line();
                }
                '/' if self.next_is('*') => self.skip_past(at + 2, "*/"),
                '"' if last == 'R' => self.raw(at),
                '"' => self.quoted('"'),
                // In `1'000` it is part of the number.
                '\'' if !last.is_ascii_hexdigit() => self.quoted('\''),
                '(' | ')' | '[' | ']' | '{' | '}' => {
                    self.is_line_start = false;
                    return Some(character);
                }
                _ => self.is_line_start &= character.is_whitespace(),
            }
        }
    }

    fn next_is(&mut self, wanted: char) -> bool {
        self.characters.peek().is_some_and(|(_, next)| *next == wanted)
    }

    /// Skips to the end of the line; a backslash at the end joins the next one. Returns the text of it.
    fn line(&mut self) -> &str {
        let start = self.characters.peek().map_or(self.text.len(), |(at, _)| *at);
        let mut last = ' ';
        let mut end = self.text.len();
        for (at, character) in self.characters.by_ref() {
            if character == '\n' && last != '\\' {
                end = at;
                break;
            }
            last = if character == '\r' { last } else { character };
        }
        self.is_line_start = true;
        self.text.get(start..end).unwrap_or_default()
    }

    /// Skips a directive, and after `#else` what belongs to it.
    fn directive(&mut self) {
        let is_other = |name: &str| name.starts_with("else") || name.starts_with("elif");
        if !is_other(self.line().trim_start()) {
            return;
        }
        let mut depth = 1_usize;
        while depth > 0 && self.characters.peek().is_some() {
            let line = self.line().trim_start();
            let Some(name) = line.strip_prefix('#').map(str::trim_start) else { continue };
            if name.starts_with("if") {
                depth += 1;
            } else if name.starts_with("endif") {
                depth -= 1;
            }
        }
    }

    fn quoted(&mut self, quote: char) {
        self.is_line_start = false;
        while let Some((_, character)) = self.characters.next() {
            match character {
                '\\' => {
                    self.characters.next();
                }
                // An apostrophe in `#error don't` or a forgotten quote ends with its line.
                '\n' => {
                    self.is_line_start = true;
                    return;
                }
                _ if character == quote => return,
                _ => {}
            }
        }
    }

    /// `R"mark( … )mark"`, from its first quote.
    fn raw(&mut self, at: usize) {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let Some((mark, _)) = rest.split_once('(').filter(|(mark, _)| mark.len() <= 16 && !mark.contains(['"', ' ', '\n']))
        else {
            return self.quoted('"');
        };
        let end = format!("){mark}\"");
        self.skip_past(at + 1, &end);
    }

    fn skip_past(&mut self, from: usize, end: &str) {
        let rest = self.text.get(from..).unwrap_or_default();
        let stop = rest.find(end).map_or(self.text.len(), |place| from + place + end.len());
        while self.characters.next_if(|(at, _)| *at < stop).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_texts_and_comments_do_not_count() {
        for text in [
            "",
            "f(\")\", ')', '\\'', /* ( */ \"\\\"(\"); // {",
            "R\"x( )\" )x\" [1'000]",
            "#if A\nvoid f(int a) {\n#else\nvoid f() {\n#if B\n#endif\n#endif\n}\n",
            "#define A(x) { \\\n (\n{}\n",
            "#error don't\n{}",
        ] {
            assert!(is_balanced(text), "{text}");
        }
        for text in ["(", ")", "{(})", "\"(\" (", "#if A\n(\n#endif\n"] {
            assert!(!is_balanced(text), "{text}");
        }
    }

    #[test]
    fn an_error_near_a_macro_is_not_believed() {
        let is_sure_of = |text: &str, piece: &str, message: &str| is_sure(text, text.find(piece).unwrap(), message, true);
        assert!(!is_sure_of("JNIEXPORT jint JNICALL f() {}", "jint", "unexpected `jint`"));
        assert!(!is_sure_of("EXPORT a::b f();", ":", "unexpected `:`"));
        assert!(is_sure_of("int a = ;", "=", "unexpected `=`"));
        assert!(!is_sure_of("f(a b)", ")", "unexpected `)`"));
    }
}
