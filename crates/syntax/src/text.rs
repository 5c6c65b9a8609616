//! Small pieces of text: cut to a length, folded to one line, freed of quotes.

/// A range of bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    /// A node's range. Texts longer than 32 bits are refused before the parse.
    pub(crate) fn of(node: tree_sitter::Node<'_>) -> Self {
        let narrow = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Self { start: narrow(node.start_byte()), end: narrow(node.end_byte()) }
    }

    /// The text in the range; empty if the range is not one of `text`.
    pub(crate) fn text(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// The row of a node, from 1.
pub(crate) fn line(node: tree_sitter::Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX - 1).saturating_add(1)
}

/// The first `chars_max` characters.
pub(crate) fn clip(text: &str, chars_max: usize) -> &str {
    // A text with as many bytes as characters are allowed needs no count.
    if text.len() <= chars_max {
        return text;
    }
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// The text on one line: runs of white space become one blank. At most `chars_max` characters.
pub(crate) fn fold(text: &str, chars_max: usize) -> String {
    // White space takes room too, but not without end: a qualifier can be as long as the text, and there can be many of them.
    let text = clip(text, chars_max.saturating_mul(8));
    let mut folded = String::with_capacity(text.len().min(chars_max.saturating_mul(2)).min(1024));
    let mut count = 0_usize;
    for word in text.split_whitespace() {
        let glue = usize::from(!folded.is_empty());
        if count + glue >= chars_max {
            break;
        }
        if glue == 1 {
            folded.push(' ');
        }
        let word = clip(word, chars_max - count - glue);
        folded.push_str(word);
        count += glue + word.chars().count();
    }
    folded
}

/// A path or a name without the quotes or angle brackets around it.
pub(crate) fn unquote(text: &str) -> &str {
    let trimmed = text.trim();
    for (open, close) in [('"', '"'), ('\'', '\''), ('`', '`'), ('<', '>')] {
        if let Some(inner) = trimmed.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
            // `<~>` is an operator.
            let is_operator = open == '<' && !inner.contains(char::is_alphanumeric);
            return if is_operator { trimmed } else { inner };
        }
    }
    trimmed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters_and_not_at_bytes() {
        assert_eq!(clip("héllo", 2), "hé");
        assert_eq!(clip("hé", 2), "hé");
        assert_eq!(fold("  fn  a(\n\tb: u8,\n)  ", 100), "fn a( b: u8, )");
        assert_eq!(fold("ab cd ef", 4), "ab c");
        assert_eq!(fold("ab cd", 3), "ab");
    }

    #[test]
    fn quotes_go_only_in_pairs() {
        assert_eq!(unquote("\"./a\""), "./a");
        assert_eq!(unquote(" <vector> "), "vector");
        assert_eq!(unquote("<~>"), "<~>");
        assert_eq!(unquote("'a"), "'a");
        assert_eq!(unquote("\""), "\"");
    }
}
