//! Cuts a file into passages, along its structure.

use std::sync::Arc;

use base::Timestamp;
use syntax::{Language, Outline};

use super::passage::{FILE_PASSAGES_MAX, Parts, Passage, PassageKind};

/// A definition with more parents than this is named without the outermost ones.
const PARENTS_MAX: usize = 16;

/// The passages of a file, as the index puts them.
pub(crate) fn passages(
    path: &str,
    text: &str,
    language: Option<Language>,
    outline: Option<&Outline>,
    changed_at: Option<Timestamp>,
) -> Vec<Passage> {
    let empty = Outline::default();
    let known = outline.unwrap_or(&empty);
    let mut last: Option<(u32, Arc<str>)> = None;
    let mut passages = Vec::new();
    for chunk in syntax::chunks(language, path, text, outline).into_iter().take(FILE_PASSAGES_MAX) {
        let Some(body) = text.get(chunk.start as usize..chunk.end as usize) else { continue };
        let definition = chunk.definition.and_then(|number| Some((number, known.definitions.get(number as usize)?)));
        // A definition that was split has its doc comment in its first piece.
        let is_first = last.as_ref().is_none_or(|(number, _)| Some(*number) != chunk.definition);
        let symbol = definition.map(|(number, _)| match &last {
            Some((known, symbol)) if *known == number => Arc::clone(symbol),
            _ => symbol(known, number).into(),
        });
        last = definition.zip(symbol.clone()).map(|((number, _), symbol)| (number, symbol));
        let doc = definition.filter(|_| is_first).map_or("", |(_, definition)| definition.doc.as_str());
        let kind = match (outline.is_some(), doc.is_empty()) {
            (true, false) => PassageKind::Documented,
            (true, true) => PassageKind::Code,
            (false, _) => PassageKind::Text,
        };
        // Most comments stand where the model sees them anyway.
        let doc = if has(body, doc) { "" } else { doc };
        let lines = (chunk.start_line, chunk.end_line);
        let names = names_in(known, lines, chunk.definition);
        passages.push(Passage::new(Parts { title: &chunk.title, doc, body, lines, symbol, names, kind, changed_at }));
    }
    passages
}

/// The names of definitions that begin within some lines, besides the one that they show.
fn names_in(outline: &Outline, (first, last): (u32, u32), shown: Option<u32>) -> Vec<Arc<str>> {
    // Definitions are in the order of the text.
    let from = outline.definitions.partition_point(|definition| definition.start_line < first);
    let begun = (0_u32..).zip(&outline.definitions).skip(from).take_while(|(_, definition)| definition.start_line <= last);
    begun.filter(|(number, _)| Some(*number) != shown).map(|(_, definition)| definition.name.as_str().into()).collect()
}

/// Whether a piece of source contains a doc comment: its first line.
fn has(body: &str, doc: &str) -> bool {
    doc.lines().map(str::trim).find(|line| !line.is_empty()).is_none_or(|line| body.contains(line))
}

/// The name of a definition with its parents, joined by dots.
pub(crate) fn symbol(outline: &Outline, definition: u32) -> String {
    let mut names = Vec::new();
    let mut next = Some(definition);
    while let Some(outer) =
        next.and_then(|number| outline.definitions.get(number as usize)).filter(|_| names.len() <= PARENTS_MAX)
    {
        names.push(outer.name.as_str());
        next = outer.parent;
    }
    names.reverse();
    names.join(".")
}

#[cfg(test)]
mod tests {
    use syntax::Bounds;

    use super::*;

    const BOUNDS: Bounds = Bounds { bytes_max: 1 << 20, parse_ms_max: 10_000, items_max: 10_000, text_chars_max: 10_000 };

    #[test]
    fn passages_follow_the_structure() {
        let long: String = (0..200).map(|number| format!("        x{number} = {number}\n")).collect();
        let text = format!(
            "import os\n\nclass Store:\n    def drop(self):\n        \"\"\"Removes a row.\"\"\"\n        row = 1\n        return row\n\n    def tiny(self):\n        pass\n\n    def big(self):\n{long}"
        );
        let outline = syntax::outline(Language::Python, &text, &BOUNDS).unwrap();
        let found = passages("a/store.py", &text, Some(Language::Python), Some(&outline), None);
        let drop = found.iter().find(|one| one.symbol.as_deref() == Some("Store.drop")).unwrap();
        assert!(
            drop.kind == PassageKind::Documented && drop.start_line == 4 && drop.text.starts_with("a/store.py > Store > drop")
        );
        assert_eq!(drop.text.matches("Removes a row").count(), 1);
        let big: Vec<_> = found.iter().filter(|one| one.symbol.as_deref() == Some("Store.big")).collect();
        assert!(big.len() > 2 && big.iter().all(|one| one.kind == PassageKind::Code));
        assert!(found.iter().any(|one| one.text.contains("import os")));
        let store: Vec<_> = found.iter().filter(|one| one.symbol.as_deref() == Some("Store")).collect();
        assert!(store.iter().any(|one| one.names.iter().any(|name| &**name == "tiny")), "{store:?}");
    }

    #[test]
    fn other_texts_are_cut_too() {
        let found = passages("notes.md", "# One\n\nText.\n\n# Two\n\nMore.\n", None, None, None);
        assert!(found.len() == 2 && found.iter().all(|one| one.kind == PassageKind::Text && one.symbol.is_none()), "{found:?}");
        assert!(passages("empty", "", None, None, None).is_empty());
        assert!(passages("x", &"a\n".repeat(1_000_000), None, None, None).len() <= FILE_PASSAGES_MAX);
    }
}
