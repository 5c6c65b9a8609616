//! Works out from a kit's pins whether it can be published. This is a pure function from rows to findings.
//!
//! A kit version is publishable exactly when it has no blocker. Findings come brick by brick in the kit's order, one for each
//! problem:
//!
//! - `kit_empty`: nothing is pinned. It names no brick.
//! - `brick_missing`: the pinned brick or the pinned version is missing. There are no other findings about that brick.
//! - `brick_deprecated`: the brick is deprecated, whatever the status of the pinned version.
//! - `brick_rule_empty`: the pinned version's rule is empty.
//! - `brick_key_conflict`: an earlier brick of this kit version has the same key.
//! - `brick_draft_will_promote` (warning): the pinned version is a draft; publishing the kit publishes it.
//! - `brick_update_available` (warning): the brick has a published version with a higher number than the pinned one.
//!
//! Keys are unique in an org and bricks are never deleted, so `kit_empty`, `brick_missing` and `brick_key_conflict` occur only
//! in a damaged or partly restored store. Publishing itself refuses a deprecated kit; there is no code for that here.

use std::collections::HashSet;

use base::{BrickId, BrickVersionId, KitVersionId};

use crate::{Badge, Blocker, Status, VersionStatus, Warning};

/// One finding; `C` is [`Blocker`] or [`Warning`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<C> {
    /// Its code.
    pub code: C,
    /// The brick; none if it is about the kit itself.
    pub brick_id: Option<BrickId>,
    /// The version of the brick.
    pub brick_version_id: Option<BrickVersionId>,
}

impl<C> Finding<C> {
    pub(crate) fn about(code: C, brick_id: &BrickId, brick_version_id: &BrickVersionId) -> Self {
        Self { code, brick_id: Some(*brick_id), brick_version_id: Some(*brick_version_id) }
    }
}

/// Whether the version that publishing would take can be published, and what blocks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// The version this is about: the kit's newest draft if publishing would take it, else its current version.
    pub kit_version_id: KitVersionId,
    /// What blocks publishing.
    pub blockers: Vec<Finding<Blocker>>,
    /// What a person should know.
    pub warnings: Vec<Finding<Warning>>,
    /// The number of bricks.
    pub included_bricks_count: usize,
    /// Drafts that publishing the kit would publish.
    pub draft_bricks_to_promote: usize,
    /// Bricks whose pinned version is published.
    pub published_bricks_included: usize,
}

impl Readiness {
    /// Whether nothing blocks publishing.
    pub fn publishable(&self) -> bool {
        self.blockers.is_empty()
    }

    /// The short summary.
    pub fn status_badge(&self) -> Badge {
        match (self.blockers.is_empty(), self.warnings.is_empty()) {
            (false, _) => Badge::Blocked,
            (true, false) => Badge::ReadyWithWarnings,
            (true, true) => Badge::Ready,
        }
    }

    /// Checks the pins of `kit_version_id`.
    pub(crate) fn of(kit_version_id: KitVersionId, pins: &[Pin]) -> Self {
        let count = |status| pins.iter().filter(|pin| pin.version_status() == Some(status)).count();
        Self {
            kit_version_id,
            blockers: blockers(pins),
            warnings: pins.iter().flat_map(Pin::warnings).collect(),
            included_bricks_count: pins.len(),
            draft_bricks_to_promote: count(VersionStatus::Draft),
            published_bricks_included: count(VersionStatus::Published),
        }
    }
}

fn blockers(pins: &[Pin]) -> Vec<Finding<Blocker>> {
    if pins.is_empty() {
        return vec![Finding { code: Blocker::KitEmpty, brick_id: None, brick_version_id: None }];
    }
    let mut keys = HashSet::new();
    let mut found = Vec::new();
    for pin in pins {
        let codes = match &pin.brick {
            None => [Some(Blocker::BrickMissing), None, None],
            Some(brick) => [
                (brick.status == Status::Deprecated).then_some(Blocker::BrickDeprecated),
                brick.rule_is_empty.then_some(Blocker::BrickRuleEmpty),
                (!keys.insert(&brick.key)).then_some(Blocker::BrickKeyConflict),
            ],
        };
        found.extend(codes.into_iter().flatten().map(|code| Finding::about(code, &pin.brick_id, &pin.brick_version_id)));
    }
    found
}

/// A pinned brick as stored in a kit version.
#[derive(Clone, Debug)]
pub(crate) struct Pin {
    pub(crate) brick_id: BrickId,
    pub(crate) brick_version_id: BrickVersionId,
    /// `None` if the brick or the version is missing.
    pub(crate) brick: Option<PinnedBrick>,
}

/// The current state of a pinned brick.
#[derive(Clone, Debug)]
pub(crate) struct PinnedBrick {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) status: Status,
    pub(crate) version: i64,
    pub(crate) version_status: VersionStatus,
    pub(crate) rule_is_empty: bool,
    /// The number of the brick's newest published version.
    pub(crate) newest_published: Option<i64>,
}

impl PinnedBrick {
    pub(crate) fn will_promote_on_publish(&self) -> bool {
        self.version_status == VersionStatus::Draft
    }

    pub(crate) fn update_available(&self) -> bool {
        self.newest_published.is_some_and(|newest| newest > self.version)
    }
}

impl Pin {
    fn version_status(&self) -> Option<VersionStatus> {
        self.brick.as_ref().map(|brick| brick.version_status)
    }

    fn warnings(&self) -> impl Iterator<Item = Finding<Warning>> {
        let codes = self.brick.as_ref().map(|brick| {
            [
                brick.will_promote_on_publish().then_some(Warning::BrickDraftWillPromote),
                brick.update_available().then_some(Warning::BrickUpdateAvailable),
            ]
        });
        codes.into_iter().flatten().flatten().map(|code| Finding::about(code, &self.brick_id, &self.brick_version_id))
    }
}
