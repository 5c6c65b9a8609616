//! The client's config file in this directory. It may be a link to a file inside the directory, but not outside: otherwise an
//! untrusted repository could redirect the write.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::entry::Entry;
use super::{Client, merge};

pub(super) struct Target {
    client: Client,
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
}

impl Target {
    pub(super) fn read(client: Client) -> Result<Self> {
        let here = std::env::current_dir().context("cannot find the current directory")?;
        let path = here.join(client.file());
        check_inside(&here, Path::new(client.file()))?;
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            bail!("{} is not a file, so nothing was written; move it away", path.display());
        }
        let before = match std::fs::read_to_string(&path) {
            // Some editors write a byte order mark, which the clients reject.
            Ok(text) => Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        Ok(Self { client, path, before })
    }

    /// Returns the file's text with the entry added.
    pub(super) fn with(&self, name: &str, entry: &Entry) -> Result<String> {
        let untouched = || format!("cannot change {}", self.path.display());
        merge::merge(self.client, self.before.as_deref(), name, entry).with_context(untouched)
    }
}

/// Refuses a path below `here` if a link in it points outside `here` or is broken.
fn check_inside(here: &Path, file: &Path) -> Result<()> {
    let real = here.canonicalize().with_context(|| format!("cannot find {}", here.display()))?;
    let mut path = here.to_owned();
    for part in file.components() {
        path.push(part);
        if !path.is_symlink() {
            continue;
        }
        match path.canonicalize() {
            Ok(target) if target.starts_with(&real) => {}
            Ok(target) => bail!(
                "{} is a link to {}, outside this directory, so nothing was written; replace the link with a file or folder, or \
                 use --print and add the entry yourself",
                path.display(),
                target.display()
            ),
            Err(_) => bail!("{} is a broken link, so nothing was written; remove it", path.display()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_to_outside_are_refused() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let here = folder.path();
        let check = |file: &str| check_inside(here, Path::new(file)).map_err(|error| error.to_string());
        assert_eq!(check(".codex/config.toml"), Ok(()), "nothing is there yet");
        std::fs::create_dir(here.join("real")).unwrap();
        symlink("real", here.join(".codex")).unwrap();
        assert_eq!(check(".codex/config.toml"), Ok(()), "a link inside");
        symlink(outside.path(), here.join(".cursor")).unwrap();
        assert!(check(".cursor/mcp.json").unwrap_err().contains("outside this directory"));
        symlink(outside.path().join("x.json"), here.join(".mcp.json")).unwrap();
        assert!(check(".mcp.json").unwrap_err().contains("broken link"));
        std::fs::write(outside.path().join("x.json"), "{}").unwrap();
        assert!(check(".mcp.json").unwrap_err().contains("outside this directory"));
    }
}
