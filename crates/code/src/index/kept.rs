//! The state of a project's index on disk: which files it has, with their stamps and hashes. With it and the pack of outlines, an
//! unchanged project needs no read of its files when the server starts again.
//!
//! It is a cache. A file that is damaged, old or missing is the same as none.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use syntax::Language;

use super::file::FileState;
use super::files::FileStamp;
use super::pack::{OUTLINE_VERSION, checksum};

const MAGIC: [u8; 12] = *b"tc-project\x00\x01";
/// Two hundred thousand paths of the greatest length do not fit, and need not: such a project is read again.
const BYTES_MAX: u64 = 128 * 1024 * 1024;

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptFile {
    pub(crate) path: String,
    pub(crate) stamp: FileStamp,
    pub(crate) hash: [u8; 32],
    pub(crate) language: Option<Language>,
    pub(crate) state: FileState,
}

/// The files that were kept at a path. Nothing if there are none that can be used.
pub(crate) fn load(path: &Path) -> Option<Vec<KeptFile>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let rest = bytes.strip_prefix(&MAGIC)?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    if u32::from_le_bytes(*version) != OUTLINE_VERSION || u64::from_le_bytes(*sum) != checksum(rest) {
        return None;
    }
    postcard::from_bytes(rest).ok()
}

/// Replaces what is kept at a path.
pub(crate) fn save(path: &Path, files: &[KeptFile]) -> io::Result<()> {
    let body = postcard::to_stdvec(files).map_err(io::Error::other)?;
    let fresh = path.with_extension("new");
    let mut file = std::fs::File::create(&fresh)?;
    file.write_all(&MAGIC)?;
    file.write_all(&OUTLINE_VERSION.to_le_bytes())?;
    file.write_all(&checksum(&body).to_le_bytes())?;
    file.write_all(&body)?;
    drop(file);
    std::fs::rename(fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_or_is_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("p.files");
        assert_eq!(load(&path), None);
        let file = KeptFile {
            path: "a/b.rs".to_owned(),
            stamp: FileStamp { size: 1, modified_ns: 2, changed_ns: 3, inode: 4 },
            hash: [5; 32],
            language: Some(Language::Rust),
            state: FileState::Parsed,
        };
        save(&path, std::slice::from_ref(&file)).unwrap();
        assert_eq!(load(&path), Some(vec![file]));
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(load(&path), None, "{length} bytes");
        }
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(load(&path), None, "byte {place}");
        }
    }
}
