//! Settings. A flag overrides an environment variable, which overrides the settings file, which overrides the default.
//!
//! The settings file is the one named by `--config` (`TOOLCRIB_CONFIG`), else `toolcrib.toml` in the data folder. A file in the
//! current directory is ignored: the directory may be an untrusted repository, which must not redirect the server or its clients.

mod embed;
mod limits;
mod listen;
mod resolved;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use embed::EmbedArgs;
pub(crate) use resolved::Resolved;
pub(crate) use settings::{LogFormat, Settings};
