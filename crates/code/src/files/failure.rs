//! What went wrong on the disk, in words for the caller. The details of the machine go to the log only.

use std::io;

use base::{Error, Kind};
use rustix::io::Errno;

use crate::path::{CodePath, shown};

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Reading,
    Writing,
}

/// The error for `path`.
pub(crate) fn failure(path: &CodePath, doing: Doing, error: &io::Error) -> Error {
    let path = shown(path.as_str());
    let unavailable = |words: String| Error::new(Kind::Unavailable, words);
    // Waiting does not help, and the caller must see these words.
    let forbidden = |words: String| Error::new(Kind::Conflict, words);
    let failed = match Errno::from_io_error(error) {
        Some(Errno::LOOP) => Error::invalid("path", format!("`{path}` is a loop of symbolic links; give the file's own path")),
        Some(Errno::NAMETOOLONG) => Error::invalid("path", format!("`{path}` is too long for the disk; give a shorter path")),
        Some(Errno::INVAL | Errno::ILSEQ) => {
            Error::invalid("path", format!("the disk does not accept the name `{path}`; give another one"))
        }
        Some(Errno::NOTDIR) => Error::invalid("path", format!("a part of `{path}` is a file, not a folder; give another path")),
        Some(Errno::NOSPC | Errno::DQUOT) => {
            forbidden(format!("the disk is full, so `{path}` was not changed; make room and try again"))
        }
        Some(Errno::ROFS) => forbidden(format!("the disk is read-only, so `{path}` was not changed; ask the operator")),
        Some(Errno::ACCESS | Errno::PERM) if doing == Doing::Writing => {
            forbidden(format!("the server may not write `{path}`; change the permissions of the file or its folder"))
        }
        Some(Errno::ACCESS | Errno::PERM) => forbidden(format!("the server may not read `{path}`; change its permissions")),
        // cap-std's words for a path that leaves the directory.
        None if error.kind() == io::ErrorKind::PermissionDenied => outside(&path),
        _ if doing == Doing::Writing => unavailable(format!("`{path}` could not be written; nothing was changed")),
        _ => unavailable(format!("`{path}` could not be read right now; try again")),
    };
    failed.logged(error)
}

/// The error for a path that symbolic links lead out of the root.
pub(crate) fn outside(path: &str) -> Error {
    Error::invalid("path", format!("`{}` leads out of the project's root by a symbolic link; give a path inside", shown(path)))
}

/// The error for a link that leads to nothing, or to what no path may name.
pub(crate) fn misled(path: &CodePath) -> Error {
    let words = "is a symbolic link to something that cannot be used; give the path of a file";
    Error::invalid("path", format!("`{}` {words}", shown(path.as_str())))
}

/// The error for something that is neither a file nor a folder, or a folder where a file is needed.
pub(crate) fn not_a_file(path: &CodePath) -> Error {
    Error::invalid("path", format!("`{}` is not a file; give the path of a file", shown(path.as_str())))
}

/// The error for a root that is gone.
pub(crate) fn vanished() -> Error {
    let words = "the project's folder was moved or removed; put it back, or give the project another root";
    Error::new(Kind::Conflict, words)
}
