//! What the project does to itself: documents generated from the code, and where its files lie.

pub mod generate;
pub mod soak;

use std::path::PathBuf;

/// The project's root folder.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
