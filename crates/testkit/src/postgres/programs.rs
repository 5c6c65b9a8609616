//! Finds and installs the programs of PostgreSQL.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest supported release.
const MAJOR_MIN: u32 = 15;
/// The command that installs the programs.
const INSTALL: &str = "apt-get update && apt-get install -y --no-install-recommends postgresql";
/// Debian's folder for the programs of each release, which is not on the `PATH`.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The programs of one release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Programs {
    pub(super) initdb: PathBuf,
    pub(super) postgres: PathBuf,
}

impl Programs {
    /// Finds or installs the programs. Panics with instructions if it cannot.
    pub(super) fn find_or_install() -> Self {
        if let Some(programs) = Self::find(&directories()) {
            return programs;
        }
        assert!(is_root(), "{}", missing());
        // Test processes run in parallel. One installs the package while the others wait.
        let lock = File::create(std::env::temp_dir().join("toolcrib-testkit-install.lock")).expect("a lock file");
        lock.lock().expect("the lock on the installation");
        Self::find(&directories()).unwrap_or_else(|| {
            install();
            Self::find(&directories()).unwrap_or_else(|| panic!("the package `postgresql` is installed, but {}", missing()))
        })
    }

    /// The programs in the first of `directories` that has a supported release.
    fn find(directories: &[PathBuf]) -> Option<Self> {
        directories.iter().find_map(|directory| {
            let programs = Self { initdb: directory.join("initdb"), postgres: directory.join("postgres") };
            let usable = programs.initdb.is_file() && major(&programs.postgres)? >= MAJOR_MIN;
            usable.then_some(programs)
        })
    }
}

fn missing() -> String {
    format!(
        "these tests need PostgreSQL {MAJOR_MIN} or newer (`initdb` and `postgres`, on the PATH or under {DEBIAN}): \
         run `sudo sh -c '{INSTALL}'`"
    )
}

fn install() {
    let status = Command::new("sh")
        .args(["-c", INSTALL])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .unwrap_or_else(|error| panic!("cannot install PostgreSQL ({error}): {}", missing()));
    assert!(status.success(), "`{INSTALL}` failed ({status}): {}", missing());
}

/// The directories of the `PATH`, then Debian's, newest release first.
fn directories() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut debian: Vec<(u32, PathBuf)> = std::fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    debian.sort_unstable_by(|left, right| right.cmp(left));
    std::env::split_paths(&path).chain(debian.into_iter().map(|(_, directory)| directory)).collect()
}

/// The major version of `postgres`.
fn major(postgres: &Path) -> Option<u32> {
    let output = Command::new(postgres).arg("--version").output().ok()?;
    major_in(std::str::from_utf8(&output.stdout).ok()?)
}

/// Parses the major version from `postgres (PostgreSQL) 15.20 (Debian …)`, or a development version like `19devel`.
fn major_in(version: &str) -> Option<u32> {
    let number = version.split_whitespace().nth(2)?;
    let digits = number.find(|character: char| !character.is_ascii_digit()).map_or(number, |end| &number[..end]);
    digits.parse().ok()
}

/// Whether this process runs as root. PostgreSQL refuses to run as root.
pub(super) fn is_root() -> bool {
    std::fs::metadata("/proc/self").expect("/proc, as every Linux has it").uid() == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_version_is_parsed() {
        let cases = [
            ("postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 18.4", Some(18)),
            ("postgres (PostgreSQL) 19devel", Some(19)),
            ("postgres (PostgreSQL)", None),
            ("", None),
        ];
        for (version, major) in cases {
            assert_eq!(major_in(version), major, "{version}");
        }
    }

    #[test]
    fn empty_directory_has_no_programs() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(Programs::find(&[empty.path().to_owned()]), None);
    }

    #[test]
    fn error_for_missing_programs_names_the_install_command() {
        assert!(missing().contains("apt-get install -y --no-install-recommends postgresql"));
    }
}
