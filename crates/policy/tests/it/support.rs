//! Test data: an org with two projects, sessions, agents, tools and a peer.

use std::sync::{Arc, LazyLock};

use base::{
    Actor, AgentId, Allowlist, OrgId, Principal, ProjectId, ProjectView, ScopeSet, SessionId, Timestamp, TokenId, ToolNames,
};
use policy::{ActionKind, ActionSpec, Compiled, Decision, Document, Input, Mode, Model};
use serde_json::{Value, json};

pub(crate) const NOW: Timestamp = Timestamp::from_ms(1_763_238_099_007);

static BRICKS_LIST: LazyLock<Value> = LazyLock::new(|| {
    json!({"type": "object", "additionalProperties": false, "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "status": {"type": "string", "enum": ["draft", "published", "deprecated"]},
    }})
});

static NOTES_WRITE: LazyLock<Value> = LazyLock::new(|| {
    json!({"type": "object", "required": ["title", "n", "flags", "tags"], "properties": {
        "title": {"type": "string"},
        "n": {"type": "integer"},
        "ratio": {"type": "number"},
        "flags": {"type": "object", "required": ["urgent"], "properties": {
            "urgent": {"type": "boolean"},
            "level": {"type": ["integer", "null"]},
            "extra": {"type": "object"},
        }},
        "tags": {"type": "array", "items": {"type": "string"}},
        "points": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
        "größe": {"type": "string"},
        "with space": {"enum": ["a", "b"]},
        "mixed": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "free": {"type": "object", "additionalProperties": true},
        "anything": true,
    }})
});

static DEPLOY: LazyLock<Value> = LazyLock::new(|| json!({"type": "object", "properties": {"site": {"type": "string"}}}));

static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| vec!["ops".to_owned()]);

/// The tools and skills.
pub(crate) fn actions() -> Vec<ActionSpec<'static>> {
    let tool = |name, read_only, destructive, input_schema| ActionSpec {
        name,
        kind: ActionKind::Tool { read_only, destructive },
        input_schema,
    };
    vec![
        tool("bricks.list", true, false, &BRICKS_LIST),
        tool("notes.write", false, true, &NOTES_WRITE),
        ActionSpec {
            name: "vercel_ops.deploy",
            kind: ActionKind::Skill { agent: "vercel_ops", trust: "external", health: "healthy", tags: &TAGS },
            input_schema: &DEPLOY,
        },
    ]
}

pub(crate) fn model() -> Arc<Model> {
    static MODEL: LazyLock<Arc<Model>> = LazyLock::new(|| Arc::new(Model::build(actions()).unwrap()));
    Arc::clone(&MODEL)
}

pub(crate) fn document(id: &str, cedar: impl Into<String>) -> Document {
    Document { id: id.to_owned(), version: 1, cedar: cedar.into(), mode: Mode::Enforce }
}

pub(crate) fn log_only(id: &str, cedar: impl Into<String>) -> Document {
    Document { mode: Mode::LogOnly, ..document(id, cedar) }
}

/// One enforced document called `p`.
pub(crate) fn compiled(cedar: &str) -> Compiled {
    model().compile(&[document("p", cedar)])
}

/// A session in project `prj_1` for agent `agt_1`, labelled `a`.
pub(crate) fn session() -> Principal {
    let (agent, label, work_type) = (Some(AgentId::from_row("agt_1")), Some("a".into()), Some("coding".into()));
    principal("prj_1", Actor::Session { id: SessionId::from_row("ses_1"), agent, label, work_type, key: None })
}

/// A session in project `prj_2` without any other attribute.
pub(crate) fn plain_session() -> Principal {
    let id = SessionId::from_row("ses_2");
    principal("prj_2", Actor::Session { id, agent: None, label: None, work_type: None, key: None })
}

/// Agent `agt_1` in project `prj_1`.
pub(crate) fn agent() -> Principal {
    principal("prj_1", Actor::Agent { id: AgentId::from_row("agt_1"), token: TokenId::from_row("tok_1") })
}

/// Agent `agt_2`, which belongs to the whole org.
pub(crate) fn org_agent() -> Principal {
    let actor = Actor::Agent { id: AgentId::from_row("agt_2"), token: TokenId::from_row("tok_2") };
    Principal { project: None, ..principal("prj_1", actor) }
}

pub(crate) fn everyone() -> [Principal; 4] {
    [session(), plain_session(), agent(), org_agent()]
}

fn principal(project: &str, actor: Actor) -> Principal {
    let id = ProjectId::from_row(project);
    Principal {
        org: OrgId::from_row("org_1"),
        plan_has_graph: false,
        project: Some(ProjectView { id, root: None, has_code: false, memory_enabled: false, graph_enabled: false }),
        actor,
        scopes: ScopeSet::EVERYTHING,
        allowlist: Allowlist::All,
        tool_names: ToolNames::Canonical,
    }
}

/// Arguments that every tool accepts.
pub(crate) fn note() -> Value {
    json!({"title": "hello", "n": 5, "flags": {"urgent": true}, "tags": ["a", "b"], "ratio": 1.5})
}

/// Decides `notes.write` for the session with these arguments.
pub(crate) fn decide_note(compiled: &Compiled, arguments: &Value) -> Decision {
    compiled.decide(&session(), NOW, "notes.write", Input::These(arguments))
}

pub(crate) fn names(decision: &Decision) -> Vec<&str> {
    decision.policies.iter().map(AsRef::as_ref).collect()
}
