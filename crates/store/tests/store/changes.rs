//! Change numbers move with a commit that bumps them, and with nothing else.
#![cfg(test)]

use base::{Error, Kind};
use testkit::{Engine, both_engines};
use tokio::task::JoinSet;

use crate::cases::{door, insert, notes};

both_engines! {
    async fn only_a_bump_moves_the_number(engine: Engine) {
        let (test, org) = notes(engine).await;
        let other = test.new_org();
        let start = test.store.change_number(org.org()).await.unwrap();
        org.write(|tx| insert(tx, "no bump")).await.unwrap();
        other.write(|tx| tx.bump()).await.unwrap();
        let taken_back = org.write(|tx| { tx.bump()?; Err::<(), _>(Error::new(Kind::Conflict, "not after all")) }).await;
        taken_back.unwrap_err();
        assert_eq!(test.store.change_number(org.org()).await.unwrap(), start);
        org.write(|tx| tx.bump()).await.unwrap();
        assert_ne!(test.store.change_number(org.org()).await.unwrap(), start);
    }

    async fn the_number_moves_with_the_commit(engine: Engine) {
        let (test, org) = notes(engine).await;
        let start = test.store.change_number(org.org()).await.unwrap();
        let (opener, door) = door();
        let writer = org.clone();
        let mut writing = JoinSet::new();
        writing.spawn(async move { writer.write(move |tx| { tx.bump()?; door.wait(); Ok(()) }).await });
        opener.wait_for_arrival();
        assert_eq!(test.store.change_number(org.org()).await.unwrap(), start);
        opener.open();
        writing.join_all().await.remove(0).unwrap();
        assert_ne!(test.store.change_number(org.org()).await.unwrap(), start);
    }

    async fn a_change_wakes_waiting_tasks(engine: Engine) {
        let (test, org) = notes(engine).await;
        let start = test.store.change_number(org.org()).await.unwrap();
        let (woken, written) = tokio::join!(test.store.changed(org.org(), start), org.write(|tx| tx.bump()));
        written.unwrap();
        let now = test.store.change_number(org.org()).await.unwrap();
        assert_ne!(now, start);
        assert_eq!(woken.unwrap(), now);
        // A stale number returns at once.
        assert_eq!(test.store.changed(org.org(), start).await.unwrap(), now);
    }
}
