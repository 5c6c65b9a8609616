//! Every tool and every route, as the tests know them: what each takes, and what it needs. The tables that go over them fail for
//! a tool or a route that is not here.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::Tenant;

/// Things of one org that calls can be about.
#[derive(Clone, Debug)]
pub(crate) struct Things {
    pub(crate) org: String,
    pub(crate) project: String,
    pub(crate) key: String,
    pub(crate) session: String,
    pub(crate) agent: String,
    pub(crate) user: String,
    pub(crate) brick: String,
    pub(crate) kit: String,
    pub(crate) policy: String,
    pub(crate) audit_key: String,
    pub(crate) webhook: String,
    pub(crate) observation: String,
    /// A triplet of the project where sessions are opened.
    pub(crate) fact: String,
    /// A name that nothing has yet.
    pub(crate) new_name: String,
}

fn new_name() -> String {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    format!("new{}", NAMES.fetch_add(1, Ordering::Relaxed))
}

impl Things {
    /// Makes one of each. `name` tells apart what must be unique.
    pub(crate) async fn make(tenant: &Tenant<'_>, name: &str) -> Self {
        // One address is one person on the whole server.
        let email = format!("{name}@{}.example", tenant.org.replace('_', "-"));
        let user = json!({"email": email, "role": "member", "password": "correct horse battery"});
        let user = tenant.post("users", user).await.expect(201);
        Self { user: user["user"]["id"].as_str().unwrap().to_owned(), ..Self::make_but_a_person(tenant, name).await }
    }

    /// A person costs a slow hash; what needs none does without.
    pub(crate) async fn make_but_a_person(tenant: &Tenant<'_>, name: &str) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let project =
            tenant.post("projects", json!({"name": format!("project {name}"), "graph_enabled": true})).await.expect(201);
        let key = tenant.post("keys", json!({"name": "key", "projects": "all", "scopes": []})).await.expect(201);
        let agent = tenant.post("agents", json!({"name": "agent", "scopes": [], "tools": []})).await.expect(201);
        let session = tenant.session().await;
        let brick = json!({"name": "brick", "type": "boolean", "evaluation_prompt": "is it so?"});
        let brick = text(&session.call("bricks.create_draft", brick).await.result()["structuredContent"]["brick_id"]);
        let kit = session.call("kits.create_draft", json!({"name": "kit", "brick_ids": [brick]})).await.result();
        let scribe = json!({"projectId": project["project"]["id"], "agentLabel": SCRIBE});
        let noted = json!({"content": format!("{name} was here")});
        let noted = tenant.session_with(scribe).await.call("af_memory_remember", noted).await.result();
        let observation = text(&noted["structuredContent"]["id"]);
        let fact = json!({"source": {"name": name}, "relationship": "was", "target": {"name": "here"}});
        let stated = session.call("graph_ingest", json!({"triplets": [fact]})).await.result();
        // A name of its own in every org, so that one's policy is not found under another's name.
        let policy = format!("{}-{}", name.to_lowercase(), &tenant.org[tenant.org.len() - 12..]);
        let permit = json!({"cedar": "permit (principal, action, resource);"});
        tenant.put(&format!("policies/{policy}"), permit).await.expect(200);
        let keys = tenant.audit("keys").await.expect(200);
        // Nothing is called so, and nothing of it happens: it is never delivered to.
        let there = tenant.get("webhooks?limit=10").await.expect(200)["webhooks"].as_array().unwrap().clone();
        let webhook = match there.as_slice() {
            // An org has only so many.
            [newest, .., _] if there.len() == 10 => newest.clone(),
            _ => {
                let new = json!({"url": format!("https://{}.invalid/hook", name.to_lowercase()), "events": ["no.such"]});
                tenant.post("webhooks", new).await.expect(201)["webhook"].clone()
            }
        };
        Self {
            org: tenant.org.clone(),
            project: text(&project["project"]["id"]),
            key: text(&key["key"]["id"]),
            session: session.id,
            agent: text(&agent["agent_id"]),
            user: Self::nowhere().user,
            kit: text(&kit["structuredContent"]["kit_id"]),
            policy,
            // The one that signs: an older one may have been revoked.
            audit_key: text(&keys["keys"].as_array().unwrap().last().unwrap()["kid"]),
            webhook: text(&webhook["id"]),
            observation,
            fact: text(&stated["structuredContent"]["tripletIds"][0]),
            new_name: new_name(),
            brick,
        }
    }

