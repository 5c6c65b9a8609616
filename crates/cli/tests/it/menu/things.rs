//! One of each thing in an org, as targets for calls.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::{FILE, SCRIBE};
use crate::support::{Session, Tenant};

/// The ids of one org's things.
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
    pub(crate) decision: String,
    /// A triplet in the tenant's first project.
    pub(crate) fact: String,
    /// A triplet of the project, an entity, and another entity that is merged into a third.
    pub(crate) triplet: String,
    pub(crate) entity: String,
    pub(crate) merged: String,
    /// A name that nothing has yet.
    pub(crate) new_name: String,
}

fn new_name() -> String {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    format!("new{}", NAMES.fetch_add(1, Ordering::Relaxed))
}

impl Things {
    /// Makes one of each. Unique names contain `name`.
    pub(crate) async fn make(tenant: &Tenant<'_>, name: &str) -> Self {
        // Email addresses are unique on the whole server.
        let email = format!("{name}@{}.example", tenant.org.replace('_', "-"));
        let user = json!({"email": email, "role": "member", "password": "correct horse battery"});
        let user = tenant.post("users", user).await.expect(201);
        Self { user: user["user"]["id"].as_str().unwrap().to_owned(), ..Self::make_without_user(tenant, name).await }
    }

    /// Skips the user, whose password takes a slow hash.
    pub(crate) async fn make_without_user(tenant: &Tenant<'_>, name: &str) -> Self {
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
        let scribe = tenant.session_with(scribe).await;
        let noted = scribe.call("af_memory_remember", noted).await.result();
        let observation = text(&noted["structuredContent"]["id"]);
        let decided = json!({"decision": format!("{name} stays"), "reasoning": "it was here first"});
        let decided = scribe.call("record_decision", decided).await.result();
        write_twice(&scribe, name).await;
        let (triplet, entity, merged) = state_facts(tenant, &scribe, &text(&project["project"]["id"])).await;
        let fact = json!({"source": {"name": name}, "relationship": "was", "target": {"name": "here"}});
        let stated = session.call("graph_ingest", json!({"triplets": [fact]})).await.result();
        write_code(&session).await;
        // The policy id differs between orgs, so that a foreign id does not match.
        let policy = format!("{}-{}", name.to_lowercase(), &tenant.org[tenant.org.len() - 12..]);
        let permit = json!({"cedar": "permit (principal, action, resource);"});
        tenant.put(&format!("policies/{policy}"), permit).await.expect(200);
        let keys = tenant.audit("keys").await.expect(200);
        // The webhook's host does not exist and its event never happens, so nothing is delivered.
        let there = tenant.get("webhooks?limit=10").await.expect(200)["webhooks"].as_array().unwrap().clone();
        let webhook = match there.as_slice() {
            // The org has reached its limit of webhooks.
            [newest, .., _] if there.len() == 10 => newest.clone(),
            _ => {
                let new = json!({"url": format!("https://{}.invalid/hook", name.to_lowercase()), "events": ["org.changed"]});
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
            // The active key. Older keys may be revoked.
            audit_key: text(&keys["keys"].as_array().unwrap().last().unwrap()["kid"]),
            webhook: text(&webhook["id"]),
            observation,
            decision: text(&decided["structuredContent"]["decision_id"]),
            fact: text(&stated["structuredContent"]["tripletIds"][0]),
            triplet,
            entity,
            merged,
            new_name: new_name(),
            brick,
        }
    }

    /// Well-formed ids of things that do not exist.
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
            decision: id("dec"),
            fact: id("tri"),
            triplet: id("tri"),
            entity: id("ent"),
            merged: id("ent"),
            new_name: new_name(),
        }
    }

    /// The ids that another org must not see.
    pub(crate) fn ids(&self) -> [&String; 15] {
        let Self {
            org, project, key, session, agent, user, brick, kit, webhook, observation, decision, fact, triplet, entity, merged, ..
        } = self;
        [org, project, key, session, agent, user, brick, kit, webhook, observation, decision, fact, triplet, entity, merged]
    }

    /// The path with its parameters replaced by these ids.
    pub(crate) fn fill(&self, path: &str) -> String {
        // Only a merged entity can be split.
        let split = format!("{}/split", self.merged);
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
            ("{decisionId}", &self.decision),
            ("{tripletId}", &self.triplet),
            ("{entityId}/split", &split),
            ("{entityId}", &self.entity),
            ("{workspaceId}", &self.org),
        ];
        let filled = parameters.iter().fold(path.to_owned(), |path, (name, id)| path.replace(name, id));
        assert!(!filled.contains('{'), "{path} has an unknown parameter");
        let is_about_a_file = ["/code/file", "/code/symbols", "/code/blame", "/code/dependencies"].iter().any(|end| path.ends_with(end));
        if is_about_a_file { format!("{filled}?path={FILE}") } else { filled }
    }
}

/// Writes a file twice, so that its first version can be restored.
async fn write_twice(scribe: &Session<'_>, name: &str) {
    for number in 1..=2 {
        let content = format!("def was_here():\n    return {name:?}, {number}\n");
        scribe.call("write_code", json!({"path": FILE, "content": content, "reason": "someone has to"})).await.result();
    }
}

/// Gives the session's project a file. The project has no root, so the store keeps it.
pub(crate) async fn write_code(session: &Session<'_>) {
    let content = "def was_here():\n    return True\n";
    let file = json!({"path": "src/here.py", "content": content, "reason": "the tests need code"});
    session.call("write_code", file).await.result();
}

/// Adds facts. Returns a triplet, an entity, and an entity that is merged into another.
async fn state_facts(tenant: &Tenant<'_>, scribe: &Session<'_>, project: &str) -> (String, String, String) {
    let triplets = json!([
        {"source": {"name": "single"}, "relationship": "was", "target": {"name": "here"}},
        {"source": {"name": "twin"}, "relationship": "was", "target": {"name": "other twin"}},
        {"source": {"name": "twin", "aliases": ["other twin"]}, "relationship": "was", "target": {"name": "here"}},
    ]);
    let stated = scribe.call("graph_ingest", json!({ "triplets": triplets })).await.result();
    let listed = tenant.get(&format!("projects/{project}/graph/entities")).await.expect(200);
    let called = |name: &str| {
        let entity = listed["entities"].as_array().unwrap().iter().find(|entity| entity["name"] == name);
        entity.unwrap()["id"].as_str().unwrap().to_owned()
    };
    (stated["structuredContent"]["tripletIds"][0].as_str().unwrap().to_owned(), called("single"), called("other twin"))
}
