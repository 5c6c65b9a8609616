//! Development tasks: generating documents from the code, and long test runs.

pub mod generate;
pub mod soak;

use std::path::PathBuf;

/// The project's root folder.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
