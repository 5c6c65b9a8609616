//! A workshop on an empty store, and short words for what the tests do to it.
#![cfg(test)]

use base::{BrickId, Error, KitId, Result};
use kits::{BrickType, CreatedKit, NewBrick, NewBrickVersion, NewKit, NewKitVersion, Workshop};
use store::{OrgStore, params};
use testkit::{Engine, TestStore};

/// One org's workshop, and its rows for what no caller can do.
pub(crate) struct Case {
    pub(crate) test: TestStore,
    pub(crate) rows: OrgStore,
    pub(crate) workshop: Workshop,
}

impl Case {
    pub(crate) async fn new(engine: Engine) -> Self {
        let test = TestStore::open(engine).await;
        let rows = test.new_org();
        let workshop = Workshop::new(rows.clone(), test.clock.clone());
        Self { test, rows, workshop }
    }

    /// The workshop of another org in the same store.
    pub(crate) fn neighbour(&self) -> Workshop {
        Workshop::new(self.test.new_org(), self.test.clock.clone())
    }

    /// Lets a moment pass, so that what follows is later.
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

    /// How many rows the org has in the tables of kits.
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

pub(crate) async fn brick_in(workshop: &Workshop, name: &str) -> BrickId {
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

/// What a refusal says: its kind, the parameter it names, its message.
pub(crate) fn said(error: &Error) -> String {
    let parameter = error.data().get("parameter").and_then(|parameter| parameter.as_str()).unwrap_or("-");
    format!("{} {parameter}: {}", error.kind().word(), error.message())
}
