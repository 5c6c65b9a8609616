//! Bricks: rules that agents draft and people publish. Nothing here can publish.

mod create_draft;
mod list;

pub(crate) use create_draft::CreateDraft;
pub(crate) use list::List;
