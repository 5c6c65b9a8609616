//! The entity model of policies, with one typed action per tool.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use base::{Error, Result};
use cedar_policy::ffi::DetailedError;
use cedar_policy::{EntityId, EntityTypeName, EntityUid, Schema, ValidationMode, Validator};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::compiled::{Compiled, Document};
use crate::finding::{Complaint, Finding, located};
use crate::schema::SchemaText;
use crate::shape::{self, RecordShape};
use crate::source::{Source, StatementInfo, complaint};

/// A tool or skill that policies can name.
#[derive(Clone, Copy, Debug)]
pub struct ActionSpec<'a> {
    /// The canonical name: a tool's, or `<slug>.<skillId>`.
    pub name: &'a str,
    /// What it acts on.
    pub kind: ActionKind<'a>,
    /// The JSON Schema of its arguments, which gives `context.input` its types.
    pub input_schema: &'a Value,
}

/// The resource of an action.
#[derive(Clone, Copy, Debug)]
pub enum ActionKind<'a> {
    /// A tool of this server.
    Tool {
        /// It only reads.
        read_only: bool,
        /// It may change or remove existing data.
        destructive: bool,
    },
    /// A skill of a peer agent.
    Skill {
        /// The peer's slug.
        agent: &'a str,
        /// The trust level of the peer, in the registry's words. The first skill of a peer sets it for all.
        trust: &'a str,
        /// The health of the peer, in the registry's words. The first skill of a peer sets it for all.
        health: &'a str,
        /// The tags of the skill in the peer's card.
        tags: &'a [String],
    },
}

/// A peer or one of its skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer<'a> {
    /// The peer itself, by slug.
    Agent(&'a str),
    /// A skill, by `<slug>.<skillId>`.
    Skill(&'a str),
}

/// The names in the model, as policies spell them.
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
    /// The types of principals and of their parents.
    pub(crate) const OF_PRINCIPALS: [&str; 4] = [ORG, PROJECT, AGENT, SESSION];
    pub(crate) const TOOL: &str = "Tool";
    pub(crate) const PEER: &str = "A2AAgent";
    pub(crate) const SKILL: &str = "Skill";
}

/// The actions on a peer or a skill besides calling it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Verb {
    Discover,
    Cancel,
}

/// The attributes of a resource.
#[derive(Debug)]
pub(crate) enum About {
    Tool { read_only: bool, destructive: bool },
    Peer { trust: String, health: String },
    Skill { peer: EntityUid, tags: Vec<String> },
}

/// One action on one resource: a decision without its principal and arguments.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) action: EntityUid,
    /// The action group that it belongs to.
    pub(crate) parent: Option<EntityUid>,
    pub(crate) resource: EntityUid,
    /// The type of `context.input`. Discovering and cancelling have none.
    pub(crate) input: Option<RecordShape>,
}

/// The entity model, the generated schema and every action. There is one per server, and one per org with different peers.
pub struct Model {
    text: String,
    validator: Validator,
    pub(crate) types: Types,
    targets: Vec<Target>,
    /// The targets of calls, by the name of the tool or skill.
    calls: HashMap<String, usize>,
    /// The other targets, by action and resource.
    others: HashMap<(Verb, EntityUid), usize>,
    resources: HashMap<EntityUid, About>,
    digest: [u8; 32],
}

impl Model {
    /// Builds the model of these tools and skills. If two have the same name, the first one wins.
    pub fn build<'a>(actions: impl IntoIterator<Item = ActionSpec<'a>>) -> Result<Self> {
        let mut actions: Vec<ActionSpec<'a>> = actions.into_iter().collect();
        // A stable sort keeps the first of equal names first, and makes the schema independent of the registry's order.
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
        let digest = digest(&text, &parts.resources);
        let (schema, _warnings) = Schema::from_cedarschema_str(&text).map_err(Error::internal)?;
        Ok(Self {
            text,
            validator: Validator::new(schema),
            types: parts.types,
            targets: parts.targets,
            calls: parts.calls,
            others: parts.others,
            resources: parts.resources,
            digest,
        })
    }

    /// A digest that is equal for models with equal decisions.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The schema in Cedar's notation, with comments. The same tools give the same text.
    pub fn schema_text(&self) -> &str {
        &self.text
    }

    /// Parses and validates a document strictly. Returns its statements in order, or everything that is wrong.
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

    /// Tools and skills in a document that do not exist. A statement about one would never apply.
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

    /// Compiles the documents. This never fails: an unusable document makes every decision a denial, and a document that no
    /// longer fits the schema is flagged and still evaluated.
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

    /// The tool, peer, skill or action in a condition, if the model knows it.
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

    /// The action group of a tool's or skill's action.
    pub(crate) fn parent_of_action(&self, uid: &EntityUid) -> Option<&EntityUid> {
        let name: &str = uid.id().as_ref();
        let target = self.call(name).and_then(|number| self.target(number))?;
        target.parent.as_ref().filter(|_| target.action == *uid)
    }

    /// The attributes of a resource.
    pub(crate) fn about(&self, uid: &EntityUid) -> Option<&About> {
        self.resources.get(uid)
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("calls", &self.calls.len()).finish_non_exhaustive()
    }
}

/// The schema covers actions and their inputs. The attributes of resources are added.
fn digest(text: &str, resources: &HashMap<EntityUid, About>) -> [u8; 32] {
    let mut known: Vec<String> = resources.iter().map(|(uid, about)| format!("{uid} {about:?}")).collect();
    known.sort_unstable();
    let mut digest = Sha256::new();
    for part in std::iter::once(text).chain(known.iter().map(String::as_str)) {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    digest.finalize().into()
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

    /// Adds the actions on a peer or a skill besides calling it.
    fn add_others(&mut self, resource: &EntityUid) {
        for (verb, word) in [(Verb::Discover, words::DISCOVER), (Verb::Cancel, words::CANCEL)] {
            self.others.insert((verb, resource.clone()), self.targets.len());
            let action = self.types.action.entity(word);
            self.targets.push(Target { action, parent: None, resource: resource.clone(), input: None });
        }
    }
}

/// The entity types, for making entity names.
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
