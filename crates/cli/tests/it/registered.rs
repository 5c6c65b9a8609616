//! Tools that an org registers: they appear and vanish a thousand at a time, and the whole server treats them like its own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use base::{OrgId, Scope};
use guard::{Capability, Effect, Spec};
use mcp::model::CallResult;
use reqwest::Method;
use serde_json::{Value, json};
use server::{Config, Sources};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tools::{Call, Offer, Offering, Registered, Reply, Run, Running, Source};

use crate::support::{Crib, Engine, Session, Tenant, both_engines, call, eventually, request};

const MANY: usize = 1_000;

/// Returns its name and its argument.
struct Echo(String);

impl Run for Echo {
    fn run<'a>(&'a self, _: Call<'a>, arguments: Value) -> Running<'a> {
        Box::pin(async move { Ok(Reply::Complete(CallResult::text(format!("{}: {}", self.0, arguments["text"])))) })
    }
}

fn tool(number: usize) -> Arc<Registered> {
    let name = format!("shop.tool-{number}");
    let spec = Spec {
        name: Cow::Owned(name.clone()),
        aliases: vec![format!("shop_tool_{number}"), format!("the-shop.tool-{number}")],
        title: Cow::Owned(format!("Tool {number}")),
        description: Cow::Borrowed("Says what it was recorded."),
        scope: Scope::BricksRead,
        needs: Capability::Always,
        effect: Effect::ReadOnly,
        idempotent: true,
    };
    let schema = json!({
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false
    });
    Arc::new(Registered::by_an_org(spec, schema, None, Echo(name)).unwrap())
}

/// The version and the number of tools of each org.
#[derive(Clone, Default)]
struct Shop(Arc<Mutex<HashMap<OrgId, (u64, usize)>>>);

impl Source for Shop {
    fn offer<'a>(&'a self, org: &'a OrgId, seen: Option<u64>) -> Offering<'a> {
        let (version, count) = self.0.lock().unwrap().get(org).copied().unwrap_or_default();
        let offer = (seen != Some(version)).then(|| Offer { version, tools: (0..count).map(tool).collect() });
        Box::pin(async move { Ok(offer) })
    }
}

impl Shop {
    fn open(&self) -> impl Fn(&mut Config) {
        let shop = Arc::new(self.clone());
        move |config| config.sources = Sources(vec![Arc::clone(&shop) as Arc<dyn Source>])
    }

    /// Gives the org `count` tools, and advances its change number as a registration does.
    async fn stock(&self, tenant: &Tenant<'_>, count: usize) {
        {
            let mut stock = self.0.lock().unwrap();
            let entry = stock.entry(OrgId::parse(&tenant.org).unwrap()).or_default();
            *entry = (entry.0 + 1, count);
        }
        let path = format!("projects/{}", tenant.project);
        tenant.api(Method::PATCH, &path, Some(json!({"memory_enabled": true}))).await.expect(200);
    }
}

/// The names of all tools, page by page.
async fn listed(session: &Session<'_>) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = session.rpc(&request(1, "tools/list", params)).await.result();
        names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return names;
        }
    }
}

fn said(reply: &Value) -> &str {
    reply["content"][0]["text"].as_str().unwrap()
}

