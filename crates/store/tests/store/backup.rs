//! Backups: all rows of one point in time, from either engine to either, and nothing from an incomplete file.
#![cfg(test)]

use base::{Kind, Result, Timestamp};
use store::backup::{self, Header, SectionKind, Visitor};
use store::{Param, StoreConfig, params};
use tempfile::TempDir;
use testkit::{Engine, TestStore, both_engines, postgres};
use tokio::runtime::Handle;

const PUT: &str = "INSERT INTO vectors (org_id, project_id, number, change, model, dimension, vector, kind)
     VALUES (?1, 'p', ?2, 1, 'm', 3, ?3, 'observation')";
const WEIGH: &str =
    "INSERT INTO weight_moves (org_id, project_id, number, session_id, outcome, weight_before, weight_after, moved_at)
     VALUES (?1, 'p', 1, 's', 'accepted', ?2, ?3, 5)";

/// Values that engines tend to change: bytes, fractions, extreme numbers, null and empty text.
async fn fill(test: &TestStore) {
    let rows = test.new_org();
    let fill = rows.write(|tx| {
        for number in [i64::MIN, -1, 0, 7, i64::MAX] {
            tx.execute(PUT, &[Param::Int(number), Param::Bytes(&[0, 1, 255, b'\n'])])?;
        }
        tx.execute(WEIGH, &params![0.1_f64 + 0.2, -5e-324_f64])
    });
    fill.await.unwrap();
    let put = "INSERT INTO instance (name, value) VALUES (?1, ?2)";
    let write = test.store.write_instance(move |tx| {
        tx.execute(put, &params!["words", "a\n\"é\u{1f600}"])?;
        tx.execute(put, &params!["", ""])
    });
    write.await.unwrap();
}

async fn saved(config: &StoreConfig) -> Result<(backup::Saved, Vec<u8>)> {
    let (config, runtime) = (config.clone(), Handle::current());
    let save = move || {
        let about = ("test", Timestamp::from_ms(1_763_000_000_000));
        backup::save(&config, &runtime, about, &[], Vec::new(), &mut |_, _| Ok(()))
    };
    tokio::task::spawn_blocking(save).await.unwrap()
}

async fn restored(config: &StoreConfig, replace: bool, bytes: Vec<u8>) -> Result<backup::Restored> {
    let (config, runtime) = (config.clone(), Handle::current());
    let restore = move || backup::restore(&config, &runtime, &base::Clock::system(), replace, bytes.as_slice(), &mut []);
    tokio::task::spawn_blocking(restore).await.unwrap()
}

/// A location without a store.
fn nowhere(engine: Engine) -> (StoreConfig, Option<TempDir>) {
    match engine {
        Engine::Sqlite => {
            let folder = TempDir::with_prefix("toolcrib-store-").unwrap();
            (StoreConfig::Sqlite { path: folder.path().join("restored.db") }, Some(folder))
        }
        Engine::Postgres => (StoreConfig::Postgres { url: postgres::fresh_database() }, None),
    }
}

/// The checksums of all tables except the one that records the restore.
fn checksums(saved: &backup::Saved) -> Vec<(String, u64, String)> {
    let tables = saved.sections.iter().filter(|section| section.kind == SectionKind::Table && section.name != "instance");
    tables.map(|section| (section.name.clone(), section.count, section.sha256.clone())).collect()
}

