//! What policies may speak of: the entity model, and one typed action per tool.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use base::{Error, Result};
use cedar_policy::ffi::DetailedError;
use cedar_policy::{EntityId, EntityTypeName, EntityUid, Schema, ValidationMode, Validator};
use serde_json::Value;

use crate::compiled::{Compiled, Document};
use crate::finding::{Complaint, Finding, located};
use crate::schema::SchemaText;
use crate::shape::{self, Record};
use crate::source::{Source, StatementInfo, complaint};

/// One tool or skill that policies can name.
#[derive(Clone, Copy, Debug)]
pub struct ActionSpec<'a> {
    /// The canonical name: a tool's, or `<slug>.<skillId>`.
    pub name: &'a str,
    /// What it is an action on.
    pub kind: ActionKind<'a>,
    /// The JSON Schema of its arguments; `context.input` gets its types from it.
    pub input_schema: &'a Value,
}

/// What an action acts on.
#[derive(Clone, Copy, Debug)]
pub enum ActionKind<'a> {
    /// A tool of this server.
    Tool {
        /// It only reads.
        read_only: bool,
        /// It may change or remove what was there.
        destructive: bool,
    },
    /// A skill of a peer agent.
    Skill {
        /// The peer's slug.
        agent: &'a str,
        /// How far the peer is trusted, in the registry's word. The first skill of a peer says it for all.
        trust: &'a str,
        /// How the peer is, in the registry's word. The first skill of a peer says it for all.
        health: &'a str,
        /// The tags that its card gives the skill.
        tags: &'a [String],
    },
}

/// A peer, or one skill of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer<'a> {
    /// The peer itself, by slug.
    Agent(&'a str),
    /// A skill, by `<slug>.<skillId>`.
    Skill(&'a str),
}

/// The names of the model, as policies spell them.
pub(crate) mod words {
    pub(crate) const ACTION: &str = "Action";
    pub(crate) const TOOL_CALL: &str = "tool_call";
    pub(crate) const INVOKE: &str = "a2a_invoke";
    pub(crate) const DISCOVER: &str = "a2a_discover";
    pub(crate) const CANCEL: &str = "a2a_cancel";
    pub(crate) const ORG: &str = "Org";
    pub(crate) const PROJECT: &str = "Project";
    pub(crate) const AGENT: &str = "Agent";
    pub(crate) const SESSION: &str = "Session";
    /// The types of principals and of what they belong to.
    pub(crate) const OF_PRINCIPALS: [&str; 4] = [ORG, PROJECT, AGENT, SESSION];
    pub(crate) const TOOL: &str = "Tool";
    pub(crate) const PEER: &str = "A2AAgent";
    pub(crate) const SKILL: &str = "Skill";
}

/// What is done to a peer or a skill beside calling it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Verb {
    Discover,
    Cancel,
}

/// What policies know of a resource.
#[derive(Debug)]
pub(crate) enum About {
    Tool { read_only: bool, destructive: bool },
    Peer { trust: String, health: String },
    Skill { peer: EntityUid, tags: Vec<String> },
}

/// One action on one resource: what a decision is about, apart from who and with what.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) action: EntityUid,
    /// The action it is a member of.
    pub(crate) parent: Option<EntityUid>,
    pub(crate) resource: EntityUid,
    /// The type of `context.input`; there is none when a peer is only seen or stopped.
    pub(crate) input: Option<Record>,
}

/// The entity model, the generated schema and every action. Built once per server, and per org where peers differ.
pub struct Model {
    text: String,
    validator: Validator,
    pub(crate) types: Types,
    targets: Vec<Target>,
    /// The targets of calls, by the name of the tool or skill.
    calls: HashMap<String, usize>,
    /// The other targets, by what is done to what.
    others: HashMap<(Verb, EntityUid), usize>,
    resources: HashMap<EntityUid, About>,
}

