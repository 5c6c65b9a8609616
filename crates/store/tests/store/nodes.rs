//! Two nodes on one PostgreSQL: they see each other's changes, wait for each other's writes, and survive a deadlock.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use store::{Change, OrgTx, params};
use testkit::Engine;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::cases::{count, increment, insert, notes};

fn rows_of(node: &store::Store, org: &Change) -> Change {
    testkit::changing(node, org.org())
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_see_each_others_change_numbers() {
    let (test, org) = notes(Engine::Postgres).await;
    let second = test.second_node().await;
    let start = second.change_number(org.org()).await.unwrap();
    assert_eq!(start, test.store.change_number(org.org()).await.unwrap());
    let (woken, written) = tokio::join!(second.changed(org.org(), start), org.write(|tx| tx.bump()));
    written.unwrap();
    let after = woken.unwrap();
    assert_ne!(after, start);
    rows_of(&second, &org).write(|tx| tx.bump()).await.unwrap();
    assert_ne!(test.store.change_number(org.org()).await.unwrap(), after);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_does_not_serve_results_that_another_has_changed() {
    let (test, org) = notes(Engine::Postgres).await;
    let elsewhere = rows_of(&test.second_node().await, &org);
    let newest = "SELECT id FROM notes WHERE org_id = ?1 ORDER BY id DESC LIMIT ?2";
    for id in ["a", "b", "c"] {
        org.write(move |tx| insert(tx, id)).await.unwrap();
        let found = elsewhere.query_kept(newest, &params![1_u32], |row| row.get::<String>("id")).await.unwrap();
        assert_eq!(*found, [id]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_one_org_never_overlap_across_nodes() {
    let (test, org) = notes(Engine::Postgres).await;
    let elsewhere = rows_of(&test.second_node().await, &org);
    org.write(|tx| insert(tx, "counter")).await.unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..32 {
        let node = if writer % 2 == 0 { org.clone() } else { elsewhere.clone() };
        writers.spawn(async move { increment(&node, "counter").await });
    }
    for outcome in writers.join_all().await {
        outcome.unwrap();
    }
    assert_eq!(count(&org, "counter").await, Some(32));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loser_of_a_deadlock_is_retried() {
    let (test, org) = notes(Engine::Postgres).await;
    let other = test.new_org();
    org.write(|tx| insert(tx, "left")).await.unwrap();
    org.write(|tx| insert(tx, "right")).await.unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let both_hold_one = Arc::new(Barrier::new(2));
    // Two orgs lock the same two rows in opposite order, which none of our statements does, so their lanes do not prevent it.
    let crosswise = |rows: [&'static str; 2]| {
        let (runs, both_hold_one) = (runs.clone(), both_hold_one.clone());
        move |tx: &mut OrgTx<'_, '_>| {
            let run = runs.fetch_add(1, Ordering::SeqCst);
            for (step, row) in rows.into_iter().enumerate() {
                tx.execute("UPDATE notes SET count = count + 1 WHERE ?1 <> '' AND id = ?2", &params![row])?;
                if step == 0 && run < 2 {
                    tokio::runtime::Handle::current().block_on(both_hold_one.wait());
                }
            }
            Ok(())
        }
    };
    let (one, two) = tokio::join!(org.write(crosswise(["left", "right"])), other.write(crosswise(["right", "left"])));
    one.unwrap();
    two.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    assert_eq!((count(&org, "left").await, count(&org, "right").await), (Some(2), Some(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_waits_for_a_lock_gives_up() {
    let (test, org) = notes(Engine::Postgres).await;
    for (setting, expected) in
        [("statement_timeout", "30s"), ("lock_timeout", "10s"), ("idle_in_transaction_session_timeout", "1min")]
    {
        let said = test
            .store
            .first("SELECT current_setting(?1) AS setting", &params![setting], |row| row.get::<String>("setting"))
            .await;
        assert_eq!(said.unwrap().as_deref(), Some(expected), "{setting}");
    }
    org.write(|tx| insert(tx, "locked")).await.unwrap();
    let update = "UPDATE notes SET count = 1 WHERE ?1 <> '' AND id = ?2";
    let (opener, door) = crate::cases::door();
    let holder = test.new_org();
    let mut holding = JoinSet::new();
    holding.spawn(async move {
        holder
            .write(move |tx| {
                tx.execute(update, &params!["locked"])?;
                door.wait();
                Ok(())
            })
            .await
    });
    opener.wait_for_arrival();
    // The same rule as on every connection, with a shorter timeout for the test.
    let hasty = org.write(move |tx| {
        tx.execute("SET LOCAL lock_timeout = '50ms'", &[]).ok();
        tx.execute(update, &params!["locked"])
    });
    assert_eq!(hasty.await.unwrap_err().kind(), base::Kind::Unavailable, "come back later, and nothing was changed");
    opener.open();
    holding.join_all().await.remove(0).unwrap();
}
