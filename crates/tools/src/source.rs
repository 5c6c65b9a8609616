//! Sources of the tools that an org registers.

use std::pin::Pin;
use std::sync::Arc;

use base::{OrgId, Result};

use crate::tool::Registered;

/// A kind of registration that provides tools to an org.
pub trait Source: Send + Sync {
    /// The tools that `org` gets from this source. `seen` is the version of an earlier offer, and `None` as the answer means
    /// that the offer has not changed. The server asks again only after the org's change number has moved, so every change to
    /// an offer must move that number.
    fn offer<'a>(&'a self, org: &'a OrgId, seen: Option<u64>) -> Offering<'a>;
}

/// The future of an offer.
pub type Offering<'a> = Pin<Box<dyn Future<Output = Result<Option<Offer>>> + Send + 'a>>;

/// The tools of one source.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// A version that changes whenever the tools change.
    pub version: u64,
    /// The tools, in the order they were registered.
    pub tools: Vec<Arc<Registered>>,
}
