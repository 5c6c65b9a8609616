//! Bricks and kits: building blocks that agents draft and people review.
//!
//! A **brick** is a rule (an evaluation prompt) with a name and a key; a **kit** is a list of bricks. Both have versions,
//! numbered from 1. The text of a version never changes once it is written.
//!
//! | thing | becomes | when |
//! |---|---|---|
//! | brick, kit | `draft` | it is created |
//! | | `published` | one of its versions is published |
//! | | `deprecated` | a person deprecates it, from any status; this is final: no new versions, nothing to publish |
//! | version | `draft` | it is created |
//! | | `published` | a person publishes it, or (of a brick) a kit that pins it |
//!
//! The **current version** is the newest published one, or the newest draft while nothing is published. A new version can be
//! drafted while another draft is open: each is a separate row, and publishing takes the newest version. If that one is already
//! published, there is nothing to publish. An older draft stays a draft, unless a kit that pins it promotes it. Deprecating
//! twice has no further effect. The description belongs to the brick and not to a version, so a new version with a description
//! replaces it at once.
//!
//! A kit version **pins** each brick's current version when the kit version is made, including deprecated bricks. Whether it
//! can be published is a separate check, see [`Readiness`]. A published kit version is frozen: its pins and the versions of its
//! bricks never change.
//!
//! This crate does not know the wire format, permissions or other orgs: it sees one org's rows. Every change is one
//! transaction, and the store runs an org's changes one after another, so a check still holds when the change writes. All SQL
//! is in `sql.rs`.

mod brick;
mod brick_changes;
mod error;
mod input;
mod kit;
mod kit_changes;
mod readiness;
mod sql;
mod words;

use base::Clock;
use store::{Change, OrgStore, OrgTx};

pub use brick::{Brick, BrickSummary, BrickVersion};
pub use error::{Error, Result, Text};
pub use input::{NewBrick, NewBrickVersion, NewKit, NewKitVersion};
pub use kit::{Kit, KitBrick, KitInspection, KitSummary, KitVersion};
pub use kit_changes::{CreatedKit, PublishedKit};
pub use readiness::{Finding, Readiness};
pub use words::{Badge, Blocker, BrickType, Status, VersionStatus, Warning};

/// One org's bricks and kits.
#[derive(Clone)]
pub struct Workshop<R = OrgStore> {
    rows: R,
    clock: Clock,
}

impl<R: AsRef<OrgStore>> Workshop<R> {
    /// The bricks and kits of an org, for reading or, with a [`Change`](store::Change), for changing.
    pub fn new(rows: R, clock: Clock) -> Self {
        Self { rows, clock }
    }

    fn rows(&self) -> &OrgStore {
        self.rows.as_ref()
    }
}

impl Workshop<Change> {
    /// Runs `job` in one transaction, which an error rolls back.
    async fn change<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let outcome = self.rows.write(move |tx| job(tx).map_err(Error::through_store)).await;
        Ok(outcome?)
    }
}
