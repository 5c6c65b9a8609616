//! The data of an evaluation: what was saved, what is asked, and what answers it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use base::{Error, Kind, Result, Timestamp};
use serde::Deserialize;

/// A memory of a set.
#[derive(Clone, Debug, Deserialize)]
pub struct SetMemory {
    /// Its project. A question is asked only in its own project.
    #[serde(default)]
    pub project: String,
    /// Its name in the project.
    pub id: String,
    /// The text.
    pub content: String,
    /// Its type.
    pub r#type: Option<String>,
    /// Its author.
    #[serde(default)]
    pub agent: String,
    /// Its session.
    #[serde(default)]
    pub session: String,
    /// When it was saved. Without a time, it counts as saved together with the one before.
    pub at: Option<Timestamp>,
}

/// A question of a set.
#[derive(Clone, Debug, Deserialize)]
pub struct SetQuestion {
    /// Its project.
    #[serde(default)]
    pub project: String,
    /// Its name.
    #[serde(default)]
    pub id: String,
    /// The question.
    pub query: String,
    /// The names of the memories that answer it.
    pub gold: Vec<String>,
    /// The kind of question.
    pub kind: Option<String>,
    /// The part of the set that it belongs to.
    pub split: Option<String>,
    /// The set that it belongs to.
    #[serde(skip)]
    pub set: String,
}

/// Memories and questions of one or more sets.
#[derive(Clone, Debug, Default)]
pub struct EvaluationSet {
    /// In the order in which they were stored.
    pub memories: Vec<SetMemory>,
    /// The questions.
    pub questions: Vec<SetQuestion>,
}

impl EvaluationSet {
    /// Reads a file of JSON lines, a folder of such files, or a folder of such folders. The name of a set is its folder's.
    pub fn open(&mut self, path: &Path) -> Result<()> {
        for (name, file) in files(path)? {
            let lines = std::fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
            self.read(&name, &lines).map_err(|error| unreadable(&file, &error.message()))?;
        }
        Ok(())
    }

    /// Reads JSON lines of the set `name`: a line with `query` is a question, a line with `content` is a memory.
    pub fn read(&mut self, name: &str, lines: &str) -> Result<()> {
        for (index, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let refused = |why: String| Error::new(Kind::InvalidParams, format!("line {}: {why}", index + 1));
            let value: serde_json::Value = serde_json::from_str(line).map_err(|error| refused(error.to_string()))?;
            if value.get("query").is_some() {
                let question = serde_json::from_value(value).map_err(|error| refused(error.to_string()))?;
                self.questions.push(SetQuestion { set: name.to_owned(), ..question });
            } else if value.get("content").is_some() {
                self.memories.push(serde_json::from_value(value).map_err(|error| refused(error.to_string()))?);
            } else {
                return Err(refused("neither a memory (`id`, `content`) nor a question (`query`, `gold`)".to_owned()));
            }
        }
        Ok(())
    }

    /// Keeps only the questions of one part.
    pub fn only(&mut self, split: &str) {
        self.questions.retain(|question| question.split.as_deref() == Some(split));
    }

    pub(super) fn check(&self) -> Result<()> {
        let mut known = HashSet::new();
        for memory in &self.memories {
            if !known.insert((memory.project.as_str(), memory.id.as_str())) {
                return Err(Error::new(Kind::InvalidParams, format!("two memories of one project have the id `{}`", memory.id)));
            }
        }
        for question in &self.questions {
            if let Some(unknown) = question.gold.iter().find(|gold| !known.contains(&(question.project.as_str(), gold.as_str())))
            {
                let message = format!("unknown memory `{unknown}` in the answers to `{}`", question.query);
                return Err(Error::new(Kind::InvalidParams, message));
            }
        }
        Ok(())
    }
}

/// The files of a path, each with the name of its set.
fn files(path: &Path) -> Result<Vec<(String, PathBuf)>> {
    if !path.is_dir() {
        return Ok(vec![("set".to_owned(), path.to_owned())]);
    }
    let sets = match lines_in(path)?.is_empty() {
        false => vec![path.to_owned()],
        true => entries(path)?.into_iter().filter(|entry| entry.is_dir()).collect(),
    };
    let mut files = Vec::new();
    for set in sets {
        let name = set.file_name().map_or_else(|| "set".to_owned(), |name| name.to_string_lossy().into_owned());
        files.extend(lines_in(&set)?.into_iter().map(|file| (name.clone(), file)));
    }
    if files.is_empty() {
        return Err(unreadable(path, &"neither this folder nor a folder in it has a .jsonl file"));
    }
    Ok(files)
}

/// The `.jsonl` files directly in a folder.
fn lines_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_lines = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "jsonl");
    Ok(entries(folder)?.into_iter().filter(is_lines).collect())
}

/// The contents of a folder, sorted by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    entries.sort();
    Ok(entries)
}

fn unreadable(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::new(Kind::InvalidParams, format!("cannot read {}: {why}", path.display()))
}
