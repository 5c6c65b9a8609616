//! Line breaks and a byte order mark change nothing.

use syntax::{Bounds, Language, Outline, outline};

use crate::samples;

const BOUNDS: Bounds = Bounds { bytes_max: 1 << 20, parse_ms_max: 60_000, items_max: 10_000, text_chars_max: 400 };

/// The outline without bytes, which differ.
fn lines_only(language: Language, text: &str) -> Outline {
    let mut found = outline(language, text, &BOUNDS).unwrap();
    for definition in &mut found.definitions {
        (definition.start, definition.end) = (0, 0);
    }
    found
}

#[test]
fn files_of_windows_have_the_same_outline() {
    for (path, language, text) in samples() {
        // A shell reads a carriage return as part of a word, and so does its grammar.
        if language == Language::Bash {
            continue;
        }
        let expected = lines_only(language, &text);
        assert_eq!(lines_only(language, &text.replace('\n', "\r\n")), expected, "{}", path.display());
        assert_eq!(lines_only(language, &format!("\u{feff}{text}")), expected, "{}", path.display());
    }
}
