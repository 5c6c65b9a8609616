//! Rebuilds the weights file: `quantise FOLDER FILE`, with `model.safetensors` and `vocab.txt` in the folder.

#![expect(clippy::disallowed_macros, reason = "a program for developers")]

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [folder, file] = arguments.as_slice() else {
        eprintln!("usage: quantise FOLDER FILE");
        return ExitCode::FAILURE;
    };
    let made = search::rebuild::from_folder(Path::new(folder));
    let written = made.and_then(|bytes| {
        std::fs::write(file, bytes).map_err(|error| format!("cannot write `{}`: {error}", Path::new(file).display()))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
