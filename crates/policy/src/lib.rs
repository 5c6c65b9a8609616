//! Cedar: the generated schema, checked policies, compiled sets and their decisions.
//!
//! A [`Model`] is made of the tools: it holds the entity types and one typed action per tool. Against it a document of policies
//! is [checked](Model::check) before it is saved, and all documents of an org are [compiled](Model::compile). A [`Compiled`]
//! set answers, for every call, whether it is permitted.
//!
//! *Invariant:* the answer is no unless a statement permits it, none forbids it, and every statement that applies could be
//! evaluated. An unknown action, a document that cannot be read and arguments that Cedar cannot hold are denied. Cedar itself
//! skips a policy that fails; here it denies.
//!
//! *Invariant:* documents in [`Mode::LogOnly`] change no decision.
//!
//! This crate knows no rows, no clock and no wire: the time is passed in, and nothing a client sends becomes an entity.

mod compiled;
mod decide;
mod decision;
mod finding;
mod inside;
mod limits;
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
pub use limits::{DOCUMENT_BYTES_MAX, NESTING_MAX, STATEMENT_NAME_CHARS_MAX, STATEMENTS_MAX};
pub use model::{ActionKind, ActionSpec, Model, Peer};
pub use source::{StatementInfo, statement_text};

/// The document that a new org starts with: its own tools permitted, peers discoverable, none invocable until someone permits
/// it.
pub const STARTER: &str = include_str!("starter.cedar");
/// How many statements [`STARTER`] has.
pub const STARTER_STATEMENTS: i64 = 2;
