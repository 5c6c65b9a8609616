//! All tools. Each family is a folder, and each tool is a file with its spec, wire types and handler. [`Catalogue::builtin`] is
//! the one list: listing, calling, docs and the authorization table come from it.
//!
//! A tool reads and writes rows only through the permit in its [`Call`]. It never sees a credential, a header or another org.

mod bricks;
mod catalogue;
mod changes;
mod code;
mod conformance;
mod graph;
mod kits;
mod memory;
mod refusals;
mod reply;
mod request_state;
mod rows;
mod schema;
mod shelf;
mod tool;
mod workshop;

pub use catalogue::{Catalogue, Offer, Offering, Source};
pub use changes::{Change, Changes};
pub use reply::{Answer, Reply};
pub use shelf::{EmptyShelf, Shelf};
pub use tool::{Call, Exchange, Notify, Registered, Run, Running, Services, Tool};
