//! An org with its sessions and agents.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Crib, Reply, call};

/// An org with a full key and a project.
pub(crate) struct Tenant<'c> {
    pub(crate) crib: &'c Crib,
    pub(crate) org: String,
    pub(crate) key: String,
    pub(crate) project: String,
}

/// An open session and its own key.
pub(crate) struct Session<'c> {
    crib: &'c Crib,
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) key: String,
}

/// A registered agent and one of its tokens.
pub(crate) struct Agent<'c> {
    crib: &'c Crib,
    pub(crate) id: String,
    pub(crate) agent_key: String,
    pub(crate) agent_secret: String,
    pub(crate) token: String,
}

impl<'c> Tenant<'c> {
    pub(super) async fn new(crib: &'c Crib, org: &str, key: &str) -> Self {
        let mut tenant = Self { crib, org: org.to_owned(), key: key.to_owned(), project: String::new() };
        let project = tenant.post("projects", json!({"name": "first", "graph_enabled": true})).await.expect(201);
        tenant.project = project["project"]["id"].as_str().unwrap().to_owned();
        tenant
    }

    /// `POST /api/org/{org}/…` with the tenant's key.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.api(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.api(Method::GET, path, None).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        self.api(Method::PUT, path, Some(body)).await
    }

    /// `GET /api/audit/…` with the tenant's key.
    pub(crate) async fn audit(&self, path: &str) -> Reply {
        self.crib.api(Method::GET, &format!("/api/audit/{path}"), &self.key, None).await
    }

    /// The entries of the org's trail that pass `filter`, newest first.
    pub(crate) async fn trail(&self, filter: &str) -> Vec<Value> {
        let path = format!("/api/audit?limit=200&{filter}");
        let found = self.crib.api(Method::GET, &path, &self.key, None).await.expect(200);
        found["events"].as_array().unwrap().clone()
    }

    pub(crate) async fn api(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        self.crib.api(method, &format!("/api/org/{}/{path}", self.org), &self.key, body).await
    }

    /// The same call by the instance admin. Apart from owners, only the instance admin may manage owners and admins.
    pub(crate) async fn as_operator(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        self.crib.api(method, &format!("/api/org/{}/{path}", self.org), &self.crib.admin_key, body).await
    }

    pub(crate) async fn session(&self) -> Session<'c> {
        self.session_with(json!({})).await
    }

    /// Opens a session with these options.
    pub(crate) async fn session_with(&self, mut body: Value) -> Session<'c> {
        if body.get("projectId").is_none() {
            body["projectId"] = json!(self.project);
        }
        let opened = self.post("sessions", body).await.expect(201);
        let entry = &opened["mcpConfig"]["mcpServers"]["toolcrib"];
        let bearer = entry["headers"]["Authorization"].as_str().unwrap();
        Session {
            crib: self.crib,
            id: opened["sessionId"].as_str().unwrap().to_owned(),
            url: entry["url"].as_str().unwrap().to_owned(),
            key: bearer.strip_prefix("Bearer ").unwrap().to_owned(),
        }
    }

    /// Tries to mint a key with the key `with`.
    pub(crate) async fn mint_with(&self, with: &str, body: Value) -> Reply {
        self.crib.api(Method::POST, &format!("/api/org/{}/keys", self.org), with, Some(body)).await
    }

    /// Mints a key with these scopes.
    pub(crate) async fn key_with(&self, scopes: &[&str]) -> String {
        let minted = self.post("keys", json!({"name": "k", "projects": "all", "scopes": scopes})).await.expect(201);
        minted["key"]["fullKey"].as_str().unwrap().to_owned()
    }

    /// Registers an agent and issues a token.
    pub(crate) async fn agent(&self, scopes: &[&str], tools: &[&str]) -> Agent<'c> {
        let body = json!({"name": "agent", "projectId": self.project, "scopes": scopes, "tools": tools});
        self.agent_with(body).await
    }

    pub(crate) async fn agent_with(&self, body: Value) -> Agent<'c> {
        let made = self.post("agents", body).await.expect(201);
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        let mut agent = Agent {
            crib: self.crib,
            id: text("agent_id"),
            agent_key: text("agent_key"),
            agent_secret: text("agent_secret"),
            token: String::new(),
        };
        agent.token = agent.authenticate().await.expect(200)["access_token"].as_str().unwrap().to_owned();
        agent
    }
}

impl Session<'_> {
    /// Posts a message through the session door.
    pub(crate) async fn rpc(&self, message: &Value) -> Reply {
        self.raw(message.to_string()).await
    }

    /// Posts a raw body.
    pub(crate) async fn raw(&self, body: impl Into<reqwest::Body>) -> Reply {
        self.crib.send(self.builder().body(body)).await
    }

    /// A POST to the door, for tests that add headers.
    pub(crate) fn builder(&self) -> reqwest::RequestBuilder {
        self.crib.http.post(&self.url).bearer_auth(&self.key)
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.rpc(&call(1, tool, arguments)).await
    }

    /// Posts a modern message with its headers.
    pub(crate) async fn modern(&self, message: &Value) -> Reply {
        let mut builder = self.builder().header("mcp-protocol-version", "2026-07-28");
        builder = builder.header("mcp-method", message["method"].as_str().unwrap());
        if let Some(name) = message["params"]["name"].as_str().or_else(|| message["params"]["uri"].as_str()) {
            builder = builder.header("mcp-name", name);
        }
        self.crib.send(builder.body(message.to_string())).await
    }
}

impl Agent<'_> {
    pub(crate) async fn authenticate(&self) -> Reply {
        let body = json!({"agent_key": self.agent_key, "agent_secret": self.agent_secret});
        self.crib.send(self.crib.http.post(format!("{}/api/agents/authenticate", self.crib.url)).json(&body)).await
    }

    pub(crate) async fn rpc(&self, message: &Value) -> Reply {
        let request = self.crib.http.post(format!("{}/api/mcp", self.crib.url)).bearer_auth(&self.token);
        self.crib.send(request.body(message.to_string())).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.rpc(&call(1, tool, arguments)).await
    }

    /// The names of the tools that the agent sees.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let listed = self.rpc(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await.result();
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}
