//! `source` and `.` of shell scripts. A literal path is taken as it is written. Before a path there often is the script's own folder,
//! as a variable or a command: `"$(dirname "$0")/lib.sh"` is taken as `./lib.sh`.

use tree_sitter::Node;

use crate::collect::Found;
use crate::text::{Span, clip, line, unquote};
use crate::{Bounds, Import, ImportKind};

/// Words that tell that a variable or a command holds the script's own folder.
const OWN_FOLDER: [&str; 4] = ["dirname", "bash_source", "dir", "here"];

/// Reads `source a.sh`, `. a.sh` and their quoted forms.
pub(crate) fn walk(node: Node<'_>, text: &str, bounds: &Bounds, found: &mut Found) {
    let Some(path) = node.child_by_field_name("argument").and_then(|argument| path(argument, text)) else { return };
    let path = clip(&path, bounds.text_chars_max).to_owned();
    let import = Import { kind: ImportKind::Relative, path, names: Vec::new(), location: None, line: line(node) };
    found.import(Span::of(node).start, import, bounds);
}

fn path(argument: Node<'_>, text: &str) -> Option<String> {
    let written = unquote(Span::of(argument).text(text));
    match argument.kind() {
        "word" | "raw_string" => Some(written.to_owned()),
        // The parts of a string, or of a word with a variable in it: `$DIR/lib.sh`, `"$DIR"/lib.sh`.
        "string" | "concatenation" => {
            let mut cursor = argument.walk();
            let mut parts = argument.named_children(&mut cursor);
            let first = parts.next()?;
            if first.kind() == "string_content" || first.kind() == "word" {
                return parts.next().is_none().then(|| written.to_owned());
            }
            let rest = Span { start: Span::of(first).end, end: Span::of(argument).end }.text(text).trim_end_matches('"');
            let folder = Span::of(first).text(text).to_lowercase();
            let is_own = OWN_FOLDER.iter().any(|word| folder.contains(word));
            (is_own && rest.starts_with('/') && !rest.contains(['$', '`', '"', '\''])).then(|| format!(".{rest}"))
        }
        _ => None,
    }
}

/// Whether an ERROR node stands for valid code: the grammar does not know `<>`, which opens a file to read and write it.
pub(crate) fn is_valid(node: Node<'_>, text: &str) -> bool {
    let (before, behind) = text.split_at_checked(node.start_byte()).unwrap_or_default();
    match Span::of(node).text(text) {
        "<" => behind.starts_with("<>"),
        ">" => before.ends_with('<'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bounds, Language, added_errors};

    fn is_refused(text: &str) -> bool {
        let bounds = Bounds { bytes_max: 1 << 16, parse_ms_max: 60_000, items_max: 100, text_chars_max: 100 };
        !added_errors(Language::Bash, None, text, &bounds).is_empty()
    }

    #[test]
    fn a_file_can_be_opened_to_read_and_write() {
        assert!(!is_refused("exec 3<>file\ncat <>\"$f\"\n"));
        assert!(is_refused("f() {\n  echo 1\n"));
        assert!(is_refused("if true; then\n  echo 1\n"));
    }
}
