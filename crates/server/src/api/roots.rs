//! Checks which directories a project's root may be in.

use std::path::{Component, Path, PathBuf};

use super::error::{ApiError, Result};
use super::text::RootPath;
use crate::state::RootRule;

impl RootRule {
    /// The real path of `root`, if it may be served.
    pub(super) async fn serve(&self, root: &RootPath) -> Result<String> {
        let (rule, wanted) = (self.clone(), root.0.clone());
        let found = tokio::task::spawn_blocking(move || rule.find(&wanted)).await.map_err(base::Error::internal)?;
        match found.map_err(ApiError::invalid)?.into_os_string().into_string() {
            Ok(path) => Ok(path),
            Err(_) => Err(ApiError::invalid("the root's real path is not UTF-8; rename the directory")),
        }
    }

    /// Finds the directory. A path outside the allowed directories gets the same error whether or not it exists. So the path as
    /// written and its real path are both checked before an error says anything about the directory.
    fn find(&self, wanted: &str) -> Result<PathBuf, String> {
        let path = &without_dots(wanted);
        if !self.anywhere && !self.allowed.iter().chain(&self.allowed_as_written).any(|allowed| path.starts_with(allowed)) {
            return Err(not_allowed(wanted));
        }
        self.keep_off_data(path, wanted)?;
        match path.canonicalize() {
            Ok(real) => {
                self.check(&real, wanted)?;
                if real.is_dir() { Ok(real) } else { Err(format!("`{wanted}` is not a directory")) }
            }
            Err(_) => {
                let above = deepest_real(path).ok_or_else(|| not_allowed(wanted))?;
                self.check_allowed(&above, wanted)?;
                self.keep_out_of_data(&above)?;
                Err(format!("there is no directory `{wanted}` on the server's machine, or the server cannot read it"))
            }
        }
    }

    /// Refuses a real path that must not be served. The error says what the operator can do.
    fn check(&self, real: &Path, wanted: &str) -> Result<(), String> {
        self.check_allowed(real, wanted)?;
        self.keep_off_data(real, wanted)
    }

    fn check_allowed(&self, real: &Path, wanted: &str) -> Result<(), String> {
        let allowed = self.anywhere || self.allowed.iter().any(|allowed| real.starts_with(allowed));
        if allowed { Ok(()) } else { Err(not_allowed(wanted)) }
    }

    fn keep_out_of_data(&self, path: &Path) -> Result<(), String> {
        if path.starts_with(&self.data) {
            return Err("a root must not be inside the server's data folder".to_owned());
        }
        Ok(())
    }

    fn keep_off_data(&self, path: &Path, wanted: &str) -> Result<(), String> {
        self.keep_out_of_data(path)?;
        if self.data.starts_with(path) {
            return Err(format!(
                "the root `{wanted}` contains the server's data folder, so agents could read its secrets; choose another directory"
            ));
        }
        Ok(())
    }
}

/// Resolves `.` and `..` in the path as text. Symlinks are not followed.
fn without_dots(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

fn not_allowed(wanted: &str) -> String {
    format!("the root `{wanted}` is not in an allowed directory; start the server with --allow-root {wanted}")
}

/// The real path of the existing part of `path`. `None` if a dangling symlink is in the way, so that its target is not revealed.
fn deepest_real(path: &Path) -> Option<PathBuf> {
    let mut missing = path;
    for above in path.ancestors().skip(1) {
        if let Ok(real) = above.canonicalize() {
            let leads_nowhere = missing.symlink_metadata().is_ok_and(|found| found.is_symlink());
            return (!leads_nowhere).then_some(real);
        }
        missing = above;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn rule(allowed: &[&Path], anywhere: bool, data: &Path) -> RootRule {
        let allowed: Vec<PathBuf> = allowed.iter().map(|path| path.to_path_buf()).collect();
        RootRule { allowed_as_written: allowed.clone(), allowed, anywhere, data: data.to_owned() }
    }

    #[test]
    fn root_must_be_in_an_allowed_directory_and_apart_from_the_data_folder() {
        let rule = |allowed: &[&str], anywhere| {
            let allowed: Vec<&Path> = allowed.iter().map(Path::new).collect();
            self::rule(&allowed, anywhere, Path::new("/srv/data"))
        };
        let passes = |rule: &RootRule, path: &str| rule.check(Path::new(path), path).is_ok();
        let some = rule(&["/srv", "/home/a"], false);
        assert!(passes(&some, "/srv/code") && passes(&some, "/home/a"));
        assert!(!passes(&some, "/home/ab") && !passes(&some, "/srv/data") && !passes(&some, "/srv/data/x"));
        let loopback = rule(&[], true);
        assert!(passes(&loopback, "/anything") && !passes(&loopback, "/srv/data"));
        for above in ["/srv", "/"] {
            assert!(
                loopback.check(Path::new(above), above).unwrap_err().contains("contains the server's data folder"),
                "{above}"
            );
        }
        assert!(passes(&loopback, "/srv/database"));
        assert!(rule(&[], false).check(Path::new("/x"), "/x").unwrap_err().contains("--allow-root /x"));
    }

    #[test]
    fn refusal_does_not_reveal_whether_an_outside_path_exists() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        for name in ["allowed/code", "outside/there", "data/inside"] {
            std::fs::create_dir_all(real.join(name)).unwrap();
        }
        std::fs::write(real.join("allowed/file"), "").unwrap();
        std::fs::write(real.join("outside/file"), "").unwrap();
        symlink(real.join("outside"), real.join("allowed/out")).unwrap();
        symlink(real.join("outside/missing"), real.join("allowed/nowhere")).unwrap();
        symlink(real.join("code"), real.join("allowed/loop")).unwrap();
        let rule = rule(&[&real.join("allowed")], false, &real.join("data"));
        let said = |path: &str| {
            let path = real.join(path).to_str().unwrap().to_owned();
            rule.find(&path).map_err(|message| message.replace(&path, "PATH"))
        };
        assert_eq!(said("allowed/code"), Ok(real.join("allowed/code")));
        assert_eq!(said("allowed/code/../code/."), Ok(real.join("allowed/code")));
        assert_eq!(said("allowed/out/../code"), Ok(real.join("allowed/code")));
        let refused = said("outside/there").unwrap_err();
        assert_eq!(refused, "the root `PATH` is not in an allowed directory; start the server with --allow-root PATH");
        for path in [
            "outside/missing",
            "outside/file",
            "outside/there/missing",
            "allowed/out",
            "allowed/out/there",
            "allowed/out/missing",
            "allowed/out/file",
            "allowed/nowhere",
            "allowed/nowhere/deeper",
            "data/inside",
            "data/missing",
            "allowed/../outside/there",
            "allowed/../outside/missing",
            "allowed/out/../../outside/there",
        ] {
            assert_eq!(said(path).unwrap_err(), refused, "{path}");
        }
        for (path, message) in [("allowed/missing", "there is no directory"), ("allowed/file", "is not a directory")] {
            assert!(said(path).unwrap_err().contains(message), "{path}: {:?}", said(path));
        }
    }

    #[test]
    fn refusal_does_not_reveal_the_contents_of_the_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("data/there")).unwrap();
        symlink(real.join("data"), real.join("link")).unwrap();
        let rule = rule(&[], true, &real.join("data"));
        for path in ["data", "data/there", "data/missing", "link", "link/there", "link/missing"] {
            let said = rule.find(real.join(path).to_str().unwrap()).unwrap_err();
            assert_eq!(said, "a root must not be inside the server's data folder", "{path}");
        }
    }
}
