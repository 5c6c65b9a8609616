//! An audit event before it is chained and signed.

use base::{Actor, AgentId, EventKind, Principal, RequestId, UserId};
use serde_json::{Map, Value};

use crate::access::Manager;
use crate::identify::Presented;

/// One event about one entity.
#[derive(Clone, Debug)]
pub struct Event {
    pub(crate) kind: EventKind,
    pub(crate) entity_type: &'static str,
    pub(crate) entity_id: String,
    pub(crate) payload: Map<String, Value>,
}

impl Event {
    /// Creates an event of `kind` about the `entity_type` named `entity_id`.
    pub fn new(kind: EventKind, entity_type: &'static str, entity_id: impl std::fmt::Display) -> Self {
        Self { kind, entity_type, entity_id: entity_id.to_string(), payload: Map::new() }
    }

    /// Adds a member. Never a secret, and never arguments in clear text.
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

    /// Adds a member if there is a value.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// The actor of an event, and its request.
#[derive(Clone, Debug)]
pub(crate) struct By {
    pub(crate) actor_type: &'static str,
    pub(crate) actor_id: String,
    pub(crate) request: Option<RequestId>,
}

impl By {
    /// The server itself, without a request.
    pub(crate) fn system() -> Self {
        Self { actor_type: "system", actor_id: "toolcrib".to_owned(), request: None }
    }

    /// A user who logs in or out.
    pub(crate) fn user(id: &UserId, request: RequestId) -> Self {
        Self { actor_type: "user", actor_id: id.to_string(), request: Some(request) }
    }

    /// An agent that requests a token.
    pub(crate) fn agent(id: &AgentId, request: RequestId) -> Self {
        Self { actor_type: "agent", actor_id: id.to_string(), request: Some(request) }
    }

    pub(crate) fn manager(who: &Manager, request: Option<RequestId>) -> Self {
        let actor_type = match who {
            Manager::InstanceAdmin => "instance_admin",
            Manager::Key(_) => "key",
            Manager::User { .. } => "user",
        };
        Self { actor_type, actor_id: who.label(), request }
    }

    /// The holder of a key before its rights are known. A foreign key is named like any other.
    pub(crate) fn presented(presented: &Presented, request: RequestId) -> Self {
        let (actor_type, actor_id) = match presented {
            Presented::InstanceAdmin(_) => ("instance_admin", Manager::InstanceAdmin.label()),
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
