//! `server.json`, which tells the command line on the same machine how to reach the server.

use std::fs;
use std::io;
use std::path::Path;

use base::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

pub(crate) const SERVER_FILE: &str = "server.json";

/// `server.json`: the server's URL and the instance admin's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFile {
    /// The server's URL.
    pub url: String,
    /// The instance admin's key.
    pub key: String,
}

/// Reads `server.json` from a data folder, if it exists and is valid.
pub fn find_running(data: &Path) -> Option<ServerFile> {
    read_server_file(data).ok().flatten()
}

/// Like [`find_running`], but returns an error if the file exists and cannot be read.
pub fn read_server_file(data: &Path) -> Result<Option<ServerFile>> {
    let path = data.join(SERVER_FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|_| {
        let words = format!("{} is damaged; restart the server to write it again", path.display());
        Error::new(Kind::Unavailable, words)
    })
}

/// The error for a file or folder that exists but cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Error {
    let what_to_do = match error.kind() {
        io::ErrorKind::PermissionDenied => "; run this as the user who owns it",
        _ => "",
    };
    Error::new(Kind::Unavailable, format!("cannot read {} ({error}){what_to_do}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_or_unreadable_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_server_file(folder.path()).unwrap(), None);
        fs::write(folder.path().join(SERVER_FILE), "{\"url\": ").unwrap();
        assert!(read_server_file(folder.path()).unwrap_err().message().contains("is damaged"));
        assert_eq!(find_running(folder.path()), None);
        let denied = unreadable(folder.path(), &io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(denied.message().contains("as the user who owns it"), "{denied}");
    }
}
