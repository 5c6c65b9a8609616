//! Bricks and kits on both engines: creating, listing, refusing and publishing.

#[path = "kits/bricks.rs"]
mod bricks;
#[path = "kits/cases.rs"]
mod cases;
#[path = "kits/drafts.rs"]
mod drafts;
#[path = "kits/lists.rs"]
mod lists;
#[path = "kits/publishing.rs"]
mod publishing;
#[path = "kits/readiness.rs"]
mod readiness;
#[path = "kits/unknown.rs"]
mod unknown;
