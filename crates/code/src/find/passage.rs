//! Passages: the pieces of files that are searched, as the index hands them over.

use std::sync::Arc;

use base::Timestamp;
use sha2::{Digest, Sha256};

/// The maximum number of passages of a project. Further files are not searched, and the coverage says so.
pub(crate) const PROJECT_PASSAGES_MAX: usize = 500_000;
/// The maximum number of passages of a file. A file with more is data.
pub(crate) const FILE_PASSAGES_MAX: usize = 2_000;
/// The maximum length of a passage's text in bytes. The rest is not searched.
pub(crate) const PASSAGE_BYTES_MAX: usize = 64 * 1024;
/// The number of bytes of a passage that a model gets. The bundled model reads 256 word pieces, which are about 900 bytes of code and
/// at most 1,500 bytes of prose.
pub(crate) const MODEL_BYTES_MAX: usize = 2_000;

/// What a passage is, in the order in which passages get their vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PassageKind {
    /// A definition with a doc comment.
    Documented,
    /// Other code.
    Code,
    /// Everything else.
    Text,
}

/// A piece of a file: a function, the head of a class, a section of a text.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    /// What is searched: title, doc comment and body. [`Passage::new`] writes it.
    pub(crate) text: String,
    /// The SHA-256 of the text.
    pub(crate) hash: [u8; 32],
    /// The first line, from 1.
    pub(crate) start_line: u32,
    /// The last line, included.
    pub(crate) end_line: u32,
    /// The definition that it shows, with its parents: `Class.method`, `module::function`.
    pub(crate) symbol: Option<Arc<str>>,
    /// The names of other definitions that begin in it, without parents.
    pub(crate) names: Vec<Arc<str>>,
    /// What it is.
    pub(crate) kind: PassageKind,
    /// When the file was last changed, if that is known.
    pub(crate) changed_at: Option<Timestamp>,
}

/// The parts of a passage.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'a> {
    /// The path, the symbol with its parents and the signature.
    pub(crate) title: &'a str,
    /// The doc comment without comment marks; empty if there is none, or if the source shows it.
    pub(crate) doc: &'a str,
    /// The source text.
    pub(crate) body: &'a str,
    /// The first and the last line.
    pub(crate) lines: (u32, u32),
    /// The definition with its parents.
    pub(crate) symbol: Option<Arc<str>>,
    /// The names of other definitions that begin in it.
    pub(crate) names: Vec<Arc<str>>,
    /// What it is.
    pub(crate) kind: PassageKind,
    /// When the file was last changed.
    pub(crate) changed_at: Option<Timestamp>,
}

impl Passage {
    /// Puts a passage together. The model reads only the beginning of the text, so what describes the passage best comes first.
    pub(crate) fn new(parts: Parts<'_>) -> Self {
        let Parts { title, doc, body, lines: (start_line, end_line), symbol, names, kind, changed_at } = parts;
        let mut text = String::with_capacity((title.len() + doc.len() + body.len() + 2).min(PASSAGE_BYTES_MAX));
        for part in [title, doc, body].into_iter().filter(|part| !part.is_empty()) {
            if !text.is_empty() {
                text.push('\n');
            }
            let rest = PASSAGE_BYTES_MAX.saturating_sub(text.len());
            text.push_str(beginning(part, rest));
        }
        let hash = Sha256::digest(text.as_bytes()).into();
        Self { text, hash, start_line, end_line: end_line.max(start_line), symbol, names, kind, changed_at }
    }

    /// The part of the text that a model gets.
    pub(crate) fn seen_by_models(&self) -> &str {
        beginning(&self.text, MODEL_BYTES_MAX)
    }
}

/// At most the first `bytes` bytes of a text, cut between characters.
pub(super) fn beginning(text: &str, bytes: usize) -> &str {
    text.split_at_checked(text.floor_char_boundary(bytes.min(text.len()))).map_or(text, |(beginning, _)| beginning)
}

/// Takes the passages of files, as the index finds them.
pub(crate) trait PassageSink: Send + Sync {
    /// Replaces the passages of a file. Passages that the file already had, by path and text, keep their vectors.
    fn put_file(&self, file: u32, path: &str, passages: Vec<Passage>);

    /// Removes a file.
    fn remove_file(&self, file: u32);

    /// The approximate memory in bytes.
    fn bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_begins_with_what_describes_it() {
        let parts = Parts {
            title: "a.py > f",
            doc: "Adds.",
            body: "def f(): ...",
            lines: (3, 1),
            symbol: Some("f".into()),
            names: Vec::new(),
            kind: PassageKind::Code,
            changed_at: None,
        };
        let passage = Passage::new(parts);
        assert_eq!(passage.text, "a.py > f\nAdds.\ndef f(): ...");
        assert_eq!((passage.start_line, passage.end_line), (3, 3), "lines never run backwards");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let body = "ä".repeat(PASSAGE_BYTES_MAX);
        let parts = Parts {
            title: "t",
            doc: "",
            body: &body,
            lines: (1, 2),
            symbol: None,
            names: Vec::new(),
            kind: PassageKind::Text,
            changed_at: None,
        };
        let passage = Passage::new(parts);
        assert!(passage.text.len() <= PASSAGE_BYTES_MAX && passage.text.ends_with('ä'));
        assert!(passage.seen_by_models().len() <= MODEL_BYTES_MAX);
    }
}
