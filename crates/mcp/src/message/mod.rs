//! Parses bytes into JSON-RPC messages without copying: ids and params are slices of the body.
//!
//! No input makes this panic, recurse or build a tree. It checks only the envelope. [`crate::era`] and the dispatcher interpret
//! the params.

pub mod depth;
mod id;
mod parse;

use std::borrow::Cow;

use base::Error;
use serde_json::value::RawValue;

pub use id::Id;
pub use parse::parse;

/// The content of one body or one line of stdio.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// One message.
    One(Message<'a>),
    /// A legacy batch of at least one element, in order. An element that is not a message has its own refusal.
    ///
    /// Every element counts against the rate limit. If none needs an answer, there is none (202).
    Batch(Vec<Result<Message<'a>, Refusal<'a>>>),
}

/// One message of a client.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// A message that needs an answer.
    Request(Request<'a>),
    /// A message that needs none.
    Notification(Notification<'a>),
    /// An answer to something that we never asked. It is accepted (202) and ignored.
    Response,
}

/// A request. Its id is null only for an `initialize` without an id, which is answered anyway.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Echoed verbatim.
    pub id: Id<'a>,
    /// The method's name, whether it exists or not.
    pub method: Cow<'a, str>,
    /// The object of parameters, if there is one.
    pub params: Option<&'a RawValue>,
}

/// A message without an id. It is never answered.
#[derive(Clone, Debug)]
pub struct Notification<'a> {
    /// The method's name.
    pub method: Cow<'a, str>,
    /// The object of parameters, if there is one.
    pub params: Option<&'a RawValue>,
}

/// Why something is not a message, and the id for the answer.
#[derive(Clone, Debug)]
pub struct Refusal<'a> {
    /// The id to echo; null if none could be read.
    pub id: Id<'a>,
    /// A `parse_error`, `invalid_request` or `invalid_params`.
    pub error: Error,
}

#[cfg(test)]
mod tests;
