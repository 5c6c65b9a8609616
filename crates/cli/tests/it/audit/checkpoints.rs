//! Checkpoints that the server writes by itself, and what they show.

use serde_json::json;

use super::Export;
use crate::support::{Crib, Engine, Terminal, both_engines};

both_engines! {
    async fn each_trail_that_moved_gets_a_line_and_a_cut_tail_shows(engine: Engine) {
        let elsewhere = tempfile::tempdir().unwrap();
        let folder = elsewhere.path().join("checkpoints");
        let crib = Crib::start_with(engine, |config| config.audit_checkpoints = Some(folder.clone())).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        assert_eq!(crib.write_checkpoints().await, 3, "ours, theirs, and the org `default`");
        ours.session().await.call("bricks.list", json!({})).await.result();
        assert_eq!(crib.write_checkpoints().await, 1, "only of what has moved");
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
        // The last line counts the call, which is gone: the first line alone would not tell.
        let kept = export.lines.lines().count() - 2;
        export.lines = export.lines.lines().take(kept).map(|line| format!("{line}\n")).collect();
        assert!(export.verify(None).is_valid());
        let said = verify(&export).await;
        assert!(said.code == Some(1) && said.out.contains("when the checkpoint was taken"), "{said:?}");
    }
}
