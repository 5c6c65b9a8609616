//! Pages from memory are never older than the last acknowledged write.
#![cfg(test)]

use base::{Kind, OrgId};
use store::{OrgStore, params};
use testkit::{Engine, both_engines};
use tokio::task::JoinSet;

use crate::cases::{insert, notes};

const NEWEST: &str = "SELECT id FROM notes WHERE org_id = ?1 ORDER BY id DESC LIMIT ?2";

async fn newest(org: &OrgStore, rows: u32) -> Vec<String> {
    org.query_kept(NEWEST, &params![rows], |row| row.get::<String>("id")).await.unwrap().to_vec()
}

both_engines! {
    async fn the_next_answer_includes_a_write(engine: Engine) {
        let (test, org) = notes(engine).await;
        let other = test.new_org();
        assert_eq!(newest(&org, 3).await, [""; 0]);
        for id in ["a", "b", "c", "d"] {
            org.write(move |tx| insert(tx, id)).await.unwrap();
            // Read twice: the second result may come from memory.
            assert_eq!([newest(&org, 3).await[0].as_str(), newest(&org, 3).await[0].as_str()], [id, id]);
            assert_eq!(newest(&other, 3).await, [""; 0]);
        }
        assert_eq!((newest(&org, 3).await, newest(&org, 1).await), (vec!["d".into(), "c".into(), "b".into()], vec!["d".into()]));
        let taken_back = org.write(|tx| { insert(tx, "e")?; Err::<(), _>(base::Error::internal("not after all")) }).await;
        taken_back.unwrap_err();
        assert_eq!(newest(&org, 1).await, ["d"]);
        let id: OrgId = *org.org();
        let delete = move |tx: &mut store::Tx<'_>| tx.execute("DELETE FROM notes WHERE org_id = ?1", &params![id]);
        test.store.write_instance(delete).await.unwrap();
        assert_eq!(newest(&org, 3).await, [""; 0]);
    }

    async fn a_write_drops_kept_results_and_a_note_does_not(engine: Engine) {
        let (_test, org) = notes(engine).await;
        org.write(|tx| insert(tx, "a")).await.unwrap();
        let mut reads = 0;
        let mut ask = async || {
            org.query_kept(NEWEST, &params![1_u32], |_| { reads += 1; Ok(()) }).await.unwrap();
            reads
        };
        let first = ask().await;
        org.note(|tx| tx.query(NEWEST, &params![1_u32], |_| Ok(()))).await.unwrap();
        let after_a_note = ask().await;
        org.write(|tx| insert(tx, "b")).await.unwrap();
        let after_a_write = ask().await;
        let expected = match engine { Engine::Sqlite => [1, 1, 2], Engine::Postgres => [1, 2, 3] };
        assert_eq!([first, after_a_note, after_a_write], expected);
    }

    async fn a_closed_store_has_no_kept_results(engine: Engine) {
        let (test, org) = notes(engine).await;
        newest(&org, 1).await;
        test.store.close().await;
        let refused = org.query_kept(NEWEST, &params![1_u32], |row| row.get::<String>("id")).await.unwrap_err();
        assert_eq!(refused.kind(), Kind::Unavailable);
    }

    async fn a_writer_reads_its_own_write_despite_concurrent_writes(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let mut writers = JoinSet::new();
        for writer in 0..8 {
            let org = org.clone();
            writers.spawn(async move {
                for number in 0..20 {
                    let id = format!("{writer} {number}");
                    let written = id.clone();
                    org.write(move |tx| insert(tx, &written)).await.unwrap();
                    assert!(newest(&org, 1_000).await.contains(&id), "{id} was acknowledged");
                }
            });
        }
        writers.join_all().await;
        assert_eq!(newest(&org, 1_000).await.len(), 160);
    }
}
