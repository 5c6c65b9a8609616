//! Seals, which accompany every effect, and notes, which do not wait for the disk.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Error, Kind, Result};
use store::{Change, OrgStore, OrgTx, Seal};
use testkit::{Engine, both_engines};

use crate::cases::{door, ids, insert, notes};

/// Writes a note, unless it is told to fail.
#[derive(Default)]
struct Stamp {
    fails: AtomicBool,
    is_locked_out: AtomicBool,
}

impl Seal for Stamp {
    fn check(&self, _: &mut OrgTx<'_, '_>) -> Result<()> {
        if self.is_locked_out.load(Ordering::SeqCst) {
            return Err(Error::new(Kind::NotPermitted, "locked out"));
        }
        Ok(())
    }

    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(Error::unavailable("no ink"));
        }
        insert(tx, "seal")
    }
}

#[expect(clippy::disallowed_methods, reason = "these are the tests of it")]
fn sealed(rows: &OrgStore, stamp: Arc<Stamp>) -> Change {
    rows.sealed_by(stamp)
}

both_engines! {
    async fn only_the_first_committed_write_applies_the_seal(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let sealed = sealed(&org, Arc::default());
        assert!(!sealed.is_sealed());
        let refused = sealed.write(|_| Err::<(), _>(Error::new(Kind::Conflict, "changed my mind"))).await.unwrap_err();
        assert_eq!(refused.message(), "changed my mind");
        assert!(!sealed.is_sealed() && ids(&org).await.is_empty());
        sealed.clone().write(|tx| insert(tx, "first")).await.unwrap();
        assert!(sealed.is_sealed());
        sealed.write(|tx| insert(tx, "second")).await.unwrap();
        assert_eq!(ids(&org).await, ["first", "seal", "second"]);
    }

    async fn a_write_without_changes_leaves_the_seal_and_a_note_applies_it(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let sealed = sealed(&org, Arc::default());
        let nothing = "DELETE FROM notes WHERE org_id = ?1";
        assert_eq!(sealed.write(move |tx| tx.execute(nothing, &[])).await.unwrap(), 0);
        assert!(!sealed.is_sealed() && ids(&org).await.is_empty());
        sealed.note(|tx| insert(tx, "given")).await.unwrap();
        assert!(sealed.is_sealed());
        sealed.write(|tx| insert(tx, "more")).await.unwrap();
        assert_eq!(ids(&org).await, ["given", "more", "seal"]);
    }

    async fn closing_waits_for_pending_notes(engine: Engine) {
        let (mut test, org) = notes(engine).await;
        let (opener, door) = door();
        drop(org.note(move |tx| { door.wait(); insert(tx, "under way") }));
        opener.wait_for_arrival();
        for id in ["queued", "too"] {
            drop(org.note(move |tx| insert(tx, id)));
        }
        tokio::join!(test.reopen(), async { opener.open() });
        assert_eq!(ids(&test.rows_of(org.org())).await, ["queued", "too", "under way"]);
    }

    async fn every_write_is_checked_with_or_without_the_seal(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let stamp = Arc::new(Stamp::default());
        let sealed = sealed(&org, stamp.clone());
        let lock_out = |out| stamp.is_locked_out.store(out, Ordering::SeqCst);
        lock_out(true);
        assert_eq!(sealed.write(|tx| insert(tx, "first")).await.unwrap_err().message(), "locked out");
        lock_out(false);
        sealed.write(|tx| insert(tx, "first")).await.unwrap();
        lock_out(true);
        assert_eq!(sealed.write(|tx| insert(tx, "second")).await.unwrap_err().message(), "locked out");
        assert_eq!(ids(&org).await, ["first", "seal"]);
    }

    async fn a_failing_seal_undoes_the_write(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let stamp = Arc::new(Stamp::default());
        let sealed = sealed(&org, stamp.clone());
        stamp.fails.store(true, Ordering::SeqCst);
        assert_eq!(sealed.write(|tx| insert(tx, "effect")).await.unwrap_err().kind(), Kind::Unavailable);
        assert!(ids(&org).await.is_empty() && !sealed.is_sealed());
        stamp.fails.store(false, Ordering::SeqCst);
        sealed.write(|tx| insert(tx, "effect")).await.unwrap();
        assert_eq!(ids(&org).await, ["effect", "seal"]);
    }

    async fn a_note_is_written_on_return_and_continues_when_dropped(engine: Engine) {
        let (_test, org) = notes(engine).await;
        org.note(|tx| insert(tx, "awaited")).await.unwrap();
        assert_eq!(ids(&org).await, ["awaited"]);
        let (opener, door) = door();
        drop(org.note(move |tx| { door.wait(); insert(tx, "dropped") }));
        opener.wait_for_arrival();
        opener.open();
        // This is in the same lane, so it runs after the note.
        org.write(|tx| insert(tx, "later")).await.unwrap();
        assert_eq!(ids(&org).await, ["awaited", "dropped", "later"]);
    }

    async fn notes_and_writes_share_commits_and_fail_alone(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let (opener, door) = door();
        let (held, noted, failed, written, ()) = tokio::join!(
            org.write(move |tx| { door.wait(); insert(tx, "held") }),
            org.note(|tx| insert(tx, "noted")),
            org.note(|tx| { insert(tx, "failed")?; Err::<(), _>(Error::new(Kind::Conflict, "no")) }),
            org.write(|tx| insert(tx, "written")),
            async { opener.open() },
        );
        for kept in [held, noted, written] {
            kept.unwrap();
        }
        assert_eq!(failed.unwrap_err().kind(), Kind::Conflict);
        assert_eq!(ids(&org).await, ["held", "noted", "written"]);
    }
}
