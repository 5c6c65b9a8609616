//! Settings: a flag, else an environment variable, else a key in a file, else the default.
//!
//! Which file: the one that `--config` (`TOOLCRIB_CONFIG`) names; else, for `toolcrib serve` only, `./toolcrib.toml`; else
//! `toolcrib.toml` in the data folder. Client commands pass over the current directory, because it may be a repository of
//! somebody else's, which must not decide where an agent is connected to.

mod limits;
mod resolved;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use resolved::{CONFIG_FILE, Resolved, Search};
pub(crate) use settings::{LogFormat, Settings};
