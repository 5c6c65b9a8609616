//! Reads environment variables. No other module of the command line reads them by name; variables that have a flag are read by
//! clap.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// The master key. It has no flag and no setting in `toolcrib.toml`, because other users could read it there.
const MASTER_KEY: &str = "TOOLCRIB_MASTER_KEY";

/// The key of the embedding endpoint. It has no flag for the same reason.
const EMBED_KEY: &str = "TOOLCRIB_EMBED_KEY";

/// Variables that hold the operator's secrets. Agents that `toolcrib run` starts do not inherit them.
pub(crate) const SECRETS: [&str; 5] = ["TOOLCRIB_KEY", MASTER_KEY, "TOOLCRIB_DATABASE_URL", EMBED_KEY, AGENT_SECRET];

/// An agent's key and secret, for `toolcrib agent token`.
pub(crate) const AGENT_KEY: &str = "TOOLCRIB_AGENT_KEY";
pub(crate) const AGENT_SECRET: &str = "TOOLCRIB_AGENT_SECRET";

/// Variables that hold a path.
const PATHS: [&str; 5] =
    ["TOOLCRIB_DATA", "TOOLCRIB_CONFIG", "TOOLCRIB_MASTER_KEY_FILE", "TOOLCRIB_AUDIT_CHECKPOINTS", "TOOLCRIB_EMBED_KEY_FILE"];

fn value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The default data folder: `$XDG_DATA_HOME/toolcrib`, else `~/.local/share/toolcrib`.
pub(crate) fn default_data() -> Result<PathBuf> {
    let shared = value("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || value("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    let folder = shared.or_else(home).context("HOME is not set; pass --data DIR or set TOOLCRIB_DATA")?;
    Ok(folder.join("toolcrib"))
}

/// The default data folder when only `HOME` is set, as in an MCP client that passes on few variables.
pub(crate) fn home_data() -> Option<PathBuf> {
    value("HOME").map(|home| PathBuf::from(home).join(".local/share/toolcrib"))
}

/// The folder for this user's logins: `$XDG_STATE_HOME/toolcrib`, else `~/.local/state/toolcrib`. It is not in the data folder,
/// because backups copy that.
pub(crate) fn state_folder() -> Result<PathBuf> {
    let state = value("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || value("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    Ok(state.or_else(home).context("no folder for the login; set HOME or XDG_STATE_HOME")?.join("toolcrib"))
}

/// A variable's text, if it is set and not empty.
pub(crate) fn text(name: &str) -> Option<String> {
    value(name).and_then(|text| text.into_string().ok())
}

/// The first path variable that is set but empty.
pub(crate) fn empty_path() -> Option<&'static str> {
    let is_empty = |name: &&str| std::env::var_os(name).is_some_and(|value| value.is_empty());
    PATHS.iter().find(|name| is_empty(name)).copied()
}

/// The master key, if it is set.
pub(crate) fn master_key() -> Option<String> {
    value(MASTER_KEY).and_then(|key| key.into_string().ok())
}

/// The key of the embedding endpoint, if it is set.
pub(crate) fn embed_key() -> Option<String> {
    value(EMBED_KEY).and_then(|key| key.into_string().ok())
}

/// The folders of `PATH`.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    value("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}
