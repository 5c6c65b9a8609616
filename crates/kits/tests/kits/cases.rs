//! A workshop on an empty store, and helpers for the tests.
#![cfg(test)]

use base::{BrickId, KitId};
use kits::{BrickType, CreatedKit, Error, NewBrick, NewBrickVersion, NewKit, NewKitVersion, Result, Workshop};
use store::{Change, params};
use testkit::{Engine, TestStore};

/// One org's workshop, and its rows for changes that no caller can make.
pub(crate) struct Case {
    pub(crate) test: TestStore,
    pub(crate) rows: Change,
    pub(crate) workshop: Workshop<Change>,
}

impl Case {
    pub(crate) async fn new(engine: Engine) -> Self {
        let test = TestStore::open(engine).await;
        let rows = test.new_org();
        let workshop = Workshop::new(rows.clone(), test.clock.clone());
        Self { test, rows, workshop }
    }

    /// The workshop of another org in the same store.
    pub(crate) fn neighbour(&self) -> Workshop<Change> {
        Workshop::new(self.test.new_org(), self.test.clock.clone())
    }

    /// Moves the clock forward, so that what follows is later.
    pub(crate) fn later(&self) {
        self.test.clock.advance_ms(1_000);
    }

    pub(crate) async fn brick(&self, name: &str) -> BrickId {
        brick_in(&self.workshop, name).await
    }

    pub(crate) async fn published_brick(&self, name: &str) -> BrickId {
        let brick = self.brick(name).await;
        self.workshop.publish_brick(brick.as_str()).await.unwrap();
        brick
    }

    pub(crate) async fn new_version(&self, brick: &BrickId) {
        let version = NewBrickVersion { evaluation_prompt: "Does it?".into(), description: None };
        self.workshop.new_brick_version(brick.as_str(), version, "a person").await.unwrap();
    }

    pub(crate) async fn kit(&self, bricks: &[&BrickId]) -> CreatedKit {
        self.workshop.create_draft_kit(new_kit("Kit", &texts(bricks)), "an agent").await.unwrap()
    }

    pub(crate) async fn new_kit_version(&self, kit: &KitId, bricks: &[&BrickId]) -> Result<base::KitVersionId> {
        let version = NewKitVersion { brick_ids: texts(bricks), notes: None };
        self.workshop.new_kit_version(kit.as_str(), version, "a person").await
    }

    /// Damages the rows as only a broken restore could. The org is `?1`, `id` is `?2`.
    pub(crate) async fn damage(&self, sql: &'static str, id: &str) {
        let id = id.to_owned();
        assert_eq!(self.rows.write(move |tx| tx.execute(sql, &params![id])).await.unwrap(), 1, "{sql}");
    }

    /// The number of rows that the org has in each kit table.
    pub(crate) async fn kit_rows(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        let tables = [
            "SELECT 1 FROM kits WHERE org_id = ?1",
            "SELECT 1 FROM kit_versions WHERE org_id = ?1",
            "SELECT 1 FROM kit_version_bricks WHERE org_id = ?1",
        ];
        for (count, table) in counts.iter_mut().zip(tables) {
            *count = self.rows.query(table, &[], |_| Ok(())).await.unwrap().len();
        }
        counts
    }
}

pub(crate) async fn brick_in(workshop: &Workshop<Change>, name: &str) -> BrickId {
    workshop.create_draft_brick(new_brick(name), "an agent").await.unwrap().0
}

pub(crate) fn new_brick(name: &str) -> NewBrick {
    NewBrick {
        name: name.into(),
        description: None,
        brick_type: BrickType::Boolean,
        evaluation_prompt: format!("Is it about {name}?"),
    }
}

pub(crate) fn new_kit(name: &str, brick_ids: &[String]) -> NewKit {
    NewKit { name: name.into(), description: None, notes: None, brick_ids: brick_ids.to_vec() }
}

pub(crate) fn texts(bricks: &[&BrickId]) -> Vec<String> {
    bricks.iter().map(ToString::to_string).collect()
}

/// A refusal as text: its kind, its parameter and its message.
pub(crate) fn said(error: &Error) -> String {
    let about = match error {
        Error::BlankName => "name".to_owned(),
        Error::TooLong { text } | Error::HoldsNul { text } => text.to_string(),
        Error::NoBricks | Error::TooManyBricks => "brick_ids".to_owned(),
        Error::RepeatedBrick { position } | Error::UnknownListedBrick { position } => format!("brick_ids[{position}]"),
        Error::UnknownBrick => "brick_id".to_owned(),
        Error::UnknownKit => "kit_id".to_owned(),
        _ => "-".to_owned(),
    };
    format!("{} {about}: {error}", error.kind().word())
}

/// Whether the error means that the brick or kit of a call does not exist.
pub(crate) fn is_unknown_id(error: &Error) -> bool {
    matches!(error, Error::UnknownBrick | Error::UnknownKit)
}

/// The blockers of an error, as JSON.
pub(crate) fn blockers(error: &Error) -> serde_json::Value {
    let each = error.blockers().iter().map(|found| {
        serde_json::json!({"code": found.code.word(), "brick_id": found.brick_id, "brick_version_id": found.brick_version_id})
    });
    each.collect()
}
