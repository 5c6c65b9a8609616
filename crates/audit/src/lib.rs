//! The audit trail's format: canonical events, the chain, signatures, checkpoints, and a verifier that needs no server.
//!
//! The exact bytes are in `docs/audit-format.md`. An event is made ready as a [`Draft`], given its place in the chain by
//! [`Prepared::seal`], shown as an [`Entry`], and checked by a [`Verifier`]. Nothing here reads a clock, a store or the network;
//! the only thing taken from outside is the randomness of a new [`SigningKey`].

pub mod announce;
pub mod canonical;
mod checkpoint;
mod entry;
mod event;
mod hash;
mod jwks;
mod key;
mod line;
pub mod verify;

pub use checkpoint::Checkpoint;
pub use entry::Entry;
pub use event::{Draft, Event, Prepared, Sealed, Text};
pub use hash::EntryHash;
pub use jwks::{Jwk, Jwks, Revoked};
pub use key::{Signature, SigningKey, VerifyingKey};
pub use line::LINE_BYTES_MAX;
pub use verify::{Broken, Reason, Report, Verifier};
