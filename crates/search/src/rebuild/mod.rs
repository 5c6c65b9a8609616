//! Builds the weights file from the original model. The same input gives the same bytes.
//!
//! This is needed only if the model or the file format changes. The server never runs it. `model/README.md` describes the
//! input.

mod file;
mod safetensors;

use std::fs;
use std::path::Path;

pub use file::quantised;

/// Builds the weights file from `model.safetensors` and `vocab.txt` in a folder. An error names the bad file or tensor.
pub fn from_folder(folder: &Path) -> Result<Vec<u8>, String> {
    let model = folder.join("model.safetensors");
    let model = fs::read(&model).map_err(|error| format!("cannot read `{}`: {error}", model.display()))?;
    let vocabulary = folder.join("vocab.txt");
    let vocabulary =
        fs::read_to_string(&vocabulary).map_err(|error| format!("cannot read `{}`: {error}", vocabulary.display()))?;
    quantised(&model, &vocabulary)
}

#[cfg(test)]
mod tests;
