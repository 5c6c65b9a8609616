//! A table to write to, and doors that hold a transaction open until a test has seen enough.
#![cfg(test)]

use std::convert::Infallible;
use std::sync::mpsc;

use base::Result;
use store::{OrgStore, OrgTx, params};
use testkit::{Engine, TestStore};

/// A store with an empty table of notes, and one org's rows.
pub(crate) async fn notes(engine: Engine) -> (TestStore, OrgStore) {
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
pub(crate) async fn ids(org: &OrgStore) -> Vec<String> {
    org.query("SELECT id FROM notes WHERE org_id = ?1 ORDER BY id", &[], |row| row.get(0)).await.unwrap()
}

/// Reads the count of a note and writes one more, in two statements: only serial writes keep them all.
pub(crate) async fn increment(org: &OrgStore, id: &'static str) -> Result<()> {
    org.write(move |tx| {
        let count = tx.first("SELECT count FROM notes WHERE org_id = ?1 AND id = ?2", &params![id], |row| row.get::<i64>(0))?;
        let next = count.unwrap_or(0) + 1;
        tx.execute("UPDATE notes SET count = ?3 WHERE org_id = ?1 AND id = ?2", &params![id, next]).map(drop)
    })
    .await
}

pub(crate) async fn count(org: &OrgStore, id: &str) -> Option<i64> {
    org.first("SELECT count FROM notes WHERE org_id = ?1 AND id = ?2", &params![id], |row| row.get(0)).await.unwrap()
}

/// A door that a transaction waits at. `Opener` lets it through.
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
    /// Says that the transaction is here, and waits. Once it was opened it stays so: a transaction may be run again.
    pub(crate) fn wait(&self) {
        // Nobody listens and nobody sends any more when it is open: both are errors that mean "go on".
        let _ = self.arrive.send(());
        let _ = self.opened.recv();
    }
}

pub(crate) struct Opener {
    arrived: mpsc::Receiver<()>,
    /// Never sent on: the door is open when it is gone.
    open: mpsc::Sender<Infallible>,
}

impl Opener {
    /// Waits until a transaction stands at the door.
    pub(crate) fn wait_for_arrival(&self) {
        self.arrived.recv().unwrap();
    }

    pub(crate) fn open(self) {
        drop(self.open);
    }
}
