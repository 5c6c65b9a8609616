//! Writes are atomic, fail independently of each other, and are serial within an org.
#![cfg(test)]

use base::{Error, Kind, Result};
use store::OrgTx;
use testkit::{Engine, both_engines};
use tokio::task::JoinSet;

use crate::cases::{count, door, ids, increment, insert, notes};

const WRITERS: usize = 64;
/// More than a pool has connections, and few enough to finish before any of them times out.
const CROWD: usize = 32;

both_engines! {
    async fn a_failing_write_leaves_nothing_and_others_are_kept(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let (opener, door) = door();
        // All of these wait for the first one, so on SQLite they share a commit.
        let (held, before, failed, panicked, after, ()) = tokio::join!(
            org.write(move |tx| { door.wait(); insert(tx, "held") }),
            org.write(|tx| insert(tx, "before")),
            org.write(|tx| { insert(tx, "failed")?; Err::<(), _>(Error::new(Kind::Conflict, "changed my mind")) }),
            org.write(|tx| -> Result<()> { insert(tx, "panicked")?; panic!("as this test wants it") }),
            org.write(|tx| insert(tx, "after")),
            async { opener.open() },
        );
        for kept in [held, before, after] {
            kept.unwrap();
        }
        assert_eq!(failed.unwrap_err().message(), "changed my mind");
        assert_eq!(panicked.unwrap_err().kind(), Kind::Internal);
        assert_eq!(ids(&org).await, ["after", "before", "held"]);
        org.write(|tx| insert(tx, "later")).await.unwrap();
    }

    async fn a_write_that_ignores_a_failed_statement_fails(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let careless = |tx: &mut OrgTx<'_, '_>| {
            insert(tx, "first")?;
            // A careless job: PostgreSQL has aborted the transaction here, SQLite has not.
            let _ = insert(tx, "first");
            Ok(())
        };
        assert_eq!(org.write(careless).await.unwrap_err().kind(), Kind::Conflict);
        assert!(ids(&org).await.is_empty());
    }

    async fn a_second_row_with_the_same_key_is_a_conflict(engine: Engine) {
        let (_test, org) = notes(engine).await;
        org.write(|tx| insert(tx, "one")).await.unwrap();
        assert_eq!(org.write(|tx| insert(tx, "one")).await.unwrap_err().kind(), Kind::Conflict);
    }

    async fn a_missing_value_is_an_internal_error(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let without_count = "INSERT INTO notes (org_id, id) VALUES (?1, 'id')";
        let refused = org.write(move |tx| tx.execute(without_count, &[])).await.unwrap_err();
        assert_eq!(refused.kind(), Kind::Internal);
        assert!(!refused.message().contains("notes"), "{}", refused.message());
    }

    async fn many_concurrent_writes_all_succeed(engine: Engine) {
        let (test, org) = notes(engine).await;
        let other = test.new_org();
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let org = if writer % 2 == 0 { org.clone() } else { other.clone() };
            writers.spawn(async move { org.write(move |tx| insert(tx, &format!("{writer:03}"))).await });
        }
        for outcome in writers.join_all().await {
            outcome.unwrap();
        }
        assert_eq!(ids(&org).await.len() + ids(&other).await.len(), WRITERS);
    }

    async fn writes_of_one_org_never_overlap(engine: Engine) {
        let (_test, org) = notes(engine).await;
        org.write(|tx| insert(tx, "counter")).await.unwrap();
        let mut writers = JoinSet::new();
        for _ in 0..WRITERS {
            let org = org.clone();
            writers.spawn(async move { increment(&org, "counter").await });
        }
        for outcome in writers.join_all().await {
            outcome.unwrap();
        }
        assert_eq!(count(&org, "counter").await, i64::try_from(WRITERS).ok());
    }

    async fn a_read_sees_one_snapshot(engine: Engine) {
        let (_test, org) = notes(engine).await;
        org.write(|tx| insert(tx, "one")).await.unwrap();
        let (opener, door) = door();
        let reader = org.clone();
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            let read = move |tx: &mut OrgTx<'_, '_>| {
                let rows = "SELECT id FROM notes WHERE org_id = ?1";
                let before = tx.query(rows, &[], |row| row.get::<String>("id"))?;
                door.wait();
                Ok((before, tx.query(rows, &[], |row| row.get::<String>("id"))?))
            };
            reader.read(read).await.unwrap()
        });
        opener.wait_for_arrival();
        org.write(|tx| insert(tx, "two")).await.unwrap();
        opener.open();
        let (before, after) = reading.join_all().await.remove(0);
        assert_eq!((before.len(), after.len()), (1, 1));
        assert_eq!(ids(&org).await.len(), 2);
    }

    async fn a_write_with_a_cancelled_caller_is_atomic(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let (opener, door) = door();
        let holder = org.clone();
        let mut holding = JoinSet::new();
        holding.spawn(async move { holder.write(move |_| { door.wait(); Ok(()) }).await });
        opener.wait_for_arrival();
        // Polled once, so that it is queued, and then dropped.
        tokio::select! {
            biased;
            _ = org.write(|tx| { insert(tx, "left")?; insert(tx, "right") }) => panic!("the writer is held"),
            () = std::future::ready(()) => {}
        }
        opener.open();
        holding.join_all().await.remove(0).unwrap();
        // Writes are serial, so the dropped one is finished when this one is.
        org.write(|_| Ok(())).await.unwrap();
        assert!([0, 2].contains(&ids(&org).await.len()));
    }

    async fn a_write_is_complete_if_its_caller_goes_away_meanwhile(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let (opener, door) = door();
        let writer = org.clone();
        let mut writing = JoinSet::new();
        writing.spawn(async move { writer.write(move |tx| { insert(tx, "left")?; door.wait(); insert(tx, "right") }).await });
        opener.wait_for_arrival();
        writing.abort_all();
        writing.join_next().await.unwrap().unwrap_err();
        opener.open();
        org.write(|_| Ok(())).await.unwrap();
        assert_eq!(ids(&org).await, ["left", "right"]);
    }

    async fn queued_writes_of_one_org_do_not_block_reads_of_others(engine: Engine) {
        let (test, busy) = notes(engine).await;
        let quiet = test.new_org();
        let (opener, door) = door();
        let holder = busy.clone();
        let mut writing = JoinSet::new();
        writing.spawn(async move { holder.write(move |_| { door.wait(); Ok(()) }).await });
        opener.wait_for_arrival();
        for writer in 0..CROWD {
            let busy = busy.clone();
            writing.spawn(async move { busy.write(move |tx| insert(tx, &writer.to_string())).await });
        }
        // Enough rounds for the waiting writes to take every connection of a pool, if waiting took one.
        for round in 0..8 {
            assert_eq!(count(&quiet, "absent").await, None);
            if engine == Engine::Postgres {
                quiet.write(move |tx| insert(tx, &round.to_string())).await.unwrap();
            }
        }
        opener.open();
        for outcome in writing.join_all().await {
            outcome.unwrap();
        }
        assert_eq!(ids(&busy).await.len(), CROWD);
    }
}
