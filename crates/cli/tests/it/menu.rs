//! Every tool and every route, with valid arguments and the required right. Tests fail for a tool or a route that is missing here.

mod things;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

pub(crate) use things::{Things, write_code};

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
    ToolRow { name: "read_code", scope: "code:read", arguments: |_| json!({"path": "src/here.py", "include_history": true}) },
    ToolRow {
        name: "write_code",
        scope: "code:write",
        arguments: |_| json!({"path": "src/there.py", "content": "from here import was_here\n", "reason": "the tests write this"}),
    },
    ToolRow {
        name: "analyze_dependencies",
        scope: "code:read",
        arguments: |_| json!({"path": "src/here.py", "include_external": true}),
    },
    ToolRow { name: "graph_search", scope: "code:read", arguments: |_| json!({"start_nodes": ["src/here.py#was_here"]}) },
    ToolRow {
        name: "hybrid_search",
        scope: "code:read",
        arguments: |_| json!({"query": "here", "search_types": ["semantic", "graph", "dependency", "temporal"]}),
    },
    ToolRow {
        name: "semantic_search",
        scope: "code:read",
        arguments: |_| json!({"query": "who was here", "similarity_threshold": 0}),
    },
    ToolRow { name: "query_history", scope: "code:read", arguments: |things| json!({"entity_id": things.fact}) },
    ToolRow { name: "get_context", scope: "code:read", arguments: |_| json!({"time_range": "1w"}) },
    ToolRow {
        name: "record_decision",
        scope: "decisions:write",
        arguments: |_| json!({"decision": "the tests decide this", "reasoning": "someone has to", "impact": "low"}),
    },
    ToolRow {
        name: "get_performance_metrics",
        scope: "metrics:read",
        arguments: |_| json!({"metric_types": ["latency", "throughput", "memory", "errors", "health"], "time_window": "1d"}),
    },
];

/// The credential that a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// No credential.
    Public,
    /// Any key of an org or any login.
    Known,
    /// A key with this scope, or a login whose role has it.
    Scope(&'static str),
    /// The operator's own key.
    InstanceAdmin,
    /// A login, whatever its role.
    Login,
    /// A login as owner or admin. Keys are refused.
    Human,
    /// A login as owner, or the operator's own key.
    Owner,
}

/// A route.
pub(crate) struct RouteRow {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) need: Need,
    /// A valid body, if the route takes one.
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

/// The scopes of a member.
pub(crate) const MEMBER: [&str; 7] =
    ["org:read", "bricks:read", "kits:read", "memory:read", "graph:read", "audit:read", "metrics:read"];

const fn route(method: &'static str, path: &'static str, need: Need, body: fn(&Things) -> Option<Value>) -> RouteRow {
    RouteRow { method, path, need, body }
}