both_engines! {
    async fn a_backup_of_either_engine_restores_to_either_bit_for_bit(engine: Engine) {
        let test = TestStore::open(engine).await;
        fill(&test).await;
        let (first, bytes) = saved(&test.config).await.unwrap();
        assert!(checksums(&first).len() > 20 && checksums(&first).contains(&("vectors".into(), 5, first.sections.iter().find(|s| s.name == "vectors").unwrap().sha256.clone())));
        for target in Engine::ALL {
            let (config, _folder) = nowhere(target);
            let done = restored(&config, false, bytes.clone()).await.unwrap();
            assert_eq!(done.schema, store::SCHEMA_VERSION);
            let (again, _) = saved(&config).await.unwrap();
            assert_eq!(checksums(&again), checksums(&first), "{engine:?} to {target:?}");
            let store = store::Store::open(&config, &test.clock).await.unwrap();
            let name = store.last_restore().await.unwrap().unwrap();
            let words = store.query("SELECT value FROM instance WHERE name = 'words'", &[], |row| row.get::<String>("value")).await;
            assert_eq!((words.unwrap(), name.len()), (vec!["a\n\"é\u{1f600}".to_owned()], 32 + 1 + 24));
            store.close().await;
        }
        assert_eq!(test.store.last_restore().await.unwrap(), None);
    }

    async fn old_instance_admin_keys_are_not_restored(engine: Engine) {
        let test = TestStore::open(engine).await;
        let put = "INSERT INTO instance_keys (hash, node, created_at) VALUES ('old', 'node', 1)";
        test.store.write_instance(move |tx| tx.execute(put, &[])).await.unwrap();
        let (_, bytes) = saved(&test.config).await.unwrap();
        let (config, _folder) = nowhere(engine);
        restored(&config, false, bytes).await.unwrap();
        let store = store::Store::open(&config, &test.clock).await.unwrap();
        let keys = store.query("SELECT hash FROM instance_keys", &[], |row| row.get::<String>("hash")).await.unwrap();
        assert!(keys.is_empty(), "{keys:?}");
        store.close().await;
    }

    async fn an_incomplete_backup_is_refused_and_leaves_nothing(engine: Engine) {
        let test = TestStore::open(engine).await;
        fill(&test).await;
        let (_, bytes) = saved(&test.config).await.unwrap();
        let (config, _folder) = nowhere(engine);
        for end in [0, 5, 10, 11, bytes.len() / 2, bytes.len() - 1] {
            let refused = restored(&config, false, bytes[..end].to_vec()).await.unwrap_err();
            assert_eq!(refused.kind(), Kind::InvalidParams, "{end}: {refused}");
            if let StoreConfig::Sqlite { path } = &config {
                std::fs::remove_file(path).unwrap();
            }
        }
        // A refused backup has left nothing in the way.
        restored(&config, false, bytes).await.unwrap();
    }

    async fn a_backup_is_a_snapshot_despite_concurrent_writes(engine: Engine) {
        let test = TestStore::open(engine).await;
        fill(&test).await;
        let (config, runtime, rows) = (test.config.clone(), Handle::current(), test.new_org());
        let save = move || {
            let mut wrote = false;
            let mut told = |_: &str, _: u64| {
                // From the first table on, other writes commit meanwhile.
                if !wrote {
                    wrote = true;
                    let put = rows.write(|tx| tx.execute(PUT, &[Param::Int(1), Param::Bytes(&[])]));
                    runtime.block_on(put)?;
                }
                Ok(())
            };
            let about = ("test", Timestamp::from_ms(0));
            backup::save(&config, &runtime, about, &[], Vec::new(), &mut told)
        };
        let (first, _) = tokio::task::spawn_blocking(save).await.unwrap().unwrap();
        let count = |saved: &backup::Saved| saved.sections.iter().find(|section| section.name == "vectors").unwrap().count;
        let (second, _) = saved(&test.config).await.unwrap();
        assert_eq!((count(&first), count(&second)), (5, 6));
    }

    async fn data_of_a_newer_release_is_not_backed_up(engine: Engine) {
        let test = TestStore::open(engine).await;
        let record = "INSERT INTO schema_versions (version, applied_at) VALUES (?1, 0)";
        let newer = store::SCHEMA_VERSION + 1;
        test.store.write_instance(move |tx| tx.execute(record, &params![newer])).await.unwrap();
        let refused = saved(&test.config).await.unwrap_err();
        assert!(refused.message().contains("newer release"), "{refused}");
    }

    async fn an_empty_database_cannot_be_backed_up(engine: Engine) {
        let (config, _folder) = nowhere(engine);
        if let StoreConfig::Sqlite { path } = &config {
            std::fs::write(path, "").unwrap();
        }
        let refused = saved(&config).await.unwrap_err();
        assert!(refused.message().contains("no server was ever started"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_changed_byte_of_a_backup_is_detected() {
    struct Seen(Option<Header>);
    impl Visitor for Seen {
        fn header(&mut self, header: &Header) -> Result<()> {
            self.0 = Some(header.clone());
            Ok(())
        }
    }
    let test = TestStore::open(Engine::Sqlite).await;
    fill(&test).await;
    let (saved, bytes) = saved(&test.config).await.unwrap();
    let mut seen = Seen(None);
    assert_eq!(backup::read(bytes.as_slice(), &mut [&mut seen]).unwrap().sections, saved.sections);
    assert_eq!(seen.0.unwrap(), saved.header);
    let mut unused = 0;
    for place in 0..bytes.len() {
        for bit in [1, 0x80] {
            let mut flipped = bytes.clone();
            flipped[place] ^= bit;
            match backup::read(flipped.as_slice(), &mut []) {
                Err(refused) => assert_eq!(refused.kind(), Kind::InvalidParams, "byte {place}: {refused}"),
                // Compression leaves a few bits unused. If they change, the file still has exactly the saved content.
                Ok(read) => {
                    assert_eq!((&read.header, &read.sections), (&saved.header, &saved.sections), "byte {place}");
                    unused += 1;
                }
            }
        }
    }
    assert!(unused <= 16, "{unused} changed bits of {} bytes were not detected", bytes.len());
    for more in [&b"x"[..], &bytes] {
        let refused = backup::read([&bytes, more].concat().as_slice(), &mut []).unwrap_err();
        assert!(refused.message().contains("something follows its end"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_in_use_or_full_is_refused() {
    let (source, target) = (TestStore::open(Engine::Sqlite).await, TestStore::open(Engine::Postgres).await);
    fill(&source).await;
    fill(&target).await;
    let (first, bytes) = saved(&source.config).await.unwrap();
    let refused = restored(&target.config, true, bytes.clone()).await.unwrap_err();
    assert!(refused.message().contains("a server is connected"), "{refused}");
    target.store.close().await;
    let refused = restored(&target.config, false, bytes.clone()).await.unwrap_err();
    assert!(refused.message().contains("--replace"), "{refused}");
    let half = bytes[..bytes.len() / 2].to_vec();
    let (before, _) = saved(&target.config).await.unwrap();
    restored(&target.config, true, half).await.unwrap_err();
    assert_eq!(checksums(&saved(&target.config).await.unwrap().0), checksums(&before), "a restore that failed changed nothing");
    restored(&target.config, true, bytes).await.unwrap();
    assert_eq!(checksums(&saved(&target.config).await.unwrap().0), checksums(&first));
}
