//! Cedar policies: the generated schema, checked documents, compiled sets and decisions.
//!
//! A [`Model`] is built from the tools: it has the entity types and one typed action per tool. A policy document is
//! [checked](Model::check) against it before it is saved, and all documents of an org are [compiled](Model::compile). A
//! [`Compiled`] set decides whether a call is permitted.
//!
//! *Invariant:* the answer is no unless a statement permits it, none forbids it, and every statement that applies could be
//! evaluated. Unknown actions, unreadable documents and arguments that Cedar cannot represent are denied. Cedar itself skips a
//! policy that fails; here it denies.
//!
//! *Invariant:* documents in [`Mode::LogOnly`] change no decision.
//!
//! This crate knows no rows, no clock and no wire format: the time is passed in, and no client input becomes an entity.

mod compiled;
mod decide;
mod decision;
mod finding;
mod inside;
mod listing;
mod model;
mod reads;
mod scan;
mod schema;
mod scope;
mod set;
mod shape;
mod source;
mod statement;
mod who;

pub use compiled::{Compiled, Document, Flagged, Mode, Varies};
pub use decide::Input;
pub use decision::{Decision, Failure, Reason, WouldBe};
pub use finding::Finding;
pub use model::{ActionKind, ActionSpec, Model, Peer};
pub use source::{StatementInfo, statement_text};

/// The first document of a new org. It permits the org's tools and makes peers discoverable. No peer can be invoked until
/// someone permits it.
pub const STARTER: &str = include_str!("starter.cedar");
/// The number of statements in [`STARTER`].
pub const STARTER_STATEMENTS: i64 = 2;
