//! The session's MCP config file in the working directory. Only its owner can read it, and it is removed with the session.
//!
//! The run holds a lock on the file. An unlocked file was left behind by a run that was killed together with its watcher, and the
//! next run removes it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::files::PRIVATE;
use crate::output;

const PREFIX: &str = ".toolcrib-mcp-";
const SUFFIX: &str = ".json";
/// How many characters of the session's id are in the file's name, enough to be unique in a directory.
const NAME_CHARS: usize = 10;

/// A config file that is removed on drop.
pub(super) struct ConfigFile {
    path: PathBuf,
    _lock: File,
}

/// The path of a session's file.
pub(super) fn path(folder: &Path, session: &str) -> PathBuf {
    let id = session.strip_prefix(base::SessionId::PREFIX).unwrap_or(session);
    let short = id.chars().filter(char::is_ascii_alphanumeric).take(NAME_CHARS).collect::<String>();
    folder.join(format!("{PREFIX}{short}{SUFFIX}"))
}

impl ConfigFile {
    /// Creates the file. Fails if it exists.
    pub(super) fn write(path: PathBuf, config: &Value) -> Result<Self> {
        let written = (|| {
            let mut file = OpenOptions::new().create_new(true).write(true).mode(PRIVATE).open(&path)?;
            file.lock()?;
            file.write_all(serde_json::to_string_pretty(config)?.as_bytes())?;
            file.write_all(b"\n")?;
            Ok::<_, std::io::Error>(file)
        })();
        let lock = written.with_context(|| format!("cannot write the session's MCP config {}", path.display()))?;
        Ok(Self { path, _lock: lock })
    }

    /// The path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a config file, if it exists.
pub(super) fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        output::tell(&format!("warning: cannot remove {} ({error}); remove it yourself", path.display()));
    }
}

/// Removes files that killed runs left behind.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) && is_stale(&path) {
            tracing::info!(file = %path.display(), "removing the config file of a killed run");
            remove(&path);
        }
    }
}

/// Whether the file is not locked. An empty file is being written and gets locked before its first byte.
fn is_stale(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let has_text = file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    has_text && file.try_lock().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn file_is_private_and_removed_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "ses_0123456789abcdefghjkmnpqrs");
        assert!(path.ends_with(".toolcrib-mcp-0123456789.json"));
        let file = ConfigFile::write(path.clone(), &json!({"mcpServers": {}})).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, PRIVATE);
        assert_eq!(file.path(), path);
        assert!(ConfigFile::write(path.clone(), &json!({})).is_err());
        sweep(folder.path());
        assert!(path.exists());
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn only_stale_config_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        make(".toolcrib-mcp-dead.json", "{}");
        make(".toolcrib-mcp-new.json", "");
        make(".mcp.json", "{}");
        sweep(folder.path());
        let mut left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        left.sort();
        assert_eq!(left, [".mcp.json", ".toolcrib-mcp-new.json"]);
    }
}
