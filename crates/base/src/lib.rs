//! Shared types of all crates: ids, the clock, randomness, limits, error kinds, scopes and principals.
//!
//! This crate does no I/O and depends on none of our other crates.

mod author;
pub mod clock;
pub mod cursor;
pub mod error;
pub mod event;
pub mod id;
pub mod limits;
pub mod near;
pub mod network;
pub mod number;
pub mod principal;
pub mod scope;
pub mod secret;

pub use author::Author;
pub use clock::{Clock, Timestamp};
pub use cursor::{Cursor, Page, PageRequest};
pub use error::{Error, Kind, Result};
pub use event::{EventChoice, EventKind};
pub use id::{
    AgentId, BrickId, BrickVersionId, DecisionId, EntityId, EventId, FileVersionId, KeyId, KitId, KitVersionId, ObservationId,
    OrgId, ProjectId, RequestId, SessionId, TokenId, TripletId, UserId, WebhookId,
};
pub use network::{Network, is_public, neighbourhood};
pub use principal::{Actor, Allowlist, Door, Principal, ProjectView, ToolNames};
pub use scope::{Scope, ScopeSet};
