//! Two orgs with the same names. With the other org's ids, a caller learns nothing, not even that they exist.

use reqwest::Method;
use serde_json::{Value, json};

use crate::menu::{Need, ROUTES, TOOLS, Things, lists, routes_that_differ, tools_that_differ};
use crate::support::{Agent, Crib, Engine, Person, Reply, Session, Tenant, both_engines, call, modern};

/// A word in every text of the other org.
const MARK: &str = "xylophone";

/// The two orgs, and the things of the second that the first tries to reach.
struct Case<'c> {
    ours: Tenant<'c>,
    theirs: Tenant<'c>,
    our_owner: Person<'c>,
    /// The first org's own things, to prove that the same call can succeed.
    own: Things,
    foreign: Things,
}

impl<'c> Case<'c> {
    async fn new(crib: &'c Crib) -> Self {
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let (own, foreign) = (Things::make(&ours, "same").await, Things::make(&theirs, "same").await);
        let rule = json!({"name": "marked", "type": "score", "evaluation_prompt": MARK, "description": MARK});
        let session = theirs.session_with(json!({"agentLabel": MARK, "workType": MARK})).await;
        let brick = session.call("bricks.create_draft", rule).await.result()["structuredContent"]["brick_id"].clone();
        let kit = json!({"name": MARK, "brick_ids": [brick], "notes": MARK, "description": MARK});
        session.call("kits.create_draft", kit).await.result();
        session.call("record_decision", json!({"decision": MARK, "reasoning": MARK})).await.result();
        let file = json!({"path": format!("{MARK}.py"), "content": format!("def {MARK}():\n    return 1\n"), "reason": MARK});
        session.call("write_code", file).await.result();
        session.call(MARK, json!({})).await.error();
        for (noun, body) in [
            ("projects", json!({"name": MARK})),
            ("keys", json!({"name": MARK, "projects": "all"})),
            ("agents", json!({"name": MARK, "scopes": [], "tools": []})),
            ("webhooks", json!({"url": format!("https://{MARK}.invalid/"), "events": ["org.changed"]})),
            ("users", json!({"email": format!("{MARK}@x.example"), "role": "member", "password": "correct horse battery"})),
        ] {
            theirs.post(noun, body).await.expect(201);
        }
        let our_owner = ours.person("owner").await;
        Self { ours, theirs, our_owner, own, foreign }
    }

    /// Fails if an answer to the first org holds anything of the second that the call itself, `what`, did not hold.
    #[track_caller]
    fn check_silent(&self, what: &str, reply: &Reply) {
        let secret = self.foreign.ids().into_iter().chain([&self.theirs.key, &self.theirs.project]);
        for needle in secret.map(String::as_str).chain([MARK]) {
            assert!(what.contains(needle) || !reply.text.contains(needle), "{what} reveals {needle}: {}", reply.text);
        }
    }

    /// Fails unless the answer about foreign things equals the answer about things that do not exist.
    #[track_caller]
    fn check_same(&self, what: &str, foreign: &Reply, nowhere: &Reply) {
        self.check_silent(what, foreign);
        let plain = |reply: &Reply, things: &Things| {
            let request = reply.header("x-request-id").unwrap().to_owned();
            let text =
                things.ids().into_iter().chain([&request]).fold(reply.text.clone(), |text, id| text.replace(id.as_str(), "…"));
            (reply.status, text)
        };
        assert_eq!(plain(foreign, &self.foreign), plain(nowhere, &Things::nowhere()), "{what}");
    }

    /// Calls a route with our key, or as our owner if keys are not allowed.
    async fn route(&self, need: Need, method: Method, path: &str, body: Option<Value>) -> Reply {
        match need {
            Need::Human | Need::Login | Need::Owner => self.our_owner.api(method, path, body).await,
            _ => self.ours.crib.api(method, path, &self.ours.key, body).await,
        }
    }
}

