//! Documents that are made from the code. A test compares what is committed with what would be generated.

mod errors;
mod limits;
mod tools;

use anyhow::Result;

use crate::root;

/// Every generated file: its path below the root, and what it should hold.
pub fn files() -> Result<Vec<(&'static str, String)>> {
    let openapi = serde_json::to_string_pretty(&server::openapi())? + "\n";
    Ok(vec![
        ("docs/tools.md", tools::reference()?),
        ("docs/errors.md", errors::reference()),
        ("docs/limits.md", limits::reference()?),
        ("docs/openapi.json", openapi),
    ])
}

/// Writes them.
pub fn write() -> Result<()> {
    for (path, text) in files()? {
        std::fs::write(root().join(path), text)?;
    }
    Ok(())
}