impl Model {
    /// Builds the model of these tools and skills. Where two have one name, the first keeps it.
    pub fn build<'a>(actions: impl IntoIterator<Item = ActionSpec<'a>>) -> Result<Self> {
        let mut actions: Vec<ActionSpec<'a>> = actions.into_iter().collect();
        // Stable, so that the first of a name stays the first, and the schema reads the same whatever the registry's order.
        actions.sort_by_key(|action| action.name);
        actions.dedup_by_key(|action| action.name);
        let mut parts = Parts::new()?;
        for action in &actions {
            if [words::TOOL_CALL, words::INVOKE, words::DISCOVER, words::CANCEL].contains(&action.name) {
                return Err(Error::internal(format!(
                    "no tool may be called `{}`: policies use the name for all of them",
                    action.name
                )));
            }
            parts.add(action);
        }
        let text = parts.text.finish();
        let (schema, _warnings) = Schema::from_cedarschema_str(&text).map_err(Error::internal)?;
        Ok(Self {
            text,
            validator: Validator::new(schema),
            types: parts.types,
            targets: parts.targets,
            calls: parts.calls,
            others: parts.others,
            resources: parts.resources,
        })
    }

    /// The schema in Cedar's own notation, with comments for people. The same tools give the same text.
    pub fn schema_text(&self) -> &str {
        &self.text
    }

    /// Parses and validates a document, strictly. On success the statements in their order; otherwise everything that is wrong.
    pub fn check(&self, cedar: &str) -> Result<Vec<StatementInfo>, Vec<Finding>> {
        let source = Source::parse(cedar).map_err(|complaints| located(cedar, complaints))?;
        let result = self.validator.validate(&source.policies, ValidationMode::Strict);
        let mut complaints: Vec<Complaint> = result
            .validation_errors()
            .map(|error| complaint(&DetailedError::from(error), source.offset_of(error.policy_id().as_ref())))
            .collect();
        complaints.extend(self.unknown_tools(cedar, &source));
        if !complaints.is_empty() {
            return Err(located(cedar, complaints));
        }
        let warnings = result.validation_warnings().map(|warning| {
            let id: &str = warning.policy_id().as_ref();
            (id.to_owned(), complaint(&DetailedError::from(warning), source.offset_of(id)))
        });
        Ok(source.infos(cedar, warnings.collect()))
    }

    /// Tools and skills that a document names and that nothing has: a statement about one would never apply.
    fn unknown_tools(&self, cedar: &str, source: &Source) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        for statement in &source.statements {
            for uid in statement.policy.entity_literals() {
                let (kind, what) = match () {
                    () if self.types.tool.is_type_of(&uid) => (words::TOOL, "tool"),
                    () if self.types.skill.is_type_of(&uid) => (words::SKILL, "peer's skill"),
                    () => continue,
                };
                if self.about(&uid).is_none() {
                    let name: &str = uid.id().as_ref();
                    let rest = cedar.get(statement.offset..).unwrap_or_default();
                    let found = rest.find(&format!("{kind}::\"{}\"", name.escape_debug())).unwrap_or(0);
                    let message = format!("there is no {what} `{}`", name.escape_debug());
                    complaints.push(Complaint::new(statement.offset + found, message));
                }
            }
        }
        complaints
    }

    /// Makes the documents ready for decisions. Never fails: a document that cannot be used makes every decision a denial, and
    /// one that the schema has moved away from is flagged and still evaluated.
    pub fn compile(self: &Arc<Self>, documents: &[Document]) -> Compiled {
        Compiled::new(Arc::clone(self), documents)
    }

    /// The target of a call of a tool or skill.
    pub(crate) fn call(&self, name: &str) -> Option<usize> {
        self.calls.get(name).copied()
    }

    /// The target of discovering or cancelling.
    pub(crate) fn other(&self, verb: Verb, peer: Peer<'_>) -> Option<usize> {
        let uid = match peer {
            Peer::Agent(slug) => self.types.peer.entity(slug),
            Peer::Skill(name) => self.types.skill.entity(name),
        };
        self.others.get(&(verb, uid)).copied()
    }

    /// A target by its number.
    pub(crate) fn target(&self, number: usize) -> Option<&Target> {
        self.targets.get(number)
    }

    /// The tool, peer, skill or action that a condition names, if the model knows it.
    pub(crate) fn named(&self, kind: &str, id: &str) -> Option<EntityUid> {
        let uid = match kind {
            words::TOOL => self.types.tool.entity(id),
            words::PEER => self.types.peer.entity(id),
            words::SKILL => self.types.skill.entity(id),
            words::ACTION => self.types.action.entity(id),
            _ => return None,
        };
        (self.about(&uid).is_some() || self.parent_of_action(&uid).is_some()).then_some(uid)
    }

    /// The action that an action of a tool or skill is a member of.
    pub(crate) fn parent_of_action(&self, uid: &EntityUid) -> Option<&EntityUid> {
        let name: &str = uid.id().as_ref();
        let target = self.call(name).and_then(|number| self.target(number))?;
        target.parent.as_ref().filter(|_| target.action == *uid)
    }

    /// What is known of a resource.
    pub(crate) fn about(&self, uid: &EntityUid) -> Option<&About> {
        self.resources.get(uid)
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("calls", &self.calls.len()).finish_non_exhaustive()
    }
}

