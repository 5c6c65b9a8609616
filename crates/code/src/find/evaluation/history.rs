//! Questions from a history: what the message of a change says must find the files that it changed.

use std::collections::HashSet;

use super::super::passage::{Passage, beginning};
use super::{EvaluationQuestion, EvaluationSet, Unit};

/// A change of more files than this is not about any of them.
const FILES_MAX: usize = 25;
/// The same for files that still exist.
const ANSWERS_MAX: usize = 10;
/// Messages with fewer words say too little.
const WORDS_MIN: usize = 2;
/// The length of a question in bytes.
const QUESTION_BYTES: usize = 600;

/// One change of a repository.
#[derive(Clone, Debug)]
pub(crate) struct RecordedChange {
    /// The message. Its beginning is the question.
    pub(crate) message: String,
    /// The changed paths.
    pub(crate) paths: Vec<String>,
}

/// Makes a set of the files of a tree and the changes that led to it. Change logs are never an answer: each change is in them.
pub(crate) fn changed(files: Vec<(String, Vec<Passage>)>, changes: Vec<RecordedChange>) -> EvaluationSet {
    let known: HashSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let mut questions = Vec::new();
    for RecordedChange { message, paths } in changes {
        let words: Vec<&str> = message.split_whitespace().collect();
        let text = beginning(&words.join(" "), QUESTION_BYTES).to_owned();
        let is_answer = |path: &&String| known.contains(path.as_str()) && !is_change_log(path);
        let relevant: HashSet<String> = paths.iter().filter(is_answer).cloned().collect();
        let says_enough = text.split_whitespace().count() >= WORDS_MIN;
        if says_enough && paths.len() <= FILES_MAX && !relevant.is_empty() && relevant.len() <= ANSWERS_MAX {
            questions.push(EvaluationQuestion { text, relevant });
        }
    }
    EvaluationSet { files, questions, unit: Unit::File, links: Vec::new() }
}

fn is_change_log(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    ["changelog", "changes", "news", "history"].iter().any(|log| name.starts_with(log))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_of_few_existing_files_are_asked() {
        let files = ["a.rs", "b.rs", "CHANGELOG.md"].map(|path| (path.to_owned(), Vec::new())).to_vec();
        let change = |message: &str, paths: &[&str]| RecordedChange {
            message: message.to_owned(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        };
        let many: Vec<String> = (0..30).map(|number| format!("{number}.rs")).chain(["a.rs".to_owned()]).collect();
        let changes = vec![
            change("Fix the parser\n\nIt was wrong.", &["a.rs", "CHANGELOG.md", "gone.rs"]),
            change("Fix", &["a.rs"]),
            change("Remove a file", &["gone.rs"]),
            change("Write the log", &["CHANGELOG.md"]),
            RecordedChange { message: "Rename everything".to_owned(), paths: many },
        ];
        let set = changed(files, changes);
        assert_eq!(set.questions.len(), 1);
        assert_eq!(set.questions[0].text, "Fix the parser It was wrong.");
        assert_eq!(set.questions[0].relevant, HashSet::from(["a.rs".to_owned()]));
    }
}
