//! Bricks and kits through the doors, compared with the seed field by field. The seed is repeated here as data.

mod drafts;
mod lists;
mod publishing;
mod schemas;

use serde_json::{Value, json};

use crate::menu::TOOLS;
use crate::support::{Agent, Reply, Session, Tenant, members, text};

/// A caller at either door. The seed describes the agent door; the session door must answer the same.
enum DoorClient<'c> {
    Session(Session<'c>),
    Agent(Agent<'c>),
}

impl<'c> DoorClient<'c> {
    async fn both(tenant: &Tenant<'c>) -> [Self; 2] {
        let names: Vec<&str> = TOOLS.iter().map(|row| row.name).collect();
        [Self::Session(tenant.session().await), Self::Agent(tenant.agent(&["*"], &names).await)]
    }

    async fn call(&self, tool: &str, arguments: Value) -> Reply {
        match self {
            DoorClient::Session(session) => session.call(tool, arguments).await,
            DoorClient::Agent(agent) => agent.call(tool, arguments).await,
        }
    }

    /// The typed payload of a call that succeeds.
    async fn payload(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).await.result()["structuredContent"].take()
    }

    async fn brick(&self, name: &str) -> String {
        let brick = json!({"name": name, "type": "boolean", "evaluation_prompt": "is it so?"});
        text(&self.payload("bricks.create_draft", brick).await["brick_id"])
    }

    async fn kit(&self, bricks: &[&str]) -> String {
        text(&self.payload("kits.create_draft", json!({"name": "kit", "brick_ids": bricks})).await["kit_id"])
    }

    /// How many bricks and kits there are.
    async fn counts(&self) -> (usize, usize) {
        let count =
            async |tool: &str, member: &str| self.payload(tool, json!({"limit": 100})).await[member].as_array().unwrap().len();
        (count("bricks.list", "bricks").await, count("kits.list", "kits").await)
    }
}

/// The given names, sorted for comparison.
fn sorted<const N: usize>(mut names: [&str; N]) -> Vec<&str> {
    names.sort_unstable();
    names.to_vec()
}
