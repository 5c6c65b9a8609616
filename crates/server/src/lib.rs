//! The server: doors, the pipeline that every call goes through, the management API, metrics and background work.
//!
//! [`Server::start`] brings everything up and answers when it can be used; [`Server::stop`] drains and lets go.

mod addresses;
mod api;
mod background;
mod backup;
mod body;
mod checkpoints;
mod config;
mod data_folder;
mod dispatch;
mod doors;
mod embedding;
mod first_start;
mod hooks;
mod hosts;
mod in_flight;
mod janitor;
mod linger;
mod listen;
mod listeners;
mod listing;
mod metrics;
mod patience;
mod pipeline;
mod private;
mod readiness;
mod record;
mod refusals;
mod request_id;
mod routes;
mod server;
mod state;
mod vocabulary;

pub use api::openapi;
pub use backup::{BackedUp, Restore, RestoredInto, Verified, back_up, restore, verify_backup};
pub use config::{Config, EmbedEndpoint, EmbedKey, MasterKeySource};
pub use data_folder::{LOCKED, ServerFile, find_running};
pub use embedding::ask_embedder;
pub use guard::{BrokenTrail, Swept, Trails};
pub use hooks::{EventOutcome, Phase, Retry, Subscriber, Subscribers, VerbError, VerbEvent};
pub use server::Server;