/// A model that is being built.
struct Parts {
    text: SchemaText,
    types: Types,
    targets: Vec<Target>,
    calls: HashMap<String, usize>,
    others: HashMap<(Verb, EntityUid), usize>,
    resources: HashMap<EntityUid, About>,
}

impl Parts {
    fn new() -> Result<Self> {
        Ok(Self {
            text: SchemaText::new(),
            types: Types::new()?,
            targets: Vec::new(),
            calls: HashMap::new(),
            others: HashMap::new(),
            resources: HashMap::new(),
        })
    }

    fn add(&mut self, spec: &ActionSpec<'_>) {
        let (input, left_out) = shape::of_input(spec.input_schema);
        let action = self.types.action.entity(spec.name);
        let (parent, resource) = match spec.kind {
            ActionKind::Tool { read_only, destructive } => {
                self.text.add(spec.name, (words::TOOL_CALL, words::TOOL), &input, &left_out);
                let tool = self.types.tool.entity(spec.name);
                self.resources.insert(tool.clone(), About::Tool { read_only, destructive });
                (words::TOOL_CALL, tool)
            }
            ActionKind::Skill { agent, trust, health, tags } => {
                self.text.add(spec.name, (words::INVOKE, words::SKILL), &input, &left_out);
                let (peer, skill) = (self.types.peer.entity(agent), self.types.skill.entity(spec.name));
                if !self.resources.contains_key(&peer) {
                    self.resources.insert(peer.clone(), About::Peer { trust: trust.to_owned(), health: health.to_owned() });
                    self.add_others(&peer);
                }
                self.resources.insert(skill.clone(), About::Skill { peer, tags: tags.to_vec() });
                self.add_others(&skill);
                (words::INVOKE, skill)
            }
        };
        let parent = Some(self.types.action.entity(parent));
        self.calls.insert(spec.name.to_owned(), self.targets.len());
        self.targets.push(Target { action, parent, resource, input: Some(input) });
    }

    /// What can be done to a peer or a skill beside calling it.
    fn add_others(&mut self, resource: &EntityUid) {
        for (verb, word) in [(Verb::Discover, words::DISCOVER), (Verb::Cancel, words::CANCEL)] {
            self.others.insert((verb, resource.clone()), self.targets.len());
            let action = self.types.action.entity(word);
            self.targets.push(Target { action, parent: None, resource: resource.clone(), input: None });
        }
    }
}

/// The entity types, ready to make entities' names of.
pub(crate) struct Types {
    pub(crate) action: Type,
    pub(crate) org: Type,
    pub(crate) project: Type,
    pub(crate) agent: Type,
    pub(crate) session: Type,
    pub(crate) tool: Type,
    pub(crate) peer: Type,
    pub(crate) skill: Type,
}

impl Types {
    fn new() -> Result<Self> {
        Ok(Self {
            action: Type::new(words::ACTION)?,
            org: Type::new(words::ORG)?,
            project: Type::new(words::PROJECT)?,
            agent: Type::new(words::AGENT)?,
            session: Type::new(words::SESSION)?,
            tool: Type::new(words::TOOL)?,
            peer: Type::new(words::PEER)?,
            skill: Type::new(words::SKILL)?,
        })
    }
}

/// One entity type.
pub(crate) struct Type(EntityTypeName);

impl Type {
    fn new(word: &str) -> Result<Self> {
        EntityTypeName::from_str(word).map(Self).map_err(Error::internal)
    }

    /// Whether an entity is of this type.
    pub(crate) fn is_type_of(&self, uid: &EntityUid) -> bool {
        *uid.type_name() == self.0
    }

    /// The entity of this type with this id.
    pub(crate) fn entity(&self, id: &str) -> EntityUid {
        EntityUid::from_type_name_and_id(self.0.clone(), EntityId::new(id))
    }
}
