//! How failures of the code tools look at each door and in each era.

use serde_json::{Value, json};

use super::{SHOP, Workspace};
use crate::support::{Crib, Engine, both_engines, call, modern};

/// Calls that fail, with the kind of the failure and a member that its data carries.
fn failures() -> [(&'static str, Value, &'static str, &'static str); 3] {
    let write = |content: &str, more: Value| {
        let mut arguments = json!({"path": "shop/money.py", "content": content, "reason": "r"});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        arguments
    };
    [
        ("write_code", write("def f(:\n", json!({})), "syntax_error", "line"),
        ("write_code", write("x = 1\n", json!({"expected_sha256": "0".repeat(64)})), "conflict", "sha256"),
        ("write_code", write(&"x = 1\n".repeat(3 * 1024 * 1024), json!({})), "too_large", "kind"),
    ]
}

both_engines! {
    async fn failures_have_the_form_of_their_door(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.body_bytes_max = 64 * 1024 * 1024).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        let body = json!({"name": "agent", "projectId": workspace.project, "scopes": ["*"], "tools": ["write_code", "read_code"]});
        let agent = workspace.tenant.agent_with(body).await;
        for (tool, arguments, kind, member) in failures() {
            let legacy = workspace.session.call(tool, arguments.clone()).await.error();
            assert_eq!((&legacy["code"], &legacy["data"]["kind"]), (&json!(-32000), &json!(kind)), "{legacy}");
            assert!(!legacy["data"][member].is_null() && legacy["data"]["request_id"].is_string(), "{legacy}");
            let result = workspace.session.modern(&modern(1, "tools/call", json!({"name": tool, "arguments": arguments}))).await.result();
            let error = &result["structuredContent"]["error"];
            assert_eq!((&result["isError"], &error["kind"], &error["code"]), (&json!(true), &json!(kind), &json!(-32000)), "{result}");
            assert_eq!(error[member], if member == "kind" { json!(kind) } else { legacy["data"][member].clone() });
            assert!(result["content"][0]["text"].as_str().unwrap().contains(legacy["message"].as_str().unwrap()), "{result}");
            let redacted = agent.rpc(&call(1, tool, arguments)).await.error();
            assert_eq!((&redacted["code"], &redacted["data"]["kind"]), (&json!(-32002), &json!(kind)), "{redacted}");
            assert!(!redacted.to_string().contains("money.py"), "only the kind: {redacted}");
        }
        assert_eq!(workspace.read("shop/money.py").await["version"], 0, "nothing was written");
    }

    async fn every_write_is_in_the_audit_trail(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        let edit = json!({"path": "a.py", "content": "secret = 'in the text'\n", "reason": "r"});
        let written = workspace.session.call("write_code", edit).await;
        let trail = workspace.tenant.trail(&format!("requestId={}", written.header("x-request-id").unwrap())).await;
        assert!(!trail.is_empty(), "a write has an entry");
        assert!(!json!(trail).to_string().contains("in the text"), "the entry does not hold the text: {trail:?}");
        let refused = workspace.session.call("write_code", json!({"path": "../a.py", "content": "", "reason": "r"})).await;
        let trail = workspace.tenant.trail(&format!("requestId={}", refused.header("x-request-id").unwrap())).await;
        assert_eq!(trail.iter().map(|event| event["eventType"].as_str().unwrap()).collect::<Vec<_>>(), ["call.refused"]);
    }
}
