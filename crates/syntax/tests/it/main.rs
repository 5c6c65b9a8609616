//! What the crate promises: outlines of golden files, chunks, syntax errors, and no harm from any text.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod chunks;
mod endings;
mod errors;
mod golden;
mod hostile;

use std::fs;
use std::path::{Path, PathBuf};

use syntax::Language;

/// Every golden sample with its language and its text.
fn samples() -> Vec<(PathBuf, Language, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folders = fs::read_dir(root).unwrap().map(|folder| folder.unwrap().path());
    let mut paths: Vec<PathBuf> =
        folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|sample| sample.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let language = Language::of(path.to_str().unwrap(), &text)?;
        Some((path, language, text))
    };
    let samples: Vec<_> = paths.into_iter().filter_map(read).collect();
    assert!(samples.len() >= Language::ALL.len(), "{} samples", samples.len());
    samples
}
