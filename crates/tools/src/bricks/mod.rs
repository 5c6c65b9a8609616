//! Bricks: rules that agents draft and people publish. Nothing here can publish.

mod create_draft;
mod list;

pub(crate) use create_draft::CreateDraft;
pub(crate) use list::List;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::Call;

/// Where a brick or kit is in its life.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Draft,
    Published,
    Deprecated,
}

impl From<Status> for ::kits::Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Draft => Self::Draft,
            Status::Published => Self::Published,
            Status::Deprecated => Self::Deprecated,
        }
    }
}

impl From<::kits::Status> for Status {
    fn from(status: ::kits::Status) -> Self {
        match status {
            ::kits::Status::Draft => Self::Draft,
            ::kits::Status::Published => Self::Published,
            ::kits::Status::Deprecated => Self::Deprecated,
        }
    }
}

/// Rows that a list shows when the caller does not say.
pub(crate) const LIMIT_DEFAULT: u32 = 20;

impl Call<'_> {
    /// The caller's workshop.
    pub(crate) fn workshop(&self) -> ::kits::Workshop {
        ::kits::Workshop::new(self.permit.rows().clone(), self.services.clock.clone())
    }
}
