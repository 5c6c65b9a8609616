//! A server starts only with the master key that encrypted its data.

use crate::support::{Engine, Place, Process, both_engines};

both_engines! {
    async fn wrong_master_key_prevents_the_start(engine: Engine) {
        let place = Place::new(engine);
        place.start().await.kill_nine().await;
        let other = place.serve().env("TOOLCRIB_MASTER_KEY", "ab".repeat(32)).output().await.unwrap();
        let words = String::from_utf8(other.stderr).unwrap();
        assert!(!other.status.success() && words.contains("wrong master key"), "{words}");
    }

    async fn missing_master_key_prevents_the_start_and_is_not_replaced(engine: Engine) {
        let place = Place::new(engine);
        place.start().await.kill_nine().await;
        let (there, kept) = (place.data().join("master.key"), place.folder.path().join("kept.key"));
        std::fs::rename(&there, &kept).unwrap();
        let refused = place.serve().output().await.unwrap();
        let words = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && words.contains("put it back") && words.contains("master.key"), "{words}");
        assert!(!there.exists(), "the server must not create a new key");
        let mut elsewhere = place.serve();
        elsewhere.arg("--master-key-file").arg(&kept);
        Process::start(elsewhere, &place.data()).await.kill_nine().await;
        assert!(!there.exists());
    }
}
