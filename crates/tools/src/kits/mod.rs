//! Kits: lists of bricks that agents compose and people publish. Nothing here can publish.

mod create_draft;
mod get;
mod list;

pub(crate) use create_draft::CreateDraft;
pub(crate) use get::Get;
pub(crate) use list::List;
