//! Backups during concurrent writes.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Keeper, Target, key_of};
use crate::support::{Crib, Engine, both_engines, eventually};

both_engines! {
    async fn backup_holds_every_write_acknowledged_before_it_began(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let (acknowledged, over) = (Mutex::new(Vec::<String>::new()), AtomicBool::new(false));
        let writers = join_all((0..8).map(|_| async {
            while !over.load(Ordering::SeqCst) {
                let brick = json!({"name": "n", "type": "boolean", "evaluation_prompt": "p"});
                let made = session.call("bricks.create_draft", brick).await.result();
                acknowledged.lock().unwrap().push(made["structuredContent"]["brick_id"].as_str().unwrap().to_owned());
            }
        }));
        let keeper = Keeper::new();
        let backups = async {
            eventually("100 writes are acknowledged", async || acknowledged.lock().unwrap().len() >= 100).await;
            let mut before = Vec::new();
            for file in ["first.backup", "second.backup"] {
                before.push(acknowledged.lock().unwrap().clone());
                keeper.back_up(&crib, file).await;
            }
            over.store(true, Ordering::SeqCst);
            before
        };
        let (_, before) = futures_util::join!(writers, backups);
        let all = acknowledged.lock().unwrap().len();
        assert!(all > before[1].len(), "no write happened during the backup");
        for (file, before) in ["first.backup", "second.backup"].into_iter().zip(before) {
            let target = Target::new(engine);
            // A restore also verifies the trail, whose entries are in the same transactions as the bricks.
            keeper.run(&keeper.restore_line(file, &target, &key_of(&crib))).await.ok();
            let restored = target.start(&key_of(&crib)).await;
            let found = bricks(&restored, &tenant.key).await;
            let missing: Vec<_> = before.iter().filter(|id| !found.contains(*id)).collect();
            assert!(missing.is_empty(), "{file} lacks {missing:?}");
            assert!(found.len() < all, "{file} holds later writes");
            restored.stop().await;
        }
        crib.stop().await;
    }
}

/// The ids of all bricks.
async fn bricks(crib: &Crib, key: &str) -> BTreeSet<String> {
    let (mut found, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let page: Value = crib.api(Method::GET, &format!("/api/bricks?limit=200{cursor}"), key, None).await.expect(200);
        found.extend(page["bricks"].as_array().unwrap().iter().map(|brick| brick["brick_id"].as_str().unwrap().to_owned()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}
