//! Pieces of code: each function is one, a type is one with its head and its small members, and what is left between them is one.

use super::Piece;
use super::lines::Lines;
use crate::{Definition, DefinitionKind, Outline};

/// A member of a type with at most this many lines stays with its type.
const SMALL_MEMBER_LINES: u32 = 3;
/// A constant, a variable, an alias or a macro with at least this many lines is a piece of its own.
const LARGE_VALUE_LINES: u32 = 6;
/// An opening of a block with at most this many lines stays with what follows.
const HEAD_LINES_MAX: usize = 3;

/// The pieces in the order of the text. Together they have every line with content.
pub(super) fn pieces(outline: &Outline, lines: &Lines<'_>) -> Vec<Piece> {
    let owners = owners(outline, lines.len());
    let mut pieces: Vec<Piece> = Vec::new();
    let mut first = 0;
    // A head that waits for what it opens.
    let mut head: Option<usize> = None;
    for run in owners.chunk_by(|a, b| a == b) {
        let end = first + run.len();
        let definition = run.first().copied().flatten();
        let (start, stop) = lines.trim(first, end);
        if start < stop {
            match pieces.last_mut() {
                // A bracket alone on its line belongs to what it closes.
                Some(last) if head.is_none() && has_no_words(lines, start, stop) => last.end = stop,
                _ if definition.is_none() && stop == end && end < owners.len() && is_head(lines, start, stop) => {
                    head = Some(start)
                }
                _ => pieces.push(Piece { definition, first: head.take().unwrap_or(start), end: stop }),
            }
        }
        first = end;
    }
    pieces
}

/// For each line, the definition whose piece it is in.
fn owners(outline: &Outline, count: usize) -> Vec<Option<u32>> {
    let mut owners: Vec<Option<u32>> = vec![None; count];
    // Whether a definition is in a function: then it stays in the function's piece.
    let mut is_inside = Vec::with_capacity(outline.definitions.len());
    for (index, definition) in (0_u32..).zip(&outline.definitions) {
        let parent = definition.parent.and_then(|parent| outline.definitions.get(parent as usize));
        let parent_is_inside = definition.parent.and_then(|parent| is_inside.get(parent as usize).copied()).unwrap_or(false);
        let inside = parent_is_inside || parent.is_some_and(|parent| contains(parent, definition) && is_function(parent.kind));
        is_inside.push(inside);
        if inside || !has_piece(definition, parent) {
            continue;
        }
        let first = definition.start_line.saturating_sub(1) as usize;
        // One pass over a line for each level of nesting; what is inside of functions does not get here.
        for owner in owners.iter_mut().take(definition.end_line as usize).skip(first) {
            *owner = Some(index);
        }
    }
    owners
}

/// A method may have its type as parent and stand elsewhere.
fn contains(parent: &Definition, definition: &Definition) -> bool {
    parent.start <= definition.start && definition.end <= parent.end
}

fn is_function(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Function | DefinitionKind::Method)
}

/// Whether a definition has a piece of its own.
fn has_piece(definition: &Definition, parent: Option<&Definition>) -> bool {
    let height = definition.end_line.saturating_sub(definition.start_line).saturating_add(1);
    match definition.kind {
        DefinitionKind::Function | DefinitionKind::Method => {
            let is_member = parent.is_some_and(|parent| !is_function(parent.kind) && contains(parent, definition));
            let is_in_a_type = is_member && parent.is_some_and(|parent| parent.kind != DefinitionKind::Module);
            !is_in_a_type || height > SMALL_MEMBER_LINES
        }
        DefinitionKind::Constant | DefinitionKind::Variable | DefinitionKind::Type | DefinitionKind::Macro => {
            height >= LARGE_VALUE_LINES
        }
        _ => true,
    }
}

/// A short opening like `impl A {`, which is no definition itself, stays with what follows.
fn is_head(lines: &Lines<'_>, first: usize, end: usize) -> bool {
    end - first <= HEAD_LINES_MAX && lines.get(end - 1).trim_end().ends_with('{')
}

fn has_no_words(lines: &Lines<'_>, first: usize, end: usize) -> bool {
    (first..end).all(|line| {
        let text = lines.get(line).trim();
        text == "end" || !text.chars().any(char::is_alphanumeric)
    })
}
