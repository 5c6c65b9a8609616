//! Every tool of the product. `ls crates/tools/src` is the menu: a folder a family, a file a tool with its spec, wire
//! types and handler, and one list ([`Catalogue::builtin`]) from which listing, calling, docs and the authorization table are made.
//!
//! A tool reaches rows only through the permit in its [`Call`]; it never sees a credential, a header or another org.

mod bricks;
mod catalogue;
mod changes;
mod conformance;
mod graph;
mod kits;
mod memory;
mod reply;
mod request_state;
mod rows;
mod schema;
mod shelf;
mod tool;

pub use catalogue::Catalogue;
pub use changes::{Change, Changes};
pub use reply::{Answer, Reply};
pub use shelf::{EmptyShelf, Shelf};
pub use tool::{Call, Exchange, Notify, Registered, Services, Tool};
