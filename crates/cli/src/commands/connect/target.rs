//! A client's file in this directory, as it is before we touch it. It may be a link to another file of the directory, but not to
//! one outside: whoever made the repository would decide what is written there.

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
        let here = std::env::current_dir().context("there is no current directory")?;
        let path = here.join(client.file());
        check_inside(&here, Path::new(client.file()))?;
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        Ok(Self { client, path, before })
    }

    /// Its text with the entry in it.
    pub(super) fn with(&self, name: &str, entry: &Entry) -> Result<String> {
        let untouched = || format!("{} was left as it is", self.path.display());
        merge::merge(self.client, self.before.as_deref(), name, entry).with_context(untouched)
    }
}

/// Refuses a file below `here` that a link on the way to it leads out of `here`, or nowhere.
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
                "{} is a link that leads out of this directory, to {}: nothing was written; replace the link by a file or folder \
                 of its own, or use --print and put the entry there yourself",
                path.display(),
                target.display()
            ),
            Err(_) => bail!("{} is a link that leads nowhere: nothing was written; remove the link", path.display()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_may_not_lead_out() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let here = folder.path();
        let check = |file: &str| check_inside(here, Path::new(file)).map_err(|error| error.to_string());
        assert_eq!(check(".codex/config.toml"), Ok(()), "nothing is there yet");
        std::fs::create_dir(here.join("real")).unwrap();
        symlink("real", here.join(".codex")).unwrap();
        assert_eq!(check(".codex/config.toml"), Ok(()), "a link inside");
        symlink(outside.path(), here.join(".cursor")).unwrap();
        assert!(check(".cursor/mcp.json").unwrap_err().contains("leads out of this directory"));
        symlink(outside.path().join("x.json"), here.join(".mcp.json")).unwrap();
        assert!(check(".mcp.json").unwrap_err().contains("leads nowhere"));
        std::fs::write(outside.path().join("x.json"), "{}").unwrap();
        assert!(check(".mcp.json").unwrap_err().contains("leads out of this directory"));
    }
}
