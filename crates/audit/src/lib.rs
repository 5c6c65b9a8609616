//! The audit trail's format: canonical events, the chain, signatures, checkpoints, and a verifier that needs no server.
//!
//! `docs/audit-format.md` specifies the exact bytes. An event starts as a [`Draft`], gets its position in the chain from
//! [`Prepared::seal`], is shown as an [`Entry`], and is checked by a [`Verifier`]. Nothing here reads a clock, a store or the
//! network. Its only outside input is the randomness of a new [`SigningKey`].

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
