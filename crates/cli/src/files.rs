//! Writing files whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Readable by its owner only: for what holds a key.
pub(crate) const PRIVATE: u32 = 0o600;
/// What a file has that nobody said anything about.
const USUAL: u32 = 0o644;

/// Replaces `path` by `text` in one step. `mode` is what it has afterwards; without it, what it had before. A link is
/// followed: what it leads to is replaced.
pub(crate) fn replace(path: &Path, text: &str, mode: Option<u32>) -> Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let before = fs::metadata(&path).ok().map(|metadata| metadata.mode() & 0o777);
    let mode = mode.or(before).unwrap_or(USUAL);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let part = part_of(&path, folder);
    let written = (|| {
        fs::create_dir_all(folder)?;
        let mut file = OpenOptions::new().create_new(true).write(true).mode(PRIVATE).open(&part)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&part, &path)?;
        File::open(folder)?.sync_all()
    })();
    written.with_context(|| {
        // Nothing half-written stays behind; if it cannot be removed either, the error already tells why.
        let _ = fs::remove_file(&part);
        format!("cannot write {}", path.display())
    })
}

fn part_of(path: &Path, folder: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    folder.join(format!(".{name}.{}.part", base::secret::hex(&base::secret::random_bytes::<4>())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn files_are_replaced_whole_and_keep_their_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file.json");
        replace(&path, "one", None).unwrap();
        assert_eq!(mode(&path), USUAL);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, "two", None).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("two", 0o640));
        replace(&path, "secret", Some(PRIVATE)).unwrap();
        assert_eq!(mode(&path), PRIVATE);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "one").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        replace(&link, "two", None).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "two");
    }
}
