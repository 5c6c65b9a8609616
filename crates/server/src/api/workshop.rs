//! Shared by the routes for bricks and for kits: the workshop, and the answers to its errors.

use std::fmt::Display;

use base::{EventKind, Kind};
use guard::{Access, Event};
use kits::Workshop;
use store::Change;

use super::error::ApiError;

/// The bricks and kits that the caller may read.
pub(super) fn workshop(access: &Access) -> Workshop {
    Workshop::new(access.rows().clone(), access.clock().clone())
}

/// The bricks and kits for a change, which is audited as `kind`.
pub(super) fn changing(access: &Access, kind: EventKind, entity_type: &'static str, id: impl Display) -> Workshop<Change> {
    Workshop::new(access.change_as(Event::new(kind, entity_type, id)), access.clock().clone())
}

impl From<kits::Error> for ApiError {
    fn from(error: kits::Error) -> Self {
        match error {
            kits::Error::Store(error) => error.into(),
            // For a tool, an unknown id is an invalid argument. For a route it is a 404, in the path and in the body.
            kits::Error::UnknownBrick | kits::Error::UnknownListedBrick { .. } => {
                Self::new(Kind::NotFound, error.to_string()).with_missing("brick")
            }
            kits::Error::UnknownKit => Self::new(Kind::NotFound, error.to_string()).with_missing("kit"),
            _ => Self::new(error.kind(), error.to_string()),
        }
    }
}
