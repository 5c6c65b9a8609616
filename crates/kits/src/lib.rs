//! Bricks and kits: building blocks that agents draft and people review.
//!
//! A **brick** is a rule (an evaluation prompt) with a name and a key; a **kit** is a list of bricks. Both have versions,
//! numbered from 1. The text of a version never changes once it is written.
//!
//! | thing | becomes | when |
//! |---|---|---|
//! | brick, kit | `draft` | it is created |
//! | | `published` | one of its versions is published |
//! | | `deprecated` | a person retires it, whatever it was; this is final: no new versions, nothing to publish |
//! | version | `draft` | it is created |
//! | | `published` | a person publishes it, or (of a brick) a kit that pins it |
//!
//! The **current version** is the newest published one, or the newest draft while nothing is published. A new version may
//! be drafted while another draft is open: each is a row of its own, and publishing takes the newest version. If that one is
//! published already, there is nothing to publish; an older draft was overtaken and stays a draft (a kit that pinned it
//! still promotes it). Deprecating twice is the same as once. A brick's description is the brick's, not a version's: a new
//! version that brings one replaces it at once.
//!
//! A kit version **pins** each brick's current version at the moment the kit version is made, deprecated bricks included:
//! whether it can be published is another question, see [`Readiness`]. A published kit version is frozen: its pins were
//! written once and its bricks' versions never change.
//!
//! This crate knows nothing of the wire, of who may do what, or of other orgs: it sees one org's rows. Every change is one
//! transaction, and the store runs an org's changes one after another, so what a change has checked still holds when it
//! writes. SQL stands in `sql.rs` only.

mod brick;
mod brick_changes;
mod input;
mod key;
mod kit;
mod kit_changes;
mod readiness;
mod sql;
mod words;

use base::Clock;
use store::OrgStore;

pub use brick::{Brick, BrickSummary, BrickVersion};
pub use input::{NewBrick, NewBrickVersion, NewKit, NewKitVersion, is_unknown_id};
pub use kit::{Kit, KitBrick, KitInspection, KitSummary, KitVersion};
pub use kit_changes::{CreatedKit, PublishedKit};
pub use readiness::{Finding, Readiness};
pub use words::{Badge, Blocker, BrickType, Status, VersionStatus, Warning};

/// One org's bricks and kits.
#[derive(Clone)]
pub struct Workshop {
    rows: OrgStore,
    clock: Clock,
}

impl Workshop {
    /// The bricks and kits among an org's rows.
    pub fn new(rows: OrgStore, clock: Clock) -> Self {
        Self { rows, clock }
    }
}