    /// Well-formed ids that nothing has.
    pub(crate) fn nowhere() -> Self {
        let id = |prefix: &str| format!("{prefix}_{}", "0".repeat(26));
        Self {
            org: id("org"),
            project: id("prj"),
            key: id("key"),
            session: id("ses"),
            agent: id("agt"),
            user: id("usr"),
            brick: id("brk"),
            kit: id("kit"),
            policy: "nowhere".to_owned(),
            audit_key: "A".repeat(43),
            webhook: id("whk"),
            observation: id("obs"),
            fact: id("tri"),
            new_name: new_name(),
        }
    }

    /// A path with these things in the place of its parameters.
    pub(crate) fn fill(&self, path: &str) -> String {
        let parameters = [
            ("{orgId}", &self.org),
            ("{projectId}", &self.project),
            ("{keyId}", &self.key),
            ("{sessionId}", &self.session),
            ("{agentId}", &self.agent),
            ("{userId}", &self.user),
            ("{brickId}", &self.brick),
            ("{kitId}", &self.kit),
            ("{policyId}", &self.policy),
            ("{kid}", &self.audit_key),
            ("{webhookId}", &self.webhook),
            ("{observationId}", &self.observation),
            ("{workspaceId}", &self.org),
        ];
        let filled = parameters.iter().fold(path.to_owned(), |path, (name, id)| path.replace(name, id));
        assert!(!filled.contains('{'), "{path} has a parameter that the tests do not know");
        filled
    }
}

/// A tool.
pub(crate) struct ToolRow {
    pub(crate) name: &'static str,
    pub(crate) scope: &'static str,
    /// Arguments that succeed.
    pub(crate) arguments: fn(&Things) -> Value,
}

pub(crate) const TOOLS: &[ToolRow] = &[
    ToolRow {
        name: "bricks.create_draft",
        scope: "bricks:create_draft",
        arguments: |_| json!({"name": "new", "type": "score", "evaluation_prompt": "how much?"}),
    },
    ToolRow { name: "bricks.list", scope: "bricks:read", arguments: |_| json!({"limit": 100}) },
    ToolRow {
        name: "kits.create_draft",
        scope: "kits:create_draft",
        arguments: |things| json!({"name": "new", "brick_ids": [things.brick]}),
    },
    ToolRow { name: "kits.list", scope: "kits:read", arguments: |_| json!({"limit": 100}) },
    ToolRow {
        name: "kits.get",
        scope: "kits:read",
        arguments: |things| json!({"kit_id": things.kit, "include_bricks": true, "include_publish_readiness": true}),
    },
    ToolRow {
        name: "af_memory_remember",
        scope: "memory:write",
        arguments: |_| json!({"content": "the tests have seen this", "type": "fact", "confidence": 0.5}),
    },
    ToolRow { name: "af_memory_recall", scope: "memory:read", arguments: |_| json!({"query": "seen", "workType": "chore"}) },
    ToolRow { name: "graph_query", scope: "graph:read", arguments: |_| json!({"query": "who was here"}) },
    ToolRow { name: "graph_neighbors", scope: "graph:read", arguments: |_| json!({"entity": "here"}) },
    ToolRow { name: "graph_path", scope: "graph:read", arguments: |_| json!({"from": "here", "to": "HERE"}) },
    ToolRow {
        name: "graph_ingest",
        scope: "graph:write",
        arguments: |_| json!({"triplets": [{"source": {"name": "tests"}, "relationship": "see", "target": {"name": "this"}}]}),
    },
    ToolRow {
        name: "graph_improve",
        scope: "graph:write",
        arguments: |things| json!({"triplets": [things.fact], "outcome": "accepted"}),
    },
];

