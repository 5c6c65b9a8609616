//! Questions from doc comments: what a comment says must find its function, with all comments removed from what is searched.

use std::collections::{BTreeMap, HashSet};

use syntax::{Bounds, Definition, DefinitionKind, Language, Outline};

use super::super::cut::{passages, symbol};
use super::super::passage::{Passage, beginning};
use super::{EvaluationQuestion, EvaluationSet, Unit};
use crate::PARSE_BOUNDS;

/// Comments with fewer words say too little.
const WORDS_MIN: usize = 5;
/// Functions with fewer lines besides their comment do too little.
const LINES_MIN: usize = 4;
/// The length of a question in bytes.
const QUESTION_BYTES: usize = 300;
/// More than the index has, so that whole comments are removed.
const BOUNDS: Bounds = Bounds { bytes_max: 4 * 1024 * 1024, parse_ms_max: 10_000, items_max: 100_000, text_chars_max: 100_000 };

/// Makes a set of files with paths and texts.
pub(super) fn documented(files: Vec<(String, String)>) -> EvaluationSet {
    let mut answers: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    let mut indexed = Vec::with_capacity(files.len());
    for (path, text) in files {
        let outline = outline_of(&path, &text, &BOUNDS).map(|(_, outline)| outline).unwrap_or_default();
        let (bare, removed) = without_docs(&text, &outline);
        let passages = passages_of(&path, &bare);
        let symbols: HashSet<&str> = passages.iter().filter_map(|passage| passage.symbol.as_deref()).collect();
        for (number, definition) in (0..).zip(&outline.definitions) {
            let name = symbol(&outline, number);
            // A function inside of a function has no passage of its own.
            if let Some(question) = question(definition, &removed).filter(|_| symbols.contains(name.as_str())) {
                answers.entry(question).or_default().insert(format!("{path}#{name}"));
            }
        }
        indexed.push((path, passages));
    }
    let questions = answers.into_iter().map(|(text, relevant)| EvaluationQuestion { text, relevant }).collect();
    EvaluationSet { files: indexed, questions, unit: Unit::Symbol }
}

/// Cuts a text as the index does.
pub(super) fn passages_of(path: &str, text: &str) -> Vec<Passage> {
    let (language, outline) = outline_of(path, text, &PARSE_BOUNDS).unzip();
    passages(path, text, language, outline.as_ref(), None)
}

fn outline_of(path: &str, text: &str, bounds: &Bounds) -> Option<(Language, Outline)> {
    let language = Language::of(path, text)?;
    Some((language, syntax::outline(language, text, bounds).ok()?))
}

/// The first paragraph of the comment, if it can be a question.
fn question(definition: &Definition, removed: &HashSet<usize>) -> Option<String> {
    if !matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method) {
        return None;
    }
    let words: Vec<&str> = definition.doc.split("\n\n").next()?.split_whitespace().collect();
    let lines = (definition.start_line as usize..=definition.end_line as usize).filter(|line| !removed.contains(line)).count();
    (words.len() >= WORDS_MIN && lines >= LINES_MIN).then(|| beginning(&words.join(" "), QUESTION_BYTES).to_owned())
}

/// A text with empty lines in place of its doc comments, and the numbers of these lines.
fn without_docs(text: &str, outline: &Outline) -> (String, HashSet<usize>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut removed = HashSet::new();
    for definition in outline.definitions.iter().filter(|definition| !definition.doc.is_empty()) {
        let mut doc = definition.doc.lines().map(plain).filter(|line| !line.is_empty()).peekable();
        let own = (1..).zip(&lines).skip((definition.start_line as usize).saturating_sub(1));
        let mut quote: Option<&str> = None;
        for (number, line) in own.take((definition.end_line.saturating_sub(definition.start_line) as usize).saturating_add(1)) {
            if let Some(mark) = quote {
                removed.insert(number);
                if line.contains(mark) {
                    break;
                }
                continue;
            }
            let Some(expected) = doc.peek() else { break };
            let found = plain(line);
            if let Some(mark) = ["\"\"\"", "'''"].into_iter().find(|mark| line.contains(mark)) {
                removed.insert(number);
                if line.matches(mark).count() > 1 {
                    break;
                }
                quote = Some(mark);
            } else if !found.is_empty() && found == *expected {
                removed.insert(number);
                doc.next();
            }
        }
    }
    let kept = (1..).zip(&lines).map(|(number, line)| if removed.contains(&number) { "" } else { line });
    (kept.collect::<Vec<_>>().join("\n"), removed)
}

/// A line without comment marks and without spaces between words.
fn plain(line: &str) -> String {
    let inner = line.trim().trim_start_matches(['/', '*', '!', '#', '-']).trim_end_matches("*/").trim_matches(['"', '\'']);
    inner.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "class Store:\n    def drop(self, key):\n        \"\"\"Removes a row that nobody needs.\n\n        More.\n        \"\"\"\n        row = self.find(key)\n        if row:\n            self.rows.remove(row)\n";
    const RUST: &str = "/// Counts the words of a text.\nfn count(text: &str) -> usize {\n    // Splits at spaces.\n    text.split(' ').filter(|word| !word.is_empty()).count()\n}\n";

    #[test]
    fn comments_become_questions_and_leave_the_text() {
        let files = vec![("store.py".to_owned(), PYTHON.to_owned()), ("count.rs".to_owned(), RUST.to_owned())];
        let set = documented(files);
        let mut found: Vec<_> = set.questions.iter().map(|one| (one.text.as_str(), one.relevant.clone())).collect();
        found.sort_by_key(|(text, _)| *text);
        let names = |name: &str| HashSet::from([name.to_owned()]);
        assert_eq!(
            found,
            [
                ("Counts the words of a text.", names("count.rs#count")),
                ("Removes a row that nobody needs.", names("store.py#Store.drop"))
            ]
        );
        for (path, passages) in &set.files {
            let text: String = passages.iter().map(|passage| passage.text.as_str()).collect();
            assert!(!text.contains("nobody") && !text.contains("Counts") && !text.contains("\"\"\""), "{path}: {text}");
        }
        let has = |file: usize, text: &str| set.files[file].1.iter().any(|passage| passage.text.contains(text));
        assert!(has(0, "self.rows.remove(row)") && has(1, "Splits at"));
        assert!(set.files[0].1.iter().any(|passage| passage.symbol.as_deref() == Some("Store.drop")));
    }
}
