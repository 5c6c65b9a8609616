//! Listing and calling agree for every combination of scopes and allowlist.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::menu::{TOOLS, write_code};
use crate::support::{Crib, Engine, both_engines, call, request};

/// Sets of the scopes that tools need: none, all, each alone, all but one; then `*`, and scopes that no tool needs.
fn scope_sets() -> Vec<Vec<&'static str>> {
    let scopes: Vec<_> = TOOLS.iter().map(|row| row.scope).collect::<BTreeSet<_>>().into_iter().collect();
    let but = |left_out: &str| scopes.iter().copied().filter(|scope| *scope != left_out).collect::<Vec<_>>();
    let mut sets = vec![vec![], scopes.clone(), vec!["*"], vec!["org:read", "keys:write"]];
    sets.extend(scopes.iter().flat_map(|scope| [vec![*scope], but(scope)]));
    sets
}

/// No list, an empty list, all tools, each tool alone in its other spelling, and all tools but one.
fn allowlists() -> Vec<Option<Vec<String>>> {
    let names: Vec<String> = TOOLS.iter().map(|row| row.name.to_owned()).collect();
    let mut lists = vec![None, Some(Vec::new()), Some(names.clone())];
    for name in &names {
        lists.push(Some(vec![name.replace('.', "_")]));
        lists.push(Some(names.iter().filter(|other| *other != name).cloned().collect()));
    }
    lists
}

/// The tools that such a caller may see.
fn expected(scopes: &[&str], allowlist: Option<&[String]>) -> Vec<&'static str> {
    let visible = TOOLS.iter().filter(|row| scopes.contains(&"*") || scopes.contains(&row.scope));
    let named =
        |name: &str| allowlist.is_none_or(|list| list.iter().any(|entry| entry == name || *entry == name.replace('.', "_")));
    visible.map(|row| row.name).filter(|name| named(name)).collect()
}

/// One batch: `tools/list` and a call of every tool. The arguments are invalid, so a permitted call fails at the schema.
fn everything() -> String {
    let calls = TOOLS.iter().map(|row| call(row.name, row.name, json!({"nonsense": 1})));
    Value::from_iter([request("list", "tools/list", json!({}))].into_iter().chain(calls)).to_string()
}

/// The listed tools, and the tools whose call was permitted.
#[track_caller]
fn seen(answers: &Value, refusal: i64) -> (Vec<&str>, Vec<&str>) {
    let listed = answers[0]["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    let callable = answers.as_array().unwrap().iter().skip(1).filter(|answer| {
        let code = answer["error"]["code"].as_i64().unwrap();
        assert!(code == refusal || code == -32602, "{answer}");
        code == -32602
    });
    (listed.collect(), callable.map(|answer| answer["id"].as_str().unwrap()).collect())
}

both_engines! {
    async fn session_lists_exactly_the_tools_it_can_call(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        write_code(&tenant.session().await).await;
        let mut sessions = Vec::new();
        for allowlist in allowlists() {
            let body = allowlist.as_ref().map_or(json!({}), |tools| json!({"tools": tools}));
            sessions.push((tenant.session_with(body).await, allowlist));
        }
        for scopes in scope_sets() {
            let key = tenant.key_with(&scopes).await;
            for (session, allowlist) in &sessions {
                let reply = crib.send(crib.http.post(&session.url).bearer_auth(&key).body(everything())).await.expect(200);
                let expected = expected(&scopes, allowlist.as_deref());
                assert_eq!(seen(&reply, -32003), (expected.clone(), expected), "{scopes:?} {allowlist:?}");
            }
        }
    }

    async fn agent_lists_exactly_the_tools_it_can_call(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        write_code(&tenant.session().await).await;
        let body = json!({"name": "agent", "projectId": tenant.project, "scopes": [], "tools": []});
        let agent = tenant.agent_with(body).await;
        let path = format!("agents/{}", agent.id);
        let message: Value = serde_json::from_str(&everything()).unwrap();
        for scopes in scope_sets() {
            // An agent always has an allowlist.
            for tools in allowlists().into_iter().flatten() {
                let change = json!({"scopes": scopes, "tools": tools});
                tenant.api(Method::PATCH, &path, Some(change)).await.expect(200);
                let reply = agent.rpc(&message).await.expect(200);
                let expected = expected(&scopes, Some(&tools));
                assert_eq!(seen(&reply, -32001), (expected.clone(), expected), "{scopes:?} {tools:?}");
            }
        }
    }
}
