//! Generates documents from the code. A test compares the committed files with freshly generated ones.

mod errors;
mod events;
mod limits;
mod tools;

use anyhow::Result;

use crate::root;

/// Returns every generated file: its path below the root, and its content.
pub fn files() -> Result<Vec<(&'static str, String)>> {
    let openapi = serde_json::to_string_pretty(&server::openapi())? + "\n";
    Ok(vec![
        ("docs/tools.md", tools::reference()?),
        ("docs/errors.md", errors::reference()),
        ("docs/limits.md", limits::reference()?),
        ("docs/audit.md", events::audit()?),
        ("docs/hooks.md", events::hooks()?),
        ("docs/openapi.json", openapi),
    ])
}

/// Writes all generated files.
pub fn write() -> Result<()> {
    for (path, text) in files()? {
        std::fs::write(root().join(path), text)?;
    }
    Ok(())
}