/// Everything that an org's key can list.
async fn snapshot(tenant: &Tenant<'_>) -> Vec<Value> {
    let mut seen = Vec::new();
    for row in lists() {
        let path = row.path.replace("{orgId}", &tenant.org);
        seen.push(tenant.crib.api(Method::GET, &path, &tenant.key, None).await.expect(200));
    }
    assert!(seen.len() >= 8);
    seen
}

/// Calls a tool from the session in both eras and from the agent.
async fn ask(session: &Session<'_>, agent: &Agent<'_>, tool: &str, arguments: &Value) -> [Reply; 3] {
    let message = call(1, tool, arguments.clone());
    let modern = modern(1, "tools/call", json!({"name": tool, "arguments": arguments}));
    [session.rpc(&message).await, session.modern(&modern).await, agent.rpc(&message).await]
}

both_engines! {
    async fn no_tool_reveals_another_org(engine: Engine) {
        assert!(tools_that_differ().is_empty(), "{:?}", tools_that_differ());
        let crib = Crib::start(engine).await;
        let case = Case::new(&crib).await;
        let names: Vec<&str> = TOOLS.iter().map(|row| row.name).collect();
        let (session, agent) = (case.ours.session().await, case.ours.agent(&["*"], &names).await);
        let before = snapshot(&case.theirs).await;
        for row in TOOLS {
            let foreign = ask(&session, &agent, row.name, &(row.arguments)(&case.foreign)).await;
            let nowhere = ask(&session, &agent, row.name, &(row.arguments)(&Things::nowhere())).await;
            let own = ask(&session, &agent, row.name, &(row.arguments)(&case.own)).await;
            let takes_ids = (row.arguments)(&case.foreign) != (row.arguments)(&case.own);
            for ((foreign, nowhere), own) in foreign.iter().zip(&nowhere).zip(&own) {
                own.result();
                case.check_silent(row.name, own);
                if takes_ids {
                    assert_eq!(foreign.failed_code(), -32602, "{}", row.name);
                    case.check_same(row.name, foreign, nowhere);
                } else {
                    case.check_silent(row.name, foreign);
                }
            }
        }
        assert_eq!(snapshot(&case.theirs).await, before);
        // Both orgs have the same brick key, so neither avoided the other's.
        for tenant in [&case.ours, &case.theirs] {
            let bricks = tenant.session().await.call("bricks.list", json!({"limit": 100})).await.result();
            let keys = bricks["structuredContent"]["bricks"].as_array().unwrap().iter().map(|brick| brick["brick_key"].clone());
            assert!(keys.collect::<Vec<_>>().contains(&json!("brick")));
        }
    }

    async fn no_route_reveals_another_org(engine: Engine) {
        assert!(routes_that_differ().is_empty(), "{:?}", routes_that_differ());
        let crib = Crib::start(engine).await;
        let case = Case::new(&crib).await;
        let before = snapshot(&case.theirs).await;
        for row in ROUTES.iter().filter(|row| !matches!(row.need, Need::Public | Need::Login)) {
            // The path names their org, then ours.
            let under_ours = |things: &Things| Things { org: case.ours.org.clone(), ..things.clone() };
            for (foreign, nowhere) in
                [(case.foreign.clone(), Things::nowhere()), (under_ours(&case.foreign), under_ours(&Things::nowhere()))]
            {
                if row.method == "PUT" && foreign.org == case.ours.org {
                    // A policy name belongs to the org in the path, so this saves our own policy.
                    continue;
                }
                let names_things = ["Id}", "{kid}"].iter().any(|id| row.path.replace("{orgId}", "").contains(id));
                let asked =
                    async |things: &Things| case.route(row.need, row.method(), &things.fill(row.path), (row.body)(things)).await;
                let (theirs, none) = (asked(&foreign).await, asked(&nowhere).await);
                let what = format!("{} {} {:?}", row.method, row.path, (row.body)(&foreign));
                case.check_silent(&what, &theirs);
                if names_things || foreign.org == case.foreign.org && row.path.contains("{orgId}") {
                    assert_eq!(theirs.status, 404, "{what}: {}", theirs.text);
                    case.check_same(&what, &theirs, &none);
                }
            }
            if row.method == "GET" {
                let own = case.route(row.need, Method::GET, &case.own.fill(row.path), None).await;
                assert_eq!(own.status, 200, "{}: {}", row.path, own.text);
                case.check_silent(row.path, &own);
            }
        }
        assert_eq!(snapshot(&case.theirs).await, before, "something of theirs changed");
    }

    async fn bodies_and_queries_reveal_no_other_org(engine: Engine) {
        let crib = Crib::start(engine).await;
        let case = Case::new(&crib).await;
        let before = snapshot(&case.theirs).await;
        type Body = fn(&Things, &Things) -> Value;
        let bodies: [(&str, Body); 6] = [
            ("/api/org/{orgId}/keys", |_, other| json!({"name": "k", "projects": "all", "agents": [other.agent]})),
            ("/api/org/{orgId}/keys", |_, other| json!({"name": "k", "projects": [other.project]})),
            ("/api/org/{orgId}/agents", |_, other| json!({"name": "a", "projectId": other.project, "scopes": [], "tools": []})),
            ("/api/org/{orgId}/sessions", |_, other| json!({"projectId": other.project})),
            ("/api/org/{orgId}/sessions", |own, other| json!({"projectId": own.project, "agentId": other.agent})),
            ("/api/kits/{kitId}/versions", |_, other| json!({"brick_ids": [other.brick]})),
        ];
        for (path, body) in bodies {
            let need = if path.contains("kitId") { Need::Human } else { Need::Public };
            let asked =
                async |other: &Things| case.route(need, Method::POST, &case.own.fill(path), Some(body(&case.own, other))).await;
            let (theirs, none) = (asked(&case.foreign).await, asked(&Things::nowhere()).await);
            let what = format!("{path} {}", body(&case.own, &case.foreign));
            assert_eq!(theirs.status, 404, "{what}: {}", theirs.text);
            case.check_same(&what, &theirs, &none);
            assert_eq!(asked(&case.own).await.status, 201, "{path}");
        }
        for path in ["/api/bricks", "/api/kits", "/api/bricks/{brickId}", "/api/kits/{kitId}", "/api/whoami"] {
            let asked = async |things: &Things| {
                let path = format!("{}?org={}", case.own.fill(path), things.org);
                crib.api(Method::GET, &path, &case.ours.key, None).await
            };
            let theirs = asked(&case.foreign).await;
            assert_eq!(theirs.status, 404);
            case.check_same(path, &theirs, &asked(&Things::nowhere()).await);
            assert_eq!(asked(&case.own).await.status, 200, "the caller's own org works");
        }
        assert_eq!(snapshot(&case.theirs).await, before);
    }

    async fn foreign_cursor_lists_only_own_rows(engine: Engine) {
        let crib = Crib::start(engine).await;
        let case = Case::new(&crib).await;
        // A list from their cursor must show only our rows.
        let lists: Vec<_> = lists().filter(|row| row.path != "/api/orgs").collect();
        assert_eq!(lists.len(), 10);
        for row in lists {
            let page = async |tenant: &Tenant<'_>, cursor: &str| {
                let path = format!("{}?limit=1{cursor}", row.path.replace("{orgId}", &tenant.org));
                crib.api(Method::GET, &path, &tenant.key, None).await
            };
            let first = page(&case.theirs, "").await.expect(200);
            let cursor =
                format!("&cursor={}", first["nextCursor"].as_str().unwrap_or_else(|| panic!("{} has one row", row.path)));
            let ours = page(&case.ours, &cursor).await;
            ours.expect(200);
            case.check_silent(row.path, &ours);
            assert_eq!(page(&case.theirs, &cursor).await.status, 200);
        }
    }
}
