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
