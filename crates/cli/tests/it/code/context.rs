//! `get_context`

use serde_json::{Value, json};

use super::{SHOP, Workspace, answer, each, gist};
use crate::support::{Crib, Engine, both_engines, members};

const ALL: [&str; 5] = ["active_sessions", "errors", "performance", "project", "recent_changes"];

both_engines! {
    async fn each_type_is_a_member_of_the_answer(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            workspace.indexed().await;
            let ask = async |arguments: Value| {
                let mut found = workspace.ask("get_context", arguments).await;
                found.as_object_mut().unwrap().remove("notice");
                found
            };
            assert_eq!(members(&ask(json!({})).await), ALL);
            for kind in ALL {
                assert_eq!(members(&ask(json!({"context_types": [kind]})).await), [kind]);
            }
            let without = ["active_sessions", "errors", "project", "recent_changes"];
            assert_eq!(members(&ask(json!({"include_metrics": false})).await), without);
            let two = ask(json!({"context_types": ["project", "errors"]})).await;
            assert_eq!(members(&two), ["errors", "project"]);
            let project = &two["project"];
            assert_eq!((&project["id"], &project["has_root"]), (&json!(workspace.project), &json!(workspace.root.is_absolute())));
            assert_eq!((&project["files"], &project["import_cycles"]), (&json!(SHOP.len()), &json!(1)));
            assert_eq!(project["languages"], json!([{"language": "python", "files": 5}, {"language": "typescript", "files": 2}]));
            assert!(each(&project["central_files"], "path").contains(&"shop/money.py"), "{project}");
            assert!(project["symbols"].as_u64() >= Some(8) && project["imports"].as_u64() >= Some(5), "{project}");
        }
    }

    async fn changes_and_sessions_of_the_project_are_told(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        let writer = workspace.another_session("writer").await;
        let edit = json!({"path": "a.py", "content": "a = 1\n", "reason": "a lamp"});
        writer.call("write_code", edit).await.result();
        let found = workspace.ask("get_context", json!({})).await;
        let [change] = found["recent_changes"].as_array().unwrap().as_slice() else { panic!("{found}") };
        assert_eq!((&change["path"], &change["change_type"], &change["source"]), (&json!("a.py"), &json!("create"), &json!("toolcrib")));
        assert_eq!((&change["agent"], &change["reason"]), (&json!("label:writer"), &json!("a lamp")));
        assert!(found["notice"].is_string(), "a reason is quoted: {found}");
        let open = |found: &Value| {
            let sessions = found["active_sessions"].as_array().unwrap();
            sessions.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(open(&found), [writer.id.clone(), workspace.session.id.clone()], "newest first");
        workspace.tenant.post(&format!("sessions/{}/end", writer.id), json!({})).await.expect(200);
        let elsewhere = workspace.tenant.session().await;
        let found = workspace.ask("get_context", json!({"context_types": ["active_sessions"]})).await;
        assert!(!open(&found).contains(&elsewhere.id) && open(&found) == [workspace.session.id.clone()], "{found}");
    }

    async fn the_time_range_limits_changes_and_figures(engine: Engine) {
        let clock = base::Clock::manual(base::Clock::system().now());
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let workspace = Workspace::new(&crib, &[]).await;
        workspace.write("old.py", "a = 1\n").await;
        workspace.refused("read_code", json!({"path": "../x"})).await;
        clock.advance_ms(2 * 60 * 60 * 1_000);
        // The session of the workspace may have ended by now.
        let session = workspace.another_session("later").await;
        answer(&session, "write_code", json!({"path": "new.py", "content": "a = 1\n", "reason": "r"})).await;
        let ask = async |range: Option<&str>| {
            answer(&session, "get_context", range.map_or(json!({}), |range| json!({"time_range": range}))).await
        };
        for (range, paths, failed) in [
            (Some("15m"), &["new.py"][..], 0),
            (Some("1h"), &["new.py"], 0),
            (None, &["new.py", "old.py"], 1),
            (Some("1d"), &["new.py", "old.py"], 1),
            (Some("1w"), &["new.py", "old.py"], 1),
        ] {
            let found = ask(range).await;
            assert_eq!(each(&found["recent_changes"], "path"), paths, "{range:?}");
            assert_eq!(found["errors"]["count"], failed, "{range:?}: {found}");
        }
        assert_eq!(ask(None).await["errors"]["by_kind"], json!({"invalid_params": 1}));
        assert!(ask(Some("15m")).await["performance"]["calls"].as_u64() < ask(None).await["performance"]["calls"].as_u64());
        assert!(ask(None).await["performance"]["p50_ms"]["write_code"].as_f64() > Some(0.0));
        for range in ["", "1", "1 day", "-1h", "0m"] {
            let error = session.call("get_context", json!({"time_range": range})).await.error();
            assert_eq!(gist(&error), ("invalid_params", -32602, Some("time_range")), "{range}");
        }
        let error = session.call("get_context", json!({"context_types": ["weather"]})).await.error();
        assert_eq!((gist(&error).0, gist(&error).1), ("invalid_params", -32602), "{error}");
    }
}
