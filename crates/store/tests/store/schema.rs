//! Migrations run once, on one node, and never backwards.
#![cfg(test)]

use base::Kind;
use store::{SCHEMA_VERSION, Store, params};
use testkit::{Engine, TestStore, both_engines, postgres};

const APPLIED: &str = "SELECT version, applied_at FROM schema_versions ORDER BY version";

async fn applied(store: &Store) -> Vec<(i64, i64)> {
    store.query(APPLIED, &[], |row| Ok((row.get("version")?, row.get("applied_at")?))).await.unwrap()
}

both_engines! {
    async fn migrations_run_once(engine: Engine) {
        let mut test = TestStore::open(engine).await;
        let first = applied(&test.store).await;
        assert_eq!(first.iter().map(|(version, _)| *version).collect::<Vec<_>>(), (1..=SCHEMA_VERSION).collect::<Vec<_>>());
        test.clock.advance_ms(60_000);
        test.reopen().await;
        assert_eq!(applied(&test.store).await, first);
    }

    async fn data_of_a_newer_release_is_refused_and_left_alone(engine: Engine) {
        let test = TestStore::open(engine).await;
        let newer = SCHEMA_VERSION + 1;
        let record = "INSERT INTO schema_versions (version, applied_at) VALUES (?1, 0)";
        test.store.write_instance(move |tx| tx.execute(record, &params![newer])).await.unwrap();
        let before = applied(&test.store).await;
        if engine == Engine::Sqlite {
            test.store.close().await;
        }
        let Err(refusal) = Store::open(&test.config, &test.clock).await else { panic!("it was opened") };
        assert_eq!(refusal.kind(), Kind::Conflict);
        assert!(refusal.message().contains("written by a newer release"), "{refusal}");
        assert!(refusal.message().contains(&format!("schema {newer}")), "{refusal}");
        if engine == Engine::Postgres {
            assert_eq!(applied(&test.store).await, before);
        }
    }

    async fn acknowledged_writes_survive_closing(engine: Engine) {
        let mut test = TestStore::open(engine).await;
        let write = "INSERT INTO instance (name, value) VALUES (?1, ?2)";
        test.store.write_instance(move |tx| tx.execute(write, &params!["name", "value"])).await.unwrap();
        test.reopen().await;
        let values = test.store.query("SELECT value FROM instance", &[], |row| row.get::<String>("value")).await;
        assert_eq!(values.unwrap(), ["value"]);
    }

    async fn a_closed_store_refuses_everything(engine: Engine) {
        let test = TestStore::open(engine).await;
        test.store.close().await;
        let read = test.store.ping().await.unwrap_err();
        let write = test.store.write_instance(|_| Ok(())).await.unwrap_err();
        let snapshot = test.new_org().read(|_| Ok(())).await.unwrap_err();
        assert_eq!([read.kind(), write.kind(), snapshot.kind()], [Kind::Unavailable; 3]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_start_together_migrate_once() {
    let config = store::StoreConfig::Postgres { url: postgres::fresh_database() };
    let clock = base::Clock::system();
    let (one, two, three) =
        tokio::join!(Store::open(&config, &clock), Store::open(&config, &clock), Store::open(&config, &clock));
    let (one, ..) = (one.unwrap(), two.unwrap(), three.unwrap());
    assert_eq!(applied(&one).await.len(), usize::try_from(SCHEMA_VERSION).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_moves_the_log_into_the_file() {
    let test = TestStore::open(Engine::Sqlite).await;
    test.store.ping().await.unwrap();
    let store::StoreConfig::Sqlite { path } = &test.config else { panic!("SQLite has a path") };
    let log = path.with_extension("db-wal");
    assert!(log.exists());
    test.store.close().await;
    assert!(!log.exists(), "a copy of the file alone would lack what the log holds");
}