both_engines! {
    async fn registered_tools_are_listed_called_governed_and_recorded(engine: Engine) {
        let shop = Shop::default();
        let crib = Crib::start_with(engine, shop.open()).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let (session, stranger) = (tenant.session().await, other.session().await);
        let own = listed(&session).await;
        shop.stock(&tenant, MANY).await;
        let all = listed(&session).await;
        assert_eq!((all.len(), &all[..own.len()]), (own.len() + MANY, &own[..]), "the server's own tools come first");
        assert_eq!(listed(&stranger).await, own);

        let hi = json!({"text": "hi"});
        for spelling in ["shop.tool-7", "shop_tool_7", "the-shop.tool-7"] {
            let reply = session.call(spelling, hi.clone()).await;
            assert_eq!(said(&reply.result()), r#"shop.tool-7: "hi""#);
            let recorded = &tenant.trail(&format!("requestId={}", reply.header("x-request-id").unwrap())).await[0];
            assert_eq!((&recorded["entityId"], &recorded["eventType"]), (&json!("shop.tool-7"), &json!("call.completed")));
            let alias = recorded["payload"].get("legacyAlias").and_then(Value::as_str);
            assert_eq!(alias, Some(spelling).filter(|spelling| *spelling != "shop.tool-7"));
        }
        assert_eq!(session.call("shop.tool-7", json!({"text": 7})).await.error_code(), -32602);
        assert_eq!(session.call("shop.tool-1000", hi.clone()).await.error()["data"]["kind"], "tool_not_found");
        assert_eq!(stranger.call("shop.tool-7", hi.clone()).await.error()["data"]["kind"], "tool_not_found");

        // Allowlists and policies accept every spelling, in this org only.
        let some = json!({"tools": ["shop_tool_7", "bricks.list", "the-shop.tool-8"]});
        let narrow = tenant.session_with(some.clone()).await;
        assert_eq!(listed(&narrow).await, ["bricks.list", "shop.tool-7", "shop.tool-8"]);
        let open = json!({"projectId": other.project, "tools": ["shop.tool-7"]});
        assert_eq!(other.post("sessions", open).await.status, 400);
        let forbid = json!({"cedar": "forbid (principal, action == Action::\"shop.tool-8\", resource) when { context.input.text == \"no\" };"});
        tenant.put("policies/shop", forbid.clone()).await.expect(200);
        assert_eq!(other.put("policies/shop", forbid).await.status, 422);
        assert_eq!(session.call("shop.tool-8", json!({"text": "no"})).await.error()["data"]["reason"], "policy");
        session.call("shop.tool-8", json!({"text": "yes"})).await.result();
        let figures = crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text;
        assert!(figures.contains(r#"tool="registered""#) && !figures.contains("shop"), "registered names must not become labels");

        shop.stock(&tenant, 8).await;
        assert_eq!(session.call("shop.tool-8", json!({"text": "yes"})).await.error()["data"]["kind"], "tool_not_found");
        assert_eq!(listed(&narrow).await, ["bricks.list", "shop.tool-7"]);
        let flagged = &tenant.get("policies").await.expect(200)["flagged"];
        assert_eq!((&flagged[0]["id"], &flagged[0]["broken"]), (&json!("shop"), &json!(false)), "{flagged}");
        shop.stock(&tenant, 0).await;
        assert_eq!((listed(&session).await, listed(&narrow).await), (own, vec!["bricks.list".to_owned()]));
    }
}

/// How many calls found the tool, and how many did not.
type Counts = Arc<[AtomicU32; 2]>;

/// Calls repeatedly until `stop`, and counts the answers.
async fn keep_calling(http: reqwest::Client, url: String, key: String, counts: Counts, mut stop: watch::Receiver<bool>) {
    let [found, missing] = &*counts;
    while !*stop.borrow_and_update() {
        let message = call(1, "shop_tool_999", json!({"text": "hi"})).to_string();
        let reply = http.post(&url).bearer_auth(&key).body(message).send().await.unwrap();
        let reply: Value = reply.error_for_status().unwrap().json().await.unwrap();
        match reply["error"]["data"]["kind"].as_str() {
            None => {
                let is_right = reply["result"]["content"][0]["text"] == r#"shop.tool-999: "hi""#;
                found.fetch_add(u32::from(is_right), Ordering::Relaxed);
            }
            Some("tool_not_found") => {
                missing.fetch_add(1, Ordering::Relaxed);
            }
            Some(_) => panic!("{reply}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn thousand_tools_appear_and_vanish_under_load_on_two_nodes() {
    let shop = Shop::default();
    let unlimited = |config: &mut Config| {
        shop.open()(config);
        (config.limits.key_calls_per_minute, config.limits.key_calls_burst) = (1_000_000, 100_000);
        (config.limits.org_calls_per_minute, config.limits.org_calls_burst) = (1_000_000, 100_000);
    };
    let first = Crib::start_with(Engine::Postgres, unlimited).await;
    let second = first.another_node(unlimited).await;
    let (tenant, other) = (first.tenant().await, first.tenant().await);
    let (session, stranger) = (tenant.session().await, other.session().await);
    let own = listed(&session).await.len();
    let (stop, stopping) = watch::channel(false);
    let counts: [Counts; 2] = Default::default();
    let mut callers = JoinSet::new();
    for (crib, counts) in [&first, &second].into_iter().zip(&counts) {
        let url = session.url.replace(&first.url, &crib.url);
        callers.spawn(keep_calling(crib.http.clone(), url, session.key.clone(), Arc::clone(counts), stopping.clone()));
    }
    for round in 0..6 {
        let count = if round % 2 == 0 { MANY } else { 0 };
        shop.stock(&tenant, count).await;
        let seen = || counts.each_ref().map(|counts| counts[usize::from(count == 0)].load(Ordering::Relaxed));
        let before = seen();
        // An acknowledged change applies on both nodes.
        for crib in [&first, &second] {
            let message = call(1, "shop.tool-0", json!({"text": "hi"})).to_string();
            let asked = crib.http.post(session.url.replace(&first.url, &crib.url)).bearer_auth(&session.key).body(message);
            assert_eq!(crib.send(asked).await.json()["error"].is_null(), count > 0, "round {round}");
        }
        assert_eq!(listed(&session).await.len(), own + count, "round {round}");
        assert_eq!(listed(&stranger).await.len(), own, "round {round}");
        let is_seen = async || seen().iter().zip(&before).all(|(now, before)| now > before);
        eventually("every caller sees the change", is_seen).await;
    }
    stop.send(true).unwrap();
    callers.join_all().await;
    let is_counted = |count: &AtomicU32| count.load(Ordering::Relaxed) > 0;
    assert!(counts.iter().flat_map(|counts| counts.iter()).all(is_counted), "a caller saw only one state: {counts:?}");
}
