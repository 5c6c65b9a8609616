//! The edges of one file as they are found. An edge from a file to itself is dropped, and several candidates are never certain.

use super::{ImportEdge, Resolution, Target};

/// With more candidates than this, nothing is claimed.
pub(super) const CANDIDATES_MAX: usize = 8;

/// Collects the edges of one file.
pub(super) struct Edges<'a> {
    source: &'a str,
    import: u32,
    name: Option<u32>,
    found: Vec<ImportEdge>,
}

impl<'a> Edges<'a> {
    pub(super) fn new(source: &'a str, imports: usize) -> Self {
        Self { source, import: 0, name: None, found: Vec::with_capacity(imports) }
    }

    /// Sets the import, and the name in it, that the next edges belong to.
    pub(super) fn at(&mut self, import: usize, name: Option<usize>) {
        self.import = u32::try_from(import).unwrap_or(u32::MAX);
        self.name = name.and_then(|name| u32::try_from(name).ok());
    }

    pub(super) fn file(&mut self, path: impl Into<Box<str>>, resolution: Resolution) {
        let path = path.into();
        if *path != *self.source {
            self.push(Target::File(path), resolution);
        }
    }

    pub(super) fn exact(&mut self, path: impl Into<Box<str>>) {
        self.file(path, Resolution::Exact);
    }

    pub(super) fn heuristic(&mut self, path: impl Into<Box<str>>) {
        self.file(path, Resolution::Heuristic);
    }

    pub(super) fn external(&mut self, name: &str) {
        self.push(Target::External(name.into()), Resolution::External);
    }

    pub(super) fn unresolved(&mut self) {
        self.push(Target::Nowhere, Resolution::Unresolved);
    }

    /// One candidate is as certain as the caller says. Several are guesses. Too many are none, like no candidate at all.
    pub(super) fn candidates<T: Into<Box<str>>>(&mut self, paths: Vec<T>, one: Resolution) {
        match paths.len() {
            0 => self.unresolved(),
            count if count > CANDIDATES_MAX => self.unresolved(),
            count => {
                let resolution = if count == 1 { one } else { Resolution::Heuristic };
                for path in paths {
                    self.file(path, resolution);
                }
            }
        }
    }

    fn push(&mut self, target: Target, resolution: Resolution) {
        self.found.push(ImportEdge { import: self.import, name: self.name, target, resolution });
    }

    pub(super) fn into_found(self) -> Vec<ImportEdge> {
        self.found
    }
}
