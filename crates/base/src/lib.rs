//! What every crate agrees on: ids, the clock, randomness, limits, error kinds, scopes and principals.
//!
//! This crate never does I/O and never depends on another crate of ours.

pub mod clock;
pub mod cursor;
pub mod error;
pub mod id;
pub mod limits;
pub mod network;
pub mod principal;
pub mod scope;
pub mod secret;

pub use clock::{Clock, Timestamp};
pub use cursor::{Cursor, Page, PageRequest};
pub use error::{Error, Kind, Result};
pub use id::{
    AgentId, BrickId, BrickVersionId, EntityId, EventId, KeyId, KitId, KitVersionId, ObservationId, OrgId, ProjectId, RequestId,
    SessionId, TokenId, TripletId, UserId, WebhookId,
};
pub use network::{Network, is_public, neighbourhood};
pub use principal::{Actor, Allowlist, Door, Principal, ProjectView, ToolNames};
pub use scope::{Scope, ScopeSet};