/// What a route asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing.
    Public,
    /// A key with this scope, or a login whose role has it.
    Scope(&'static str),
    /// The operator's own key.
    InstanceAdmin,
    /// A login, whatever its role.
    Login,
    /// A login as owner or admin: no key decides for people.
    Human,
}

/// A route.
pub(crate) struct RouteRow {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) need: Need,
    /// A body that is taken, for those that take one.
    pub(crate) body: fn(&Things) -> Option<Value>,
}

impl RouteRow {
    pub(crate) fn method(&self) -> Method {
        self.method.parse().unwrap()
    }

    pub(crate) fn changes(&self) -> bool {
        self.method != "GET"
    }
}

/// What a member's login may do.
pub(crate) const MEMBER: [&str; 6] = ["org:read", "bricks:read", "kits:read", "memory:read", "audit:read", "metrics:read"];

const fn route(method: &'static str, path: &'static str, need: Need, body: fn(&Things) -> Option<Value>) -> RouteRow {
    RouteRow { method, path, need, body }
}

/// Who writes into the memory of the menu's projects.
const SCRIBE: &str = "scribe";
const MEMORY_READ: Need = Need::Scope("memory:read");
const MEMORY_WRITE: Need = Need::Scope("memory:write");
const AUDIT_READ: Need = Need::Scope("audit:read");
const AUDIT_WRITE: Need = Need::Scope("audit:write");
const ORG_READ: Need = Need::Scope("org:read");
const NONE: fn(&Things) -> Option<Value> = |_| None;
const EMPTY: fn(&Things) -> Option<Value> = |_| Some(json!({}));

