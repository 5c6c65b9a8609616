//! Questions from a history: what the subject of a commit says must find the files that it changed.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

use base::{Error, Result};

use super::super::passage::{Passage, beginning};
use super::documented::passages_of;
use super::files::{self, Budget};
use super::{EvaluationQuestion, EvaluationSet, Unit};
use crate::git::{Bounds, Content, LogFilter, Repository};

/// A change of more files than this is not about any of them.
const CHANGED_MAX: usize = 20;
/// Subjects with fewer words say too little.
const WORDS_MIN: usize = 2;
/// The length of a question in bytes.
const QUESTION_BYTES: usize = 600;
/// Older commits are not read.
const COMMITS_MAX: usize = 20_000;
/// What one page of the log may cost.
const PAGE: Bounds = Bounds { commits: 500, bytes: 1 << 30, wall: Duration::from_secs(60) };

/// One change of a repository.
#[derive(Clone, Debug)]
pub(super) struct RecordedChange {
    /// The subject. Its beginning is the question.
    pub(super) subject: String,
    /// The changed paths.
    pub(super) paths: Vec<String>,
}

/// Reads the commits of a repository and the files of the commit that is checked out.
pub(super) fn read(folder: &Path) -> Result<EvaluationSet> {
    let none = || Error::invalid("history", format!("`{}` is not a git repository with commits", folder.display()));
    let repository = Repository::discover(folder).ok_or_else(none)?;
    let head = repository.head()?.ok_or_else(none)?;
    let (changes, mut paths) = log(&repository)?;
    // A very large commit does not list all of its files, and a shallow clone does not have all commits.
    paths.extend(files::list(folder)?);
    let mut budget = Budget::default();
    let mut texts = Vec::new();
    for path in paths {
        // A file that is gone, a binary and a very large file are not searched.
        if let Content::Text(text) = repository.text_at(&path, &head)? {
            budget.take(text.len())?;
            let passages = passages_of(&path, &text);
            texts.push((path, passages));
        }
    }
    Ok(changed(texts, changes))
}

/// The changes of all commits besides merges, newest first, and every path that they name.
fn log(repository: &Repository) -> Result<(Vec<RecordedChange>, BTreeSet<String>)> {
    let mut filter = LogFilter { bounds: PAGE, ..LogFilter::default() };
    let (mut changes, mut paths, mut commits) = (Vec::new(), BTreeSet::new(), 0);
    loop {
        let page = repository.log(&filter)?;
        commits += page.commits.len();
        for commit in page.commits {
            let changed: Vec<String> = commit.changes.into_iter().map(|change| change.path).collect();
            paths.extend(changed.iter().filter(|path| is_searched(path)).cloned());
            if !commit.is_merge && !commit.is_partial {
                changes.push(RecordedChange { subject: commit.subject, paths: changed });
            }
        }
        filter.cursor = page.next;
        if filter.cursor.is_none() || commits >= COMMITS_MAX {
            return Ok((changes, paths));
        }
    }
}

/// Whether the index would search a file: it leaves hidden files out.
fn is_searched(path: &str) -> bool {
    !path.split('/').any(|part| part.starts_with('.'))
}

/// Makes a set of the files of a tree and the changes that led to it. Change logs are never an answer: each change is in them.
fn changed(files: Vec<(String, Vec<Passage>)>, changes: Vec<RecordedChange>) -> EvaluationSet {
    let known: HashSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let mut questions = Vec::new();
    for RecordedChange { subject, paths } in changes {
        let words: Vec<&str> = subject.split_whitespace().collect();
        let text = beginning(&words.join(" "), QUESTION_BYTES).to_owned();
        let is_answer = |path: &&String| known.contains(path.as_str()) && !is_change_log(path);
        let relevant: HashSet<String> = paths.iter().filter(is_answer).cloned().collect();
        if words.len() >= WORDS_MIN && paths.len() <= CHANGED_MAX && !relevant.is_empty() {
            questions.push(EvaluationQuestion { text, relevant });
        }
    }
    EvaluationSet { files, questions, unit: Unit::File }
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
        let change = |subject: &str, paths: &[&str]| RecordedChange {
            subject: subject.to_owned(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        };
        let many: Vec<String> = (0..20).map(|number| format!("{number}.rs")).chain(["a.rs".to_owned()]).collect();
        let changes = vec![
            change("Fix  the parser", &["a.rs", "CHANGELOG.md", "gone.rs"]),
            change("Fix", &["a.rs"]),
            change("Remove a file", &["gone.rs"]),
            change("Write the log", &["CHANGELOG.md"]),
            RecordedChange { subject: "Rename everything".to_owned(), paths: many },
        ];
        let set = changed(files, changes);
        assert_eq!(set.questions.len(), 1);
        assert_eq!(set.questions[0].text, "Fix the parser");
        assert_eq!(set.questions[0].relevant, HashSet::from(["a.rs".to_owned()]));
    }

    #[test]
    fn hidden_files_are_left_out() {
        assert!(is_searched("src/a.rs") && !is_searched(".github/a.yml") && !is_searched("src/.a"));
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap_err().message().contains("is not a git repository"));
    }

    #[test]
    fn files_of_a_very_large_commit_are_searched() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
            let mut command = std::process::Command::new("git");
            let done = command.args(identity).args(arguments).current_dir(folder.path()).output().unwrap();
            assert!(done.status.success(), "{arguments:?}: {done:?}");
        };
        git(&["init", "--quiet"]);
        for number in 0..1_010 {
            std::fs::write(folder.path().join(format!("{number}.txt")), format!("{number}\n")).unwrap();
        }
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", "Import all files"]);
        std::fs::write(folder.path().join("new.txt"), "not committed").unwrap();
        let set = read(folder.path()).unwrap();
        assert_eq!((set.files.len(), set.questions.len()), (1_010, 0));
    }
}
