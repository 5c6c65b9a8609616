//! Chunks: the pieces of a file that search indexes. They follow the structure of the text, and every line with content is in at least
//! one of them.

mod lines;
mod markdown;
mod structure;

use crate::text::{clip, fold};
use crate::{Definition, Language, Outline};
use lines::Lines;

/// The number of lines after which a piece of code is split.
const CODE_LINES_MAX: usize = 60;
/// The number of lines after which other text is split.
const TEXT_LINES_MAX: usize = 40;
/// The number of bytes after which a chunk is split, wherever its lines end.
const BYTES_MAX: usize = 8 * 1024;
/// The number of characters of a title.
const TITLE_CHARS_MAX: usize = 400;
/// The number of definitions around a definition that its title names.
const PARENTS_MAX: usize = 8;

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// What it is a piece of, as an index into [`Outline::definitions`].
    pub definition: Option<u32>,
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line, included.
    pub end_line: u32,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// Where it is: `path > Class > method: signature`.
    pub title: String,
}

/// Lines of a text that belong together: from `first` to before `end`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    definition: Option<u32>,
    first: usize,
    end: usize,
}

/// The chunks of a file in the order of its text. Without an outline, or in a language without a grammar, they follow headings and blank
/// lines.
#[must_use]
pub fn chunks(language: Option<Language>, path: &str, text: &str, outline: Option<&Outline>) -> Vec<Chunk> {
    let lines = Lines::new(text);
    let mut chunks = Vec::new();
    match outline.filter(|_| language.is_some()) {
        Some(outline) => {
            for piece in structure::pieces(outline, &lines) {
                let title = title(path, outline, piece.definition);
                cut(&lines, piece, CODE_LINES_MAX, &title, &mut chunks);
            }
        }
        None if markdown::is_markdown(path) => {
            for (piece, headings) in markdown::sections(&lines) {
                let title = std::iter::once(path).chain(headings).collect::<Vec<_>>().join(" > ");
                cut(&lines, piece, TEXT_LINES_MAX, clip(&title, TITLE_CHARS_MAX), &mut chunks);
            }
        }
        None => {
            let piece = Piece { definition: None, first: 0, end: lines.len() };
            cut(&lines, piece, TEXT_LINES_MAX, clip(path, TITLE_CHARS_MAX), &mut chunks);
        }
    }
    chunks
}

/// `path > Class > method: signature`, or the path alone.
fn title(path: &str, outline: &Outline, definition: Option<u32>) -> String {
    let get = |index: Option<u32>| index.and_then(|index| outline.definitions.get(index as usize));
    let Some(Definition { name, parent, signature, .. }) = get(definition) else { return clip(path, TITLE_CHARS_MAX).to_owned() };
    let mut names = vec![name.as_str()];
    let mut next = *parent;
    while let Some(outer) = get(next).filter(|_| names.len() < PARENTS_MAX) {
        names.push(&outer.name);
        next = outer.parent;
    }
    names.push(path);
    names.reverse();
    let place = names.join(" > ");
    fold(&format!("{place}: {signature}"), TITLE_CHARS_MAX)
}

/// Adds a piece as one or more chunks: at most `lines_max` lines and [`BYTES_MAX`] bytes each.
fn cut(lines: &Lines<'_>, piece: Piece, lines_max: usize, title: &str, chunks: &mut Vec<Chunk>) {
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    for (first, end) in lines.split(piece.first, piece.end, lines_max, BYTES_MAX) {
        let (start_byte, end_byte) = lines.bytes(first, end);
        // Only one line alone can still be too long.
        for (start, end_at) in lines.split_bytes(start_byte, end_byte, BYTES_MAX) {
            chunks.push(Chunk {
                definition: piece.definition,
                start_line: narrow(first + 1),
                end_line: narrow(end),
                start: narrow(start),
                end: narrow(end_at),
                title: title.to_owned(),
            });
        }
    }
}