pub(crate) const ROUTES: &[RouteRow] = &[
    route("GET", "/healthz", Need::Public, NONE),
    route("GET", "/readyz", Need::Public, NONE),
    route("GET", "/metrics", Need::Public, NONE),
    route("GET", "/api/openapi.json", Need::Public, NONE),
    route("POST", "/api/agents/authenticate", Need::Public, |_| Some(json!({"agent_key": "agk_0", "agent_secret": "ags_0"}))),
    route("POST", "/api/console/login", Need::Public, |_| Some(json!({"email": "no@body.example", "password": "no"}))),
    route("POST", "/api/console/logout", Need::Login, NONE),
    route("GET", "/api/console/me", Need::Login, NONE),
    route("POST", "/api/orgs", Need::InstanceAdmin, |things| Some(json!({"name": things.new_name}))),
    route("GET", "/api/orgs", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}", ORG_READ, NONE),
    route("PATCH", "/api/org/{orgId}", Need::InstanceAdmin, EMPTY),
    route("POST", "/api/org/{orgId}/projects", Need::Scope("projects:write"), |things| Some(json!({"name": things.new_name}))),
    route("GET", "/api/org/{orgId}/projects", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}", ORG_READ, NONE),
    route("PATCH", "/api/org/{orgId}/projects/{projectId}", Need::Scope("projects:write"), EMPTY),
    route("POST", "/api/org/{orgId}/keys", Need::Scope("keys:write"), |_| {
        Some(json!({"name": "new", "projects": "all", "scopes": []}))
    }),
    route("GET", "/api/org/{orgId}/keys", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/keys/{keyId}", ORG_READ, NONE),
    route("DELETE", "/api/org/{orgId}/keys/{keyId}", Need::Scope("keys:write"), NONE),
    route("POST", "/api/org/{orgId}/sessions", Need::Scope("sessions:write"), |things| {
        Some(json!({"projectId": things.project}))
    }),
    route("GET", "/api/org/{orgId}/sessions", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/sessions/{sessionId}", ORG_READ, NONE),
    route("POST", "/api/org/{orgId}/sessions/{sessionId}/end", Need::Scope("sessions:write"), EMPTY),
    route("POST", "/api/org/{orgId}/agents", Need::Scope("agents:write"), |_| {
        Some(json!({"name": "new", "scopes": [], "tools": []}))
    }),
    route("GET", "/api/org/{orgId}/agents", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/agents/{agentId}", ORG_READ, NONE),
    route("PATCH", "/api/org/{orgId}/agents/{agentId}", Need::Scope("agents:write"), EMPTY),
    route("POST", "/api/org/{orgId}/agents/{agentId}/rotate", Need::Scope("agents:write"), NONE),
    route("DELETE", "/api/org/{orgId}/agents/{agentId}", Need::Scope("agents:write"), NONE),
    route("POST", "/api/org/{orgId}/users", Need::Scope("users:write"), |things| {
        let email = format!("{}@new.example", things.new_name);
        Some(json!({"email": email, "role": "member", "password": "correct horse battery"}))
    }),
    route("GET", "/api/org/{orgId}/users", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/users/{userId}", ORG_READ, NONE),
    route("PATCH", "/api/org/{orgId}/users/{userId}", Need::Scope("users:write"), EMPTY),
    route("DELETE", "/api/org/{orgId}/users/{userId}", Need::Scope("users:write"), NONE),
    route("GET", "/api/bricks", Need::Scope("bricks:read"), NONE),
    route("GET", "/api/bricks/{brickId}", Need::Scope("bricks:read"), NONE),
    route("POST", "/api/bricks/{brickId}/versions", Need::Human, |_| Some(json!({"evaluation_prompt": "is it still so?"}))),
    route("POST", "/api/bricks/{brickId}/publish", Need::Human, NONE),
    route("POST", "/api/bricks/{brickId}/deprecate", Need::Human, NONE),
    route("GET", "/api/kits", Need::Scope("kits:read"), NONE),
    route("GET", "/api/kits/{kitId}", Need::Scope("kits:read"), NONE),
    route("POST", "/api/kits/{kitId}/versions", Need::Human, |things| Some(json!({"brick_ids": [things.brick]}))),
    route("POST", "/api/kits/{kitId}/publish", Need::Human, NONE),
    route("POST", "/api/kits/{kitId}/deprecate", Need::Human, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/memory", MEMORY_READ, NONE),
    route("POST", "/api/org/{orgId}/projects/{projectId}/memory/search", MEMORY_READ, |_| Some(json!({"query": "here"}))),
    route("GET", "/api/org/{orgId}/projects/{projectId}/memory/{observationId}", MEMORY_READ, NONE),
    route("DELETE", "/api/org/{orgId}/projects/{projectId}/memory/{observationId}", MEMORY_WRITE, NONE),
    route("POST", "/api/org/{orgId}/projects/{projectId}/memory/rollback", MEMORY_WRITE, |_| {
        Some(json!({"agentId": format!("label:{SCRIBE}")}))
    }),
    route("POST", "/api/org/{orgId}/projects/{projectId}/memory/import", MEMORY_WRITE, |things| {
        Some(json!({"observations": [{"content": format!("{} was brought along", things.new_name), "agentId": SCRIBE}]}))
    }),
    route("GET", "/api/org/{orgId}/projects/{projectId}/memory/report", MEMORY_READ, NONE),
    route("GET", "/api/org/{orgId}/policies", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/policies/{policyId}", ORG_READ, NONE),
    route("PUT", "/api/org/{orgId}/policies/{policyId}", Need::Scope("policies:write"), |things| {
        // The same text again would change nothing.
        Some(json!({"cedar": format!("// {}\npermit (principal, action, resource);", things.new_name)}))
    }),
    route("DELETE", "/api/org/{orgId}/policies/{policyId}", Need::Scope("policies:write"), NONE),
    route("POST", "/api/org/{orgId}/policy/check", ORG_READ, |_| Some(json!({"cedar": "permit (principal, action, resource);"}))),
    route("POST", "/api/org/{orgId}/policy/explain", ORG_READ, |things| {
        Some(json!({"agentId": things.agent, "tool": "bricks.list"}))
    }),
    route("GET", "/api/audit", AUDIT_READ, NONE),
    route("GET", "/api/audit/export", AUDIT_READ, NONE),
    route("POST", "/api/audit/verify", AUDIT_READ, NONE),
    route("GET", "/api/audit/checkpoint", AUDIT_READ, NONE),
    route("GET", "/api/audit/keys", AUDIT_READ, NONE),
    route("POST", "/api/audit/keys/rotate", AUDIT_WRITE, NONE),
    route("POST", "/api/audit/keys/{kid}/revoke", AUDIT_WRITE, EMPTY),
    route("POST", "/api/org/{orgId}/webhooks", AUDIT_WRITE, |things| {
        Some(json!({"url": format!("https://{}.invalid/", things.new_name), "events": ["no.such"]}))
    }),
    route("GET", "/api/org/{orgId}/webhooks", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/webhooks/{webhookId}", ORG_READ, NONE),
    route("PATCH", "/api/org/{orgId}/webhooks/{webhookId}", AUDIT_WRITE, EMPTY),
    route("DELETE", "/api/org/{orgId}/webhooks/{webhookId}", AUDIT_WRITE, NONE),
    route("POST", "/api/org/{orgId}/webhooks/{webhookId}/rotate", AUDIT_WRITE, NONE),
    route("GET", "/api/org/{orgId}/webhooks/{webhookId}/dead-letters", ORG_READ, NONE),
    // Nothing of it is wanted, so nothing is sent.
    route("POST", "/api/org/{orgId}/webhooks/{webhookId}/redeliver", AUDIT_WRITE, |_| Some(json!({"sequence": 1}))),
    route("GET", "/api/org/{orgId}/costs", Need::Scope("metrics:read"), NONE),
    route("GET", "/api/org/{orgId}/tasks", ORG_READ, NONE),
    route("GET", "/.well-known/audit-keys/{workspaceId}", Need::Public, NONE),
    // The last: what it removes, others speak of.
    route("POST", "/api/audit/prune", AUDIT_WRITE, |_| Some(json!({"before": base::Clock::system().now().rfc3339()}))),
];

/// Lists that page: the rest of what is read without an id is read whole.
pub(crate) fn lists() -> impl Iterator<Item = &'static RouteRow> {
    let whole =
        ["/api/org/{orgId}/policies", "/api/org/{orgId}/costs", "/api/audit/export", "/api/audit/checkpoint", "/api/audit/keys"];
    let names_things = |row: &RouteRow| row.path.ends_with("Id}") || row.path.replace("{orgId}", "").contains("Id}");
    let read = move |row: &&RouteRow| row.method == "GET" && matches!(row.need, Need::Scope(_)) && !names_things(row);
    ROUTES.iter().filter(read).filter(move |row| !whole.contains(&row.path))
}

/// Tools that the server has and the menu lacks, or the other way round.
pub(crate) fn tools_that_differ() -> BTreeSet<String> {
    let catalogue = tools::Catalogue::builtin().unwrap();
    let served = catalogue.tools().iter().map(|tool| tool.spec().name.to_owned()).collect::<BTreeSet<_>>();
    let known = TOOLS.iter().map(|row| row.name.to_owned()).collect();
    served.symmetric_difference(&known).cloned().collect()
}

/// Routes that the server has and the menu lacks, or the other way round.
pub(crate) fn routes_that_differ() -> BTreeSet<String> {
    let document = serde_json::to_value(server::openapi()).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let served = paths.flat_map(|(path, methods)| {
        let methods =
            methods.as_object().unwrap().keys().filter(|name| !matches!(name.as_str(), "parameters" | "summary" | "description"));
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    let known = ROUTES.iter().map(|row| format!("{} {}", row.method, row.path)).collect::<BTreeSet<_>>();
    served.collect::<BTreeSet<_>>().symmetric_difference(&known).cloned().collect()
}
