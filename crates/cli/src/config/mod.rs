//! Settings: a flag, else an environment variable, else a key in a file, else the default.
//!
//! Which file: the one that `--config` (`TOOLCRIB_CONFIG`) names, else `toolcrib.toml` in the data folder. The current
//! directory is passed over, because it may be a repository of somebody else's, which must not decide where a server keeps
//! its rows or an agent is connected to.

mod limits;
mod listen;
mod resolved;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use resolved::Resolved;
pub(crate) use settings::{LogFormat, Settings};
