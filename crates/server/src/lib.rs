//! The server: doors, the pipeline for every call, the management API, metrics and background work.
//!
//! [`Server::start`] returns when the server is ready. [`Server::stop`] finishes running calls and closes the store.

mod api;
mod background;
mod backup;
mod body;
mod catalogues;
mod checkpoints;
mod config;
mod counted;
mod data_folder;
mod dispatch;
mod doors;
mod embedding;
mod first_start;
mod folder_lock;
mod hooks;
mod hosts;
mod in_flight;
mod linger;
mod listen;
mod listing;
mod metrics;
mod patience;
mod pipeline;
mod private;
mod record;
mod refusals;
mod restoring;
mod server;
mod server_file;
mod state;

pub use api::openapi;
pub use backup::{BackedUp, Restore, RestoredInto, Verified, back_up, restore, verify_backup};
pub use catalogues::Sources;
pub use config::{Config, EmbedEndpoint, EmbedKey, MasterKeySource};
pub use data_folder::LOCKED;
pub use embedding::{ask_embedder, remote_embedder};
pub use folder_lock::stdio_process;
pub use guard::{BrokenTrail, Swept, Trails};
pub use hooks::{EventOutcome, Phase, Retry, Subscriber, Subscribers, VerbError, VerbEvent};
pub use restoring::restore_cut_short;
pub use server::Server;
pub use server_file::{ServerFile, find_running, read_server_file};
