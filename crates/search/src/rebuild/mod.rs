//! Makes the weights file from the original model: the same input gives the same bytes.
//!
//! Needed only when the model or the format of the file changes; the server never runs it. What it reads is described in
//! `model/README.md`.

mod file;
mod safetensors;

use std::fs;
use std::path::Path;

pub use file::quantised;

/// Reads `model.safetensors` and `vocab.txt` of a folder and gives the weights file. The error says which file or tensor is wrong.
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
