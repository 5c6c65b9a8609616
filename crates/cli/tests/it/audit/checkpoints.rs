//! Checkpoints that the server writes on its own schedule.

use serde_json::json;

use super::Export;
use crate::support::{Crib, Engine, Terminal, both_engines};

both_engines! {
    async fn changed_trails_get_a_checkpoint_and_a_truncated_trail_fails(engine: Engine) {
        let elsewhere = tempfile::tempdir().unwrap();
        let folder = elsewhere.path().join("checkpoints");
        let crib = Crib::start_with(engine, |config| config.audit_checkpoints = Some(folder.clone())).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        assert_eq!(crib.write_checkpoints().await, 3, "two tenants and the org `default`");
        ours.session().await.call("bricks.list", json!({})).await.result();
        assert_eq!(crib.write_checkpoints().await, 1, "only the changed trail");
        assert_eq!(crib.write_checkpoints().await, 0);
        let lines = |org: &str| std::fs::read_to_string(folder.join(format!("{org}.jsonl"))).unwrap().lines().count();
        assert_eq!((lines(&ours.org), lines(&theirs.org)), (2, 1));

        let terminal = Terminal::without_data(elsewhere.path());
        let verify = async |export: &Export| {
            std::fs::write(elsewhere.path().join("log"), &export.lines).unwrap();
            std::fs::write(elsewhere.path().join("keys"), &export.jwks).unwrap();
            terminal.run(&format!("audit verify --log log --jwks keys --checkpoint checkpoints/{}.jsonl", ours.org)).await
        };
        let mut export = Export::of(&ours).await;
        assert!(verify(&export).await.ok().contains("the checkpoint matches"));
        // Only the last checkpoint covers the removed call. The first one still matches.
        let kept = export.lines.lines().count() - 2;
        export.lines = export.lines.lines().take(kept).map(|line| format!("{line}\n")).collect();
        assert!(export.verify(None).is_valid());
        let said = verify(&export).await;
        assert!(said.code == Some(1) && said.out.contains("when the checkpoint was taken"), "{said:?}");
    }
}
