//! Finds the server: from `--url`, or from the `server.json` that a running server keeps in its data folder.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;

use crate::{environment, output};

/// A running server keeps this file in its data folder locked.
const LOCK_FILE: &str = "toolcrib.lock";

/// Selects the server and the key.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// Server URL [default: the server that runs on the data folder]
    #[arg(long, env = "TOOLCRIB_URL", value_name = "URL", global = true)]
    pub(crate) url: Option<String>,

    /// API key [default: the instance admin's key, from the data folder]
    #[arg(long, env = "TOOLCRIB_KEY", value_name = "KEY", hide_env_values = true, global = true)]
    pub(crate) key: Option<String>,

    /// Data folder of the server [default: ~/.local/share/toolcrib]
    #[arg(long, env = "TOOLCRIB_DATA", value_name = "DIR", global = true)]
    pub(crate) data: Option<PathBuf>,
}

/// A server and the key to it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Its URL, without a trailing slash.
    pub(crate) url: String,
    /// The key.
    pub(crate) key: String,
    /// Whether this is the instance admin's key, from `server.json`.
    pub(crate) is_admin: bool,
}

/// The state of a data folder's server.
#[derive(Debug)]
pub(crate) enum State {
    /// No server was ever started on this folder.
    Fresh,
    /// No server is running.
    Stopped,
    /// A server is running. `None` while it is still starting.
    Running(Option<Found>),
}

impl ServerArgs {
    /// The selected data folder.
    pub(crate) fn data_folder(&self) -> Result<PathBuf> {
        let folder = match &self.data {
            Some(data) => data.clone(),
            None => environment::default_data()?,
        };
        Ok(std::path::absolute(folder)?)
    }

    /// Finds the server. The error says how to start or name one.
    pub(crate) fn find(&self) -> Result<Found> {
        match (&self.url, &self.key) {
            (Some(url), Some(key)) => Ok(Found { url: checked_url(url)?, key: key.clone(), is_admin: false }),
            (Some(url), None) => self.with_own_key(&checked_url(url)?),
            (None, key) => {
                let mut found = self.find_in_data_folder()?;
                if let Some(key) = key {
                    found = Found { key: key.clone(), is_admin: false, ..found };
                }
                Ok(found)
            }
        }
    }

    /// The command that starts the server of this data folder.
    pub(crate) fn serve(&self) -> String {
        match &self.data {
            Some(data) => format!("`toolcrib serve --data {}`", output::quoted(&data.to_string_lossy())),
            None => "`toolcrib serve`".to_owned(),
        }
    }

    /// Finds the server's URL, for requests that need no key.
    pub(crate) fn find_url(&self) -> Result<String> {
        match &self.url {
            Some(url) => checked_url(url),
            None => self.find_in_data_folder().map(|found| found.url),
        }
    }

    /// Uses the admin key from the data folder if `url` is that folder's server.
    fn with_own_key(&self, url: &str) -> Result<Found> {
        match look(&self.data_folder()?)? {
            State::Running(Some(found)) if found.url == url => Ok(found),
            _ => bail!("no key for {url}; pass --key or set TOOLCRIB_KEY (create a key with `toolcrib key add`)"),
        }
    }

    fn find_in_data_folder(&self) -> Result<Found> {
        let data = self.data_folder()?;
        let serve = self.serve();
        match look(&data)? {
            State::Running(Some(found)) => Ok(found),
            State::Running(None) => bail!("the server on the data folder {} is still starting; try again", data.display()),
            State::Stopped => {
                bail!("no server is running on the data folder {}; start it with {serve}", data.display())
            }
            State::Fresh => bail!(
                "no server was ever started on the data folder {}; start one with {serve}, or pass --url and --key",
                data.display()
            ),
        }
    }
}

