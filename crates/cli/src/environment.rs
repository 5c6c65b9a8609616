//! The process's surroundings: the one place of the command line that asks for environment variables by name. Settings that
//! are flags too are read by clap, from the `env` of their definition.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// The master key itself. It has no flag and no key in `toolcrib.toml`, because it would be seen there.
const MASTER_KEY: &str = "TOOLCRIB_MASTER_KEY";

/// The key of an embedding endpoint, for the same reason.
const EMBED_KEY: &str = "TOOLCRIB_EMBED_KEY";

/// Variables that hold the operator's secrets: an agent that we start never inherits them.
pub(crate) const SECRETS: [&str; 5] = ["TOOLCRIB_KEY", MASTER_KEY, "TOOLCRIB_DATABASE_URL", EMBED_KEY, AGENT_SECRET];

/// An agent's key and secret, for `toolcrib agent token`.
pub(crate) const AGENT_KEY: &str = "TOOLCRIB_AGENT_KEY";
pub(crate) const AGENT_SECRET: &str = "TOOLCRIB_AGENT_SECRET";

fn value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Where data lies when nobody says: `$XDG_DATA_HOME/toolcrib`, else `~/.local/share/toolcrib`.
pub(crate) fn default_data() -> Result<PathBuf> {
    let shared = value("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || value("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    let folder = shared.or_else(home).context("there is no HOME to keep data in: pass --data DIR or set TOOLCRIB_DATA")?;
    Ok(folder.join("toolcrib"))
}

/// Where data lies when nobody says and no variable but `HOME` is known, as in an MCP client that passes on little else.
pub(crate) fn home_data() -> Option<PathBuf> {
    value("HOME").map(|home| PathBuf::from(home).join(".local/share/toolcrib"))
}

/// Where this user's logins are kept: `$XDG_STATE_HOME/toolcrib`, else `~/.local/state/toolcrib`. It is no data folder, which
/// backups copy.
pub(crate) fn state_folder() -> Result<PathBuf> {
    let state = value("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || value("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    Ok(state.or_else(home).context("there is no HOME to keep a login in: set HOME or XDG_STATE_HOME")?.join("toolcrib"))
}

/// A variable's text, when it is set and not empty.
pub(crate) fn text(name: &str) -> Option<String> {
    value(name).and_then(|text| text.into_string().ok())
}

/// The master key, when the environment carries it.
pub(crate) fn master_key() -> Option<String> {
    value(MASTER_KEY).and_then(|key| key.into_string().ok())
}

/// The key of an embedding endpoint, when the environment carries it.
pub(crate) fn embed_key() -> Option<String> {
    value(EMBED_KEY).and_then(|key| key.into_string().ok())
}

/// The folders in which programs are looked for.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    value("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}
