//! A table to write to, and doors that hold a transaction open for a test.
#![cfg(test)]

use std::convert::Infallible;
use std::sync::mpsc;

use base::Result;
use store::{Change, OrgTx, params};
use testkit::{Engine, TestStore};

/// A store with an empty table of notes, and one org's rows.
pub(crate) async fn notes(engine: Engine) -> (TestStore, Change) {
    let test = TestStore::open(engine).await;
    let create = "CREATE TABLE notes (org_id TEXT NOT NULL, id TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (org_id, id))";
    test.store.write_instance(move |tx| tx.execute(create, &[])).await.unwrap();
    let org = test.new_org();
    (test, org)
}

pub(crate) fn insert(tx: &mut OrgTx<'_, '_>, id: &str) -> Result<()> {
    tx.execute("INSERT INTO notes (org_id, id, count) VALUES (?1, ?2, 0)", &params![id]).map(drop)
}

/// The ids of an org's notes, in order.
pub(crate) async fn ids(org: &Change) -> Vec<String> {
    org.query("SELECT id FROM notes WHERE org_id = ?1 ORDER BY id", &[], |row| row.get("id")).await.unwrap()
}

/// Reads the count of a note and writes one more, in two statements. Only serial writes count correctly.
pub(crate) async fn increment(org: &Change, id: &'static str) -> Result<()> {
    org.write(move |tx| {
        let count =
            tx.first("SELECT count FROM notes WHERE org_id = ?1 AND id = ?2", &params![id], |row| row.get::<i64>("count"))?;
        let next = count.unwrap_or(0) + 1;
        tx.execute("UPDATE notes SET count = ?3 WHERE org_id = ?1 AND id = ?2", &params![id, next]).map(drop)
    })
    .await
}

pub(crate) async fn count(org: &Change, id: &str) -> Option<i64> {
    org.first("SELECT count FROM notes WHERE org_id = ?1 AND id = ?2", &params![id], |row| row.get("count")).await.unwrap()
}

/// A door where a transaction waits. `Opener` opens it.
pub(crate) fn door() -> (Opener, Door) {
    let (arrive, arrived) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    (Opener { arrived, open }, Door { arrive, opened })
}

pub(crate) struct Door {
    arrive: mpsc::Sender<()>,
    opened: mpsc::Receiver<Infallible>,
}

impl Door {
    /// Reports that the transaction is here, and waits. Once open, the door stays open, because a transaction may run again.
    pub(crate) fn wait(&self) {
        // With an open door both channels are closed, and these errors mean "go on".
        let _ = self.arrive.send(());
        let _ = self.opened.recv();
    }
}

pub(crate) struct Opener {
    arrived: mpsc::Receiver<()>,
    /// Never sent on: the door opens when this is dropped.
    open: mpsc::Sender<Infallible>,
}

impl Opener {
    /// Waits until a transaction is at the door.
    pub(crate) fn wait_for_arrival(&self) {
        self.arrived.recv().unwrap();
    }

    pub(crate) fn open(self) {
        drop(self.open);
    }
}