/// Reads the state of a data folder. A `server.json` counts only while the server holds its lock: after the server is gone,
/// another program may use its port, and that program must not receive the key.
pub(crate) fn look(data: &Path) -> Result<State> {
    let file = match server::read_server_file(data) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(if is_locked(data) { State::Running(None) } else { State::Fresh }),
        // The next start rewrites a damaged file. A file without read permission is an error.
        Err(_) if is_readable(data) && !is_locked(data) => return Ok(State::Stopped),
        Err(error) => bail!("{}", error.message()),
    };
    if !is_locked(data) {
        return Ok(State::Stopped);
    }
    Ok(State::Running(Some(Found { url: reachable(&file.url), key: file.key, is_admin: true })))
}

fn is_readable(data: &Path) -> bool {
    File::open(data.join("server.json")).is_ok()
}

/// Replaces an address that means all interfaces with the loopback address.
fn reachable(url: &str) -> String {
    let url = url.trim_end_matches('/');
    url.replacen("//0.0.0.0:", "//127.0.0.1:", 1).replacen("//[::]:", "//[::1]:", 1)
}

fn is_locked(data: &Path) -> bool {
    let Ok(lock) = File::open(data.join(LOCK_FILE)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Checks a server URL and removes trailing slashes.
pub(crate) fn checked_url(url: &str) -> Result<String> {
    let trimmed = url.trim().trim_end_matches('/');
    if !trimmed.starts_with("http://") && !trimmed.starts_with("https://") {
        bail!("`{url}` is not a server URL; it must start with http:// or https://");
    }
    Ok(trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(data: &Path, url: Option<&str>, key: Option<&str>) -> ServerArgs {
        ServerArgs { url: url.map(str::to_owned), key: key.map(str::to_owned), data: Some(data.to_owned()) }
    }

    fn write_server_file(data: &Path) {
        std::fs::write(data.join("server.json"), r#"{"url": "http://127.0.0.1:1", "key": "rsk_live_admin"}"#).unwrap();
    }

    #[test]
    fn url_without_a_key_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let found = args(data.path(), Some("http://h:1/"), Some("k")).find().unwrap();
        assert_eq!((found.url.as_str(), found.key.as_str(), found.is_admin), ("http://h:1", "k", false));
        assert!(args(data.path(), Some("http://h:1"), None).find().unwrap_err().to_string().contains("--key"));
        assert!(args(data.path(), Some("h:1"), Some("k")).find().unwrap_err().to_string().contains("`h:1`"));
    }

    #[test]
    fn wildcard_address_becomes_loopback() {
        assert_eq!(reachable("http://0.0.0.0:7420/"), "http://127.0.0.1:7420");
        assert_eq!(reachable("http://[::]:7420"), "http://[::1]:7420");
        assert_eq!(reachable("http://10.0.0.0:7420"), "http://10.0.0.0:7420");
    }

    #[test]
    fn damaged_server_file_is_reported_while_locked() {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join("server.json"), "{").unwrap();
        let says = || args(data.path(), None, None).find().unwrap_err().to_string();
        assert!(says().contains("no server is running"), "{}", says());
        let lock = File::create(data.path().join(LOCK_FILE)).unwrap();
        lock.lock().unwrap();
        assert!(says().contains("server.json is damaged"), "{}", says());
    }

    #[test]
    fn server_file_counts_only_while_locked() {
        let data = tempfile::tempdir().unwrap();
        let says = |key: Option<&str>| args(data.path(), None, key).find().map_err(|error| error.to_string());
        assert!(says(None).unwrap_err().contains("no server was ever started"));
        write_server_file(data.path());
        assert!(says(None).unwrap_err().contains("no server is running"));
        let lock = File::create(data.path().join(LOCK_FILE)).unwrap();
        lock.lock().unwrap();
        let found = says(None).unwrap();
        assert_eq!((found.key.as_str(), found.is_admin), ("rsk_live_admin", true));
        assert!(!says(Some("rsk_live_other")).unwrap().is_admin);
        assert!(args(data.path(), Some("http://127.0.0.1:1/"), None).find().unwrap().is_admin);
        assert!(args(data.path(), Some("http://127.0.0.1:2"), None).find().is_err());
    }
}
