//! Python packages for tests. They are installed once, outside the repository, exactly as in a requirements file.
//!
//! The virtual environment is in the same cache as the [Node packages](crate::node), in a folder named after the file's hash, so
//! that a changed file never uses old packages.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use base::secret::hex;
use sha2::{Digest, Sha256};

use crate::node::cache_folder;

/// The oldest supported Python version.
const VERSION_MIN: (u32, u32) = (3, 11);
/// This file is written last, so that a killed installation is repeated. The folder cannot be renamed at the end instead, because
/// its programs contain its path.
const FINISHED: &str = "finished";

/// A virtual environment with installed packages.
#[derive(Debug)]
pub struct PythonPackages {
    programs: PathBuf,
}

impl PythonPackages {
    /// Installs the packages of `requirements`, checked by hash, if they are not installed yet.
    pub fn install(requirements: &Path) -> Self {
        let text = fs::read(requirements).expect("a file of requirements");
        let hash: String = hex(&Sha256::digest(text)).chars().take(16).collect();
        let cache = cache_folder().join(requirements.file_stem().expect("a file with a name"));
        fs::create_dir_all(&cache).expect("a folder in the cache");
        let installed = cache.join(&hash);

        // Test processes run in parallel. One installs the packages while the others wait.
        let lock = File::create(cache.join(format!("{hash}.lock"))).expect("a lock file");
        lock.lock().expect("the lock on the installation");
        if !installed.join(FINISHED).exists() {
            check_version();
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&installed));
            // The file lists every required package, so dependencies are not resolved.
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
            run(Command::new(installed.join("bin/python")).args(pip).arg("--requirement").arg(requirements));
            File::create(installed.join(FINISHED)).expect("the mark of a whole installation");
        }
        Self { programs: installed.join("bin") }
    }

    /// A command that runs a program of one of the packages.
    pub fn program(&self, name: &str) -> Command {
        Command::new(self.programs.join(name))
    }
}

fn check_version() {
    let script = "import sys; print(*sys.version_info[:2])";
    let output = Command::new("python3").args(["-c", script]).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run `python3` ({error}); these tests need Python with venv"));
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut numbers = printed.split_whitespace().filter_map(|number| number.parse::<u32>().ok());
    let version = numbers.next().zip(numbers.next()).expect("python3 says its version");
    assert!(version >= VERSION_MIN, "Python {version:?} is too old, {VERSION_MIN:?} or newer is required");
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed (on Debian, run `apt install python3-venv`): {errors}");
}