/// The label of the agent that fills memory, graph and code.
const SCRIBE: &str = "scribe";
/// The file that this agent writes, in two versions.
const FILE: &str = "src/here.py";
const MEMORY_READ: Need = Need::Scope("memory:read");
const MEMORY_WRITE: Need = Need::Scope("memory:write");
const GRAPH_READ: Need = Need::Scope("graph:read");
const GRAPH_WRITE: Need = Need::Scope("graph:write");
const CODE_READ: Need = Need::Scope("code:read");
const CODE_WRITE: Need = Need::Scope("code:write");
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
    route("GET", "/api/whoami", Need::Known, NONE),
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
    route("GET", "/api/org/{orgId}/projects/{projectId}/graph", GRAPH_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/graph/triplets", GRAPH_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/graph/triplets/{tripletId}", GRAPH_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/graph/entities", GRAPH_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}", GRAPH_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/graph/suggestions", GRAPH_READ, NONE),
    route("POST", "/api/org/{orgId}/projects/{projectId}/graph/search", GRAPH_READ, |_| Some(json!({"query": "here"}))),
    route("POST", "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}/merge", GRAPH_WRITE, |things| {
        Some(json!({"into": things.merged}))
    }),
    route("POST", "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}/split", GRAPH_WRITE, NONE),
    route("POST", "/api/org/{orgId}/projects/{projectId}/graph/rollback", GRAPH_WRITE, |_| {
        Some(json!({"agentId": format!("label:{SCRIBE}")}))
    }),
    route("GET", "/api/org/{orgId}/projects/{projectId}/decisions", MEMORY_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/decisions/{decisionId}", MEMORY_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/code/tree", CODE_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/code/file", CODE_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/code/symbols", CODE_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/code/history", CODE_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/code/blame", CODE_READ, NONE),
    route("GET", "/api/org/{orgId}/projects/{projectId}/code/dependencies", CODE_READ, NONE),
    route("POST", "/api/org/{orgId}/projects/{projectId}/code/search", CODE_READ, |_| Some(json!({"query": "was_here"}))),
    route("GET", "/api/org/{orgId}/projects/{projectId}/code/index", CODE_READ, NONE),
    route("POST", "/api/org/{orgId}/projects/{projectId}/code/index", CODE_READ, NONE),
    route("POST", "/api/org/{orgId}/projects/{projectId}/code/restore", CODE_WRITE, |_| {
        Some(json!({"path": FILE, "version": 1}))
    }),
    route("POST", "/api/org/{orgId}/projects/{projectId}/code/rollback", CODE_WRITE, |_| {
        Some(json!({"agentId": format!("label:{SCRIBE}")}))
    }),
    route("GET", "/api/org/{orgId}/policies", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/policies/{policyId}", ORG_READ, NONE),
    route("PUT", "/api/org/{orgId}/policies/{policyId}", Need::Scope("policies:write"), |things| {
        // Saving the same text again would change nothing.
        Some(json!({"cedar": format!("// {}\npermit (principal, action, resource);", things.new_name)}))
    }),
    route("DELETE", "/api/org/{orgId}/policies/{policyId}", Need::Scope("policies:write"), NONE),
    route("POST", "/api/org/{orgId}/policy/check", ORG_READ, |_| Some(json!({"cedar": "permit (principal, action, resource);"}))),
    route("POST", "/api/org/{orgId}/policy/explain", ORG_READ, |things| {
        Some(json!({"agentId": things.agent, "tool": "bricks.list"}))
    }),
    route("GET", "/api/audit", AUDIT_READ, NONE),
    route("GET", "/api/audit/newer", AUDIT_READ, NONE),
    route("GET", "/api/audit/export", AUDIT_READ, NONE),
    route("POST", "/api/audit/verify", AUDIT_READ, NONE),
    route("GET", "/api/audit/checkpoint", AUDIT_READ, NONE),
    route("GET", "/api/audit/keys", AUDIT_READ, NONE),
    route("POST", "/api/audit/keys/rotate", AUDIT_WRITE, NONE),
    route("POST", "/api/audit/keys/{kid}/revoke", AUDIT_WRITE, EMPTY),
    route("POST", "/api/org/{orgId}/webhooks", AUDIT_WRITE, |things| {
        Some(json!({"url": format!("https://{}.invalid/", things.new_name), "events": ["org.changed"]}))
    }),
    route("GET", "/api/org/{orgId}/webhooks", ORG_READ, NONE),
    route("GET", "/api/org/{orgId}/webhooks/{webhookId}", ORG_READ, NONE),
    route("PATCH", "/api/org/{orgId}/webhooks/{webhookId}", AUDIT_WRITE, EMPTY),
    route("DELETE", "/api/org/{orgId}/webhooks/{webhookId}", AUDIT_WRITE, NONE),
    route("POST", "/api/org/{orgId}/webhooks/{webhookId}/rotate", AUDIT_WRITE, NONE),
    route("GET", "/api/org/{orgId}/webhooks/{webhookId}/dead-letters", ORG_READ, NONE),
    // The webhook does not subscribe to this event, so nothing is sent.
    route("POST", "/api/org/{orgId}/webhooks/{webhookId}/redeliver", AUDIT_WRITE, |_| Some(json!({"sequence": 1}))),
    route("GET", "/api/org/{orgId}/costs", Need::Scope("metrics:read"), NONE),
    route("GET", "/api/org/{orgId}/tasks", ORG_READ, NONE),
    route("GET", "/.well-known/audit-keys/{workspaceId}", Need::Public, NONE),
    // This route comes last, because other tests read the entries that it removes.
    route("POST", "/api/audit/prune", Need::Owner, |_| Some(json!({"before": base::Clock::system().now().rfc3339()}))),
];

/// The paged lists. The routes in `whole` return everything at once.
pub(crate) fn lists() -> impl Iterator<Item = &'static RouteRow> {
    let whole = [
        "/api/org/{orgId}/policies",
        "/api/org/{orgId}/costs",
        "/api/audit/newer",
        "/api/audit/export",
        "/api/audit/checkpoint",
        "/api/audit/keys",
    ];
    let names_things = |row: &RouteRow| row.path.ends_with("Id}") || row.path.replace("{orgId}", "").contains("Id}");
    let read = move |row: &&RouteRow| row.method == "GET" && matches!(row.need, Need::Scope(_)) && !names_things(row);
    ROUTES.iter().filter(read).filter(move |row| !whole.contains(&row.path))
}

/// Tools that only the server or only this table has.
pub(crate) fn tools_that_differ() -> BTreeSet<String> {
    let catalogue = tools::Catalogue::builtin().unwrap();
    let served = catalogue.tools().iter().map(|tool| tool.spec().name.to_string()).collect::<BTreeSet<_>>();
    let known = TOOLS.iter().map(|row| row.name.to_owned()).collect();
    served.symmetric_difference(&known).cloned().collect()
}

/// Routes that only the server or only this table has.
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
