//! Reads the strings out of JSON, or of a part of JSON that was cut anywhere.

/// Strings of a JSON text.
#[derive(Debug, PartialEq)]
pub(super) struct Strings {
    pub(super) values: Vec<Piece>,
}

/// A string, or the part of it that is there.
#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) is_cut_at_start: bool,
    pub(super) is_cut_at_end: bool,
}

/// The strings of `text`, if it is JSON with no other keys than `keys`: whole, several values in a row, or cut at its ends.
pub(super) fn strings(text: &str, keys: &[&str]) -> Option<Strings> {
    // A part of JSON may begin inside a string. Then the first quote ends one.
    [false, true].into_iter().find_map(|begins_inside| read(text, keys, begins_inside))
}

fn read(text: &str, keys: &[&str], begins_inside: bool) -> Option<Strings> {
    let (mut values, mut has_key) = (Vec::new(), false);
    let mut rest = text;
    let mut is_first = begins_inside;
    loop {
        if is_first {
            is_first = false;
        } else {
            let open = rest.find('"');
            if !is_structure(open.and_then(|open| rest.get(..open)).unwrap_or(rest)) {
                return None;
            }
            let Some(open) = open else { break };
            rest = rest.get(open + 1..)?;
        }
        let is_cut_at_start = begins_inside && values.is_empty() && !has_key;
        let close = end_of_string(rest);
        let literal = close.and_then(|close| rest.get(..close)).unwrap_or(rest);
        let piece = Piece { text: unescaped(literal)?, is_cut_at_start, is_cut_at_end: close.is_none() };
        rest = close.and_then(|close| rest.get(close + 1..)).unwrap_or_default();
        let is_key = rest.trim_start().starts_with(':');
        let is_known = |known: &dyn Fn(&str) -> bool| keys.iter().any(|key| known(key));
        match is_key {
            true if piece.is_cut_at_start && is_known(&|key| key.ends_with(&piece.text)) => has_key = true,
            true if is_known(&|key| key == piece.text) => has_key = true,
            true => return None,
            false if piece.is_cut_at_end && is_known(&|key| key.starts_with(&piece.text)) => {}
            false => values.push(piece),
        }
        if close.is_none() {
            break;
        }
    }
    has_key.then_some(Strings { values })
}

/// The place of the quote that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, letter) in text.bytes().enumerate() {
        match letter {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// What is between strings in JSON, and nothing else.
fn is_structure(text: &str) -> bool {
    let is_word = |word: &str| {
        matches!(word, "" | "true" | "false" | "null")
            || word.bytes().all(|letter| matches!(letter, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
    };
    text.split(|letter: char| letter.is_whitespace() || matches!(letter, '{' | '}' | '[' | ']' | ',' | ':')).all(is_word)
}

/// A string without its escapes. An escape that was cut is left out.
fn unescaped(literal: &str) -> Option<String> {
    const ESCAPE_MAX: usize = 12;
    // Line breaks do not belong into strings, but agents write them.
    let literal = literal.replace('\n', "\\n").replace('\t', "\\t");
    let whole = (0..=ESCAPE_MAX.min(literal.len())).filter_map(|less| literal.get(..literal.len() - less));
    whole.map(|literal| format!("\"{literal}\"")).find_map(|quoted| serde_json::from_str(&quoted).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = ["id", "content", "weight", "observations"];

    fn values(text: &str) -> Option<Vec<String>> {
        strings(text, &KEYS).map(|strings| strings.values.into_iter().map(|piece| piece.text).collect())
    }

    #[test]
    fn strings_are_read_from_any_part_of_json() {
        let whole =
            r#"{"observations": [{"id": "a", "content": "b \"c\"\nd é\u00e9", "weight": -1.5e3}, {"id": "e", "content": null}]}"#;
        let text = "b \"c\"\nd éé";
        assert_eq!(values(whole).unwrap(), ["a", text, "e"]);
        let bytes = whole.len();
        let is_inside_escape =
            |start: usize| whole[..start].ends_with('\\') || whole[..start].contains("\\u") && !whole[..start].contains("00e9");
        for start in (0..bytes).filter(|start| whole.is_char_boundary(*start) && !is_inside_escape(*start)) {
            let Some(found) = whole.get(start..).and_then(values) else { continue };
            assert!(
                found.iter().all(|found| ["a", text, "e", "null"].iter().any(|known| known.ends_with(found.as_str()))),
                "{found:?}"
            );
        }
        assert_eq!(values(r#"ent": "first", "content": "second"#).unwrap(), ["first", "second"]);
        assert_eq!(values(r#"the end", "weight": 1}, {"id": "b", "content": "begi"#).unwrap(), ["the end", "b", "begi"]);
        assert_eq!(values("{\"id\": \"a\"}\n{\"id\": \"b\"},").unwrap(), ["a", "b"]);
    }

    #[test]
    fn other_texts_and_other_keys_are_not_read() {
        for text in
            ["", "a note", "a \"quoted\" note", r#"{"fix": "a"}"#, r#"{"id": "a", "fix": "b"}"#, r#"{"id": a}"#, r#"["a", "b"]"#]
        {
            assert_eq!(values(text), None, "{text}");
        }
    }
}
