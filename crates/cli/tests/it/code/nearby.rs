//! Files about similar things in `read_code`.

use serde_json::{Value, json};

use super::meaning::TOPICS;
use super::{Workspace, each};
use crate::support::{Crib, Engine, both_engines, members};

both_engines! {
    async fn similar_files_are_at_or_above_the_threshold(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, TOPICS).await;
        let twin = TOPICS[1].1.replace("verify_password", "check_password").replace("Check the login", "Test the login");
        workspace.put("accounts/log_in.py", twin);
        workspace.embedded().await;
        let similar = async |threshold: Option<f64>| {
            let mut arguments = json!({"path": "accounts/sign_in.py"});
            if let Some(threshold) = threshold {
                arguments["semantic_similarity_threshold"] = json!(threshold);
            }
            workspace.ask("read_code", arguments).await["semantic_context"].clone()
        };
        let default = similar(None).await;
        assert_eq!(each(&default["similar_files"], "path"), ["accounts/log_in.py"], "{default}");
        assert_eq!(members(&default["similar_files"][0]), ["cosine", "path", "similarity"]);
        let all = similar(Some(0.0)).await["similar_files"].as_array().unwrap().clone();
        let of = |found: &Value| found["similarity"].as_f64().unwrap();
        assert!(all.len() > 1 && all.iter().all(|found| found["path"] != "accounts/sign_in.py"), "never the file itself: {all:?}");
        assert!(all.iter().map(of).is_sorted_by(|one, other| one >= other), "{all:?}");
        for threshold in [0.3, 0.5, 0.7, 0.9, 1.0] {
            let found = similar(Some(threshold)).await["similar_files"].as_array().unwrap().clone();
            let expected: Vec<_> = all.iter().filter(|found| of(found) >= threshold).cloned().collect();
            assert_eq!(found, expected, "{threshold}");
        }
        let off = json!({"path": "accounts/sign_in.py", "include_semantic_context": false});
        assert_eq!(workspace.ask("read_code", off).await.get("semantic_context"), None);
    }
}
