//! Where a project's directory of code may lie.

use std::path::Path;

use super::error::{ApiError, Result};
use super::text::RootPath;
use crate::state::RootRule;

impl RootRule {
    /// The directory that `root` leads to, if it may be served.
    pub(super) async fn serve(&self, root: &RootPath) -> Result<String> {
        let wanted = &root.0;
        let Ok(path) = tokio::fs::canonicalize(wanted).await else {
            return Err(ApiError::invalid(format!("there is no directory `{wanted}` on the server's machine")));
        };
        if !tokio::fs::metadata(&path).await.is_ok_and(|found| found.is_dir()) {
            return Err(ApiError::invalid(format!("`{wanted}` is not a directory")));
        }
        self.check(&path).map_err(ApiError::invalid)?;
        match path.into_os_string().into_string() {
            Ok(path) => Ok(path),
            Err(_) => Err(ApiError::invalid("the root's real path is not UTF-8: rename the directory")),
        }
    }

    /// Refuses a canonical path that must not be served, saying what the operator can do.
    fn check(&self, path: &Path) -> Result<(), String> {
        if path.starts_with(&self.data) {
            return Err("a root must not lie in the server's data folder".to_owned());
        }
        if self.data.starts_with(path) {
            let shown = path.display();
            return Err(format!(
                "the root `{shown}` holds the server's data folder, whose secrets agents could read: name a directory beside it"
            ));
        }
        if self.anywhere || self.allowed.iter().any(|allowed| path.starts_with(allowed)) {
            return Ok(());
        }
        let shown = path.display();
        Err(format!("the root `{shown}` is not below an allowed directory: start the server with --allow-root {shown}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_lie_below_an_allowed_directory_and_never_in_or_round_the_data_folder() {
        let rule = |allowed: &[&str], anywhere| RootRule {
            allowed: allowed.iter().map(Into::into).collect(),
            anywhere,
            data: "/srv/data".into(),
        };
        let passes = |rule: &RootRule, path: &str| rule.check(Path::new(path)).is_ok();
        let some = rule(&["/srv", "/home/a"], false);
        assert!(passes(&some, "/srv/code") && passes(&some, "/home/a"));
        assert!(!passes(&some, "/home/ab") && !passes(&some, "/srv/data") && !passes(&some, "/srv/data/x"));
        let loopback = rule(&[], true);
        assert!(passes(&loopback, "/anything") && !passes(&loopback, "/srv/data"));
        for above in ["/srv", "/"] {
            assert!(loopback.check(Path::new(above)).unwrap_err().contains("holds the server's data folder"), "{above}");
        }
        assert!(passes(&loopback, "/srv/database"));
        assert!(rule(&[], false).check(Path::new("/x")).unwrap_err().contains("--allow-root /x"));
    }
}
