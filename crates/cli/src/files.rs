//! Writes files: regular files atomically, FIFOs and devices directly.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

/// Mode of a file that holds a key: readable only by its owner.
pub(crate) const PRIVATE: u32 = 0o600;
/// Mode of a new file when the caller sets none.
const DEFAULT: u32 = 0o644;

/// Writes `text` to `path` as [`Output`] does, and creates missing folders.
pub(crate) fn replace(path: &Path, text: &str, mode: Option<u32>) -> Result<()> {
    let path = followed(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder_of(&path);
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    write(&path, text, mode)
}

/// Writes `text` to `path` as [`Output`] does.
pub(crate) fn write(path: &Path, text: &str, mode: Option<u32>) -> Result<()> {
    let mut output = Output::open(path, mode)?;
    output.write(text.as_bytes())?;
    output.finish()
}

/// A file that is being written. A regular file gets its new contents only when they are complete and synced. A link is followed to
/// its target. A FIFO or character device is written into.
pub(crate) struct Output {
    file: File,
    path: PathBuf,
    part: Option<Part>,
}

impl Output {
    /// Opens `path`. Without `mode`, an existing file keeps its mode. Opening a FIFO waits for its reader.
    pub(crate) fn open(path: &Path, mode: Option<u32>) -> Result<Self> {
        let found = match fs::metadata(path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(unwritable(path, error)),
        };
        let kind = found.as_ref().map(fs::Metadata::file_type);
        if kind.is_some_and(|kind| kind.is_fifo() || kind.is_char_device()) {
            let file = OpenOptions::new().write(true).open(path).map_err(|error| unwritable(path, error))?;
            return Ok(Self { file, path: path.to_owned(), part: None });
        }
        if let Some(what) = kind.and_then(unsuitable) {
            bail!("cannot write {}: it is a {what}; name a file", path.display());
        }
        let mode = mode.or(found.map(|found| found.mode() & 0o777)).unwrap_or(DEFAULT);
        let (part, file) = Part::create(path, mode).map_err(|error| unwritable(path, error))?;
        Ok(Self { file, path: path.to_owned(), part: Some(part) })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| unwritable(&self.path, error))
    }

    /// Completes the file. Without this, a regular file keeps its old contents.
    pub(crate) fn finish(self) -> Result<()> {
        match self.part {
            Some(part) => part.finish(&self.file).map_err(|error| unwritable(&self.path, error)),
            None => Ok(()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The unfinished contents of a regular file, in the same folder. They are removed on drop unless they were finished.
struct Part {
    path: PathBuf,
    whole: PathBuf,
    mode: u32,
}

impl Part {
    fn create(path: &Path, mode: u32) -> io::Result<(Self, File)> {
        let whole = followed(path)?;
        let name = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = format!(".{name}.{}.part", base::secret::hex(&base::secret::random_bytes::<4>()));
        let path = folder_of(&whole).join(name);
        let file = OpenOptions::new().create_new(true).write(true).mode(PRIVATE).open(&path)?;
        Ok((Self { path, whole, mode }, file))
    }

    fn finish(self, file: &File) -> io::Result<()> {
        file.set_permissions(fs::Permissions::from_mode(self.mode))?;
        file.sync_all()?;
        fs::rename(&self.path, &self.whole)?;
        File::open(folder_of(&self.whole))?.sync_all()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After a successful rename this name does not exist, so nothing is removed.
        let _ = fs::remove_file(&self.path);
    }
}

/// Why a file of this kind cannot be written.
fn unsuitable(kind: fs::FileType) -> Option<&'static str> {
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("folder"),
        kind if kind.is_block_device() => Some("block device"),
        kind if kind.is_socket() => Some("socket"),
        _ => Some("special file"),
    }
}

/// The target of a link, also if it does not exist yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => followed(&folder_of(path).join(target)),
            Err(_) => Ok(path.to_owned()),
        },
        found => found,
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unwritable(path: &Path, error: io::Error) -> anyhow::Error {
    let target = followed(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder_of(&target);
    if error.kind() == ErrorKind::NotFound && !folder.exists() {
        return anyhow!("cannot write {}: there is no folder `{}`; create it with `mkdir -p`", path.display(), folder.display());
    }
    anyhow::Error::new(error).context(format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn replaced_files_keep_their_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file.json");
        replace(&path, "one", None).unwrap();
        assert_eq!(mode(&path), DEFAULT);
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

    /// A FIFO in `folder`, and a thread that reads all of it.
    fn fifo(folder: &Path) -> (PathBuf, std::thread::JoinHandle<String>) {
        let path = folder.join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reader = path.clone();
        (path, std::thread::spawn(move || fs::read_to_string(reader).unwrap()))
    }

    #[test]
    fn fifos_and_devices_are_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let (path, reader) = fifo(folder.path());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, "through a link", None).unwrap();
        assert_eq!(reader.join().unwrap(), "through a link");
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo() && link.is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        // A link keeps a device safe from a regression in a test that runs as root.
        let full = folder.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        assert!(write(&full, "lost", None).is_err());
        assert!(full.is_symlink() && fs::metadata(&full).unwrap().file_type().is_char_device());
    }

    #[test]
    fn links_to_new_files_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::os::unix::fs::symlink("real", &link).unwrap();
        write(&link, "new", None).unwrap();
        assert!(link.is_symlink() && !real.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    }

    #[test]
    fn folders_and_sockets_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, what) in [(folder.path(), "it is a folder"), (socket.as_path(), "it is a socket")] {
            let refused = write(path, "text", None).unwrap_err().to_string();
            assert!(refused.contains(what), "{refused}");
        }
        let refused = write(&folder.path().join("no/such"), "text", None).unwrap_err().to_string();
        assert!(refused.contains("there is no folder") && refused.contains("mkdir -p"), "{refused}");
    }

    #[test]
    fn unfinished_output_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        fs::write(&path, "old").unwrap();
        let mut output = Output::open(&path, Some(PRIVATE)).unwrap();
        output.write(b"half").unwrap();
        drop(output);
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), fs::read_dir(folder.path()).unwrap().count()), ("old", 1));
        let mut output = Output::open(&path, Some(PRIVATE)).unwrap();
        output.write(b"whole").unwrap();
        output.finish().unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("whole", PRIVATE));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
