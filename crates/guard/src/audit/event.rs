//! What the record says happened, before it gets its place in the chain.

use base::{Actor, AgentId, Principal, RequestId, UserId};
use serde_json::{Map, Value};

use crate::access::Who;
use crate::identify::Presented;

/// One thing that happened, to one thing.
#[derive(Clone, Debug)]
pub struct Event {
    pub(crate) event_type: &'static str,
    pub(crate) entity_type: &'static str,
    pub(crate) entity_id: String,
    pub(crate) payload: Map<String, Value>,
}

impl Event {
    /// `event_type` (`key.minted`) happened to the `entity_type` called `entity_id`.
    pub fn new(event_type: &'static str, entity_type: &'static str, entity_id: impl std::fmt::Display) -> Self {
        Self { event_type, entity_type, entity_id: entity_id.to_string(), payload: Map::new() }
    }

    /// Adds what one should know of it. Never a secret, never an argument in the clear.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.payload.insert(name.to_owned(), value.into());
        self
    }

    /// Adds every member of an object.
    #[must_use]
    pub(crate) fn with_all(mut self, members: Value) -> Self {
        if let Value::Object(members) = members {
            self.payload.extend(members);
        }
        self
    }

    /// Adds something that may be absent.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// Who did it, in which request.
#[derive(Clone, Debug)]
pub(crate) struct By {
    pub(crate) actor_type: &'static str,
    pub(crate) actor_id: String,
    pub(crate) request: Option<RequestId>,
}

impl By {
    /// The server itself, for what nobody asked it to do.
    pub(crate) fn system() -> Self {
        Self { actor_type: "system", actor_id: "toolcrib".to_owned(), request: None }
    }

    /// A person who logs in or out.
    pub(crate) fn user(id: &UserId, request: RequestId) -> Self {
        Self { actor_type: "user", actor_id: id.to_string(), request: Some(request) }
    }

    /// An agent that asks for a token.
    pub(crate) fn agent(id: &AgentId, request: RequestId) -> Self {
        Self { actor_type: "agent", actor_id: id.to_string(), request: Some(request) }
    }

    pub(crate) fn manager(who: &Who, request: Option<RequestId>) -> Self {
        let actor_type = match who {
            Who::InstanceAdmin => "instance_admin",
            Who::Key(_) => "key",
            Who::User { .. } => "user",
        };
        Self { actor_type, actor_id: who.label(), request }
    }

    /// Whoever holds a key, before it is known what for. A stranger's key is named like any other.
    pub(crate) fn presented(presented: &Presented, request: RequestId) -> Self {
        let (actor_type, actor_id) = match presented {
            Presented::InstanceAdmin(_) => ("instance_admin", Who::InstanceAdmin.label()),
            Presented::Key(key) => ("key", key.id.to_string()),
        };
        Self { actor_type, actor_id, request: Some(request) }
    }

    pub(crate) fn principal(principal: &Principal, request: RequestId) -> Self {
        let (actor_type, actor_id) = match &principal.actor {
            Actor::Session { id, .. } => ("session", id.to_string()),
            Actor::Agent { id, .. } => ("agent", id.to_string()),
        };
        Self { actor_type, actor_id, request: Some(request) }
    }
}
