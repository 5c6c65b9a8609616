//! Bytes to JSON-RPC messages, without copying: ids and params stay slices of the body.
//!
//! Nothing that a client can send makes this panic, recurse or build a tree. What it decides is only the envelope; what
//! the params mean is for [`crate::era`] and the dispatcher.

pub mod depth;
mod id;
mod parse;

use std::borrow::Cow;

use base::Error;
use serde_json::value::RawValue;

pub use id::Id;
pub use parse::parse;

/// What one body, or one line of stdio, held.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// One message.
    One(Message<'a>),
    /// A legacy batch of at least one element, in order. An element that is no message carries its own refusal.
    ///
    /// Every element counts against the rate limit. When none of them wants an answer, there is none (202).
    Batch(Vec<Result<Message<'a>, Refusal<'a>>>),
}

/// One message of a client.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request(Request<'a>),
    /// Wants none.
    Notification(Notification<'a>),
    /// Answers something that we never asked: it is taken (202) and forgotten.
    Response,
}

/// A request. Its id is null only for an `initialize` that came without one, which is answered all the same.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Echoed verbatim.
    pub id: Id<'a>,
    /// The method's name, whether it exists or not.
    pub method: Cow<'a, str>,
    /// The object of parameters, if there is one.
    pub params: Option<&'a RawValue>,
}

/// A message without an id: whatever it asks, it is never answered.
#[derive(Clone, Debug)]
pub struct Notification<'a> {
    /// The method's name.
    pub method: Cow<'a, str>,
    /// The object of parameters, if there is one.
    pub params: Option<&'a RawValue>,
}

/// Why something is no message, and whom to tell.
#[derive(Clone, Debug)]
pub struct Refusal<'a> {
    /// The id to echo, null when none could be read.
    pub id: Id<'a>,
    /// A `parse_error`, `invalid_request` or `invalid_params`.
    pub error: Error,
}

#[cfg(test)]
mod tests;
