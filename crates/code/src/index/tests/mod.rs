//! Tests of whole indexes, on folders with small projects.

mod building;
mod edits;
mod questions;
mod watching;

use std::path::Path;
use std::sync::Arc;

use base::Clock;

use super::files::Folder;
use super::imports::To;
use super::lean::NO_DEFINITION;
use super::pack::Pack;
use super::project::{ProjectIndex, ProjectParts};
use super::snapshot::Snapshot;

/// Writes a file, with the folders around it.
pub(crate) fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A clock that is an hour ahead, so that the files of a test are old.
pub(crate) fn later() -> Clock {
    Clock::manual(Clock::system().now().plus_ms(3_600_000))
}

/// An index of a folder that does its work when it is told to.
pub(crate) fn index(root: &Path, cache: Option<&Path>, clock: Clock) -> Arc<ProjectIndex> {
    let parts = ProjectParts { files: Arc::new(Folder::open(root).unwrap()), sink: None };
    let kept = cache.map(|cache| cache.join("p.files"));
    ProjectIndex::new(parts, Arc::new(Pack::open(cache)), kept, clock, || ())
}

/// A complete index of a folder.
pub(crate) fn indexed(root: &Path) -> Arc<Snapshot> {
    let index = index(root, None, Clock::system());
    index.catch_up();
    index.snapshot()
}

/// Everything that a state knows, as lines that do not depend on how it came about.
pub(crate) fn described(snapshot: &Snapshot) -> Vec<String> {
    let known = snapshot.names.read();
    let mut lines = Vec::new();
    for (path, number) in snapshot.paths.iter() {
        let file = snapshot.file(*number).unwrap();
        lines.push(format!("{path} {:?} {:?} {:?}", file.language, file.state, file.hash));
        for (place, symbol) in (0..).zip(&file.lean.symbols) {
            let name = snapshot.symbol_name(file, place, &known);
            lines.push(format!("{path}#{name} {:?} {}-{}", symbol.kind, symbol.start_line, symbol.end_line));
        }
        for import in snapshot.imports[*number as usize].iter() {
            let to = match import.to {
                To::File(to) => snapshot.file(to).map_or_else(|| "gone".to_owned(), |file| file.path.to_string()),
                To::External(package) => format!("external {}", known.text(package)),
                To::Nowhere => "nowhere".to_owned(),
            };
            lines.push(format!("{path} imports {} {} {to} {:?}", import.import, import.name, import.resolution));
        }
        lines.extend(links(snapshot, *number));
    }
    lines
}

/// The links of a file as lines, sorted.
pub(crate) fn links(snapshot: &Snapshot, number: u32) -> Vec<String> {
    let (known, file) = (snapshot.names.read(), snapshot.file(number).unwrap());
    let line = |link: &super::link::Link| {
        let from = match link.from {
            NO_DEFINITION => file.path.to_string(),
            place => snapshot.symbol_id(file, place, &known),
        };
        let to = snapshot.file(link.to.0).map_or_else(|| "gone".to_owned(), |file| snapshot.symbol_id(file, link.to.1, &known));
        let exact = if link.is_exact { "" } else { " ?" };
        format!("{from} {} {to}{exact}", super::graph::Relationship::from(link.kind).word())
    };
    let mut lines: Vec<String> = snapshot.links[number as usize].iter().map(line).collect();
    lines.sort();
    lines
}
