//! What search asks the index: the files around a file, and when it changed.

use std::collections::BTreeMap;

use base::Timestamp;
use graph::Direction;

use super::graph::{At, Relationship};
use super::project::ProjectIndex;
use super::snapshot::Snapshot;
use super::table::FileNumber;

/// The number of neighbours of a file. One that everything uses says little.
const NEIGHBOURS_MAX: usize = 64;
/// The weight of a file whose symbols are called or extended.
const USED: f32 = 1.0;
/// The weight of a file that is only imported.
const IMPORTED: f32 = 0.5;

impl Snapshot {
    /// The files that a file uses or is used by, each with a weight.
    pub(crate) fn file_neighbours(&self, file: FileNumber) -> Vec<(FileNumber, f32)> {
        let mut found: BTreeMap<FileNumber, f32> = BTreeMap::new();
        for (other, relationship) in self.around(file) {
            let weight = if relationship == Relationship::Imports { IMPORTED } else { USED };
            let known = found.entry(other).or_default();
            *known = known.max(weight);
        }
        found.into_iter().collect()
    }

    /// The files that import a file or that it imports.
    pub(crate) fn linked_files(&self, file: FileNumber) -> Vec<FileNumber> {
        let imports = self.around(file).filter(|(_, relationship)| *relationship == Relationship::Imports);
        imports.map(|(other, _)| other).collect()
    }

    /// When a file was last changed.
    pub(crate) fn changed_at(&self, file: FileNumber) -> Option<Timestamp> {
        self.file(file).map(|file| file.stamp.changed_at())
    }

    fn around(&self, file: FileNumber) -> impl Iterator<Item = (FileNumber, Relationship)> + '_ {
        let graph = self.graph();
        let edges = graph.file_place(file).into_iter().flat_map(|place| graph.files.edges_of(place, Direction::Both));
        let other = |(edge, other)| match graph.at_place(other)? {
            At::File(number) => Some((number, graph.files.edge(edge)?.payload.relationship)),
            At::Symbol(..) | At::External(_) => None,
        };
        edges.filter_map(other).filter(move |(other, _)| *other != file).take(NEIGHBOURS_MAX)
    }
}

impl ProjectIndex {
    /// Asks for a look at one file soon.
    pub(crate) fn ask_to_look_at(&self, path: &str) {
        self.waiting.ask_for([path.to_owned()]);
    }

    /// Asks to hand out the passages of some files again.
    pub(crate) fn ask_to_feed(&self, files: Vec<FileNumber>) {
        if !files.is_empty() {
            self.waiting.lock().unfed.extend(files);
            self.waiting.ask_for([]);
        }
    }
}
