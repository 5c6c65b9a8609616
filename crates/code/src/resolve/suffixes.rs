//! Files by the end of their path, for languages that search folders which the project does not name.

use std::collections::HashMap;

use super::path::{base, ends_with};

/// A file name that more files have is too common to search.
const SAME_NAME_MAX: usize = 1_000;

/// Files by name.
#[derive(Default)]
pub(super) struct Suffixes {
    by_name: HashMap<Box<str>, Vec<Box<str>>>,
}

impl Suffixes {
    pub(super) fn new<'a>(files: impl Iterator<Item = &'a Box<str>>) -> Self {
        let mut by_name: HashMap<Box<str>, Vec<Box<str>>> = HashMap::new();
        for file in files {
            match by_name.get_mut(base(file)) {
                Some(files) if files.len() > SAME_NAME_MAX => {}
                Some(files) => files.push(file.clone()),
                None => drop(by_name.insert(base(file).into(), vec![file.clone()])),
            }
        }
        Self { by_name }
    }

    /// The files whose path ends with these whole parts.
    pub(super) fn find(&self, path: &str) -> Vec<&str> {
        let files = self.by_name.get(base(path)).filter(|files| files.len() <= SAME_NAME_MAX);
        files.into_iter().flatten().filter(|file| ends_with(file, path)).map(|file| &**file).collect()
    }
}
