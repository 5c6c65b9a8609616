//! Peers: calling their skills needs `a2a_invoke`, discovering them `a2a_discover`, and cancelling `a2a_cancel`.

use policy::{ActionKind, ActionSpec, Compiled, Input, Model, Peer, Reason, STARTER};
use serde_json::json;

use crate::support::{NOW, compiled, model, session};

const SKILL: &str = "vercel_ops.deploy";

/// Whether a skill may be called, discovered and cancelled, and its peer discovered and cancelled.
fn rights(compiled: &Compiled) -> [bool; 5] {
    let (skill, peer) = (Peer::Skill(SKILL), Peer::Agent("vercel_ops"));
    let who = session();
    [
        compiled.decide(&who, NOW, SKILL, Input::These(&json!({"site": "x"}))).allowed,
        compiled.discover(&who, NOW, skill).allowed,
        compiled.cancel(&who, NOW, skill).allowed,
        compiled.discover(&who, NOW, peer).allowed,
        compiled.cancel(&who, NOW, peer).allowed,
    ]
}

#[test]
fn permissions_are_independent() {
    for (text, expected) in [
        (STARTER, [false, true, false, true, false]),
        ("permit(principal, action, resource);", [true; 5]),
        ("permit(principal, action in Action::\"tool_call\", resource);", [false; 5]),
        ("permit(principal, action in Action::\"a2a_invoke\", resource);", [true, false, false, false, false]),
        ("permit(principal, action == Action::\"vercel_ops.deploy\", resource);", [true, false, false, false, false]),
        (
            "permit(principal, action in Action::\"a2a_invoke\", resource in A2AAgent::\"vercel_ops\");",
            [true, false, false, false, false],
        ),
        ("permit(principal, action in Action::\"a2a_invoke\", resource in A2AAgent::\"other\");", [false; 5]),
        ("permit(principal, action, resource == Skill::\"vercel_ops.deploy\");", [true, true, true, false, false]),
        ("permit(principal, action, resource is A2AAgent);", [false, false, false, true, true]),
        ("permit(principal, action == Action::\"a2a_cancel\", resource);", [false, false, true, false, true]),
        ("permit(principal, action, resource in Org::\"org_1\");", [true; 5]),
        ("permit(principal, action, resource is Skill) when { resource.agent.trust == \"trusted\" };", [false; 5]),
        (
            "permit(principal, action, resource is Skill) when { resource.agent.health == \"healthy\" };",
            [true, true, true, false, false],
        ),
        (
            "permit(principal, action, resource is Skill) when { resource.tags.contains(\"ops\") };",
            [true, true, true, false, false],
        ),
        ("permit(principal, action, resource) when { resource in Org::\"org_1\" };", [true; 5]),
        ("permit(principal, action, resource) unless { context has input };", [false, true, true, true, true]),
        (
            "permit(principal, action == Action::\"vercel_ops.deploy\", resource)
             when { context.input has site && context.input.site == \"x\" };",
            [true, false, false, false, false],
        ),
    ] {
        assert!(model().check(text).is_ok(), "{text}: {:?}", model().check(text));
        assert_eq!(rights(&compiled(text)), expected, "{text}");
    }
}

#[test]
fn unknown_tools_and_skills_are_reported() {
    for (text, line, column, message) in [
        ("permit(principal, action, resource == Tool::\"bricks.lst\");", 1, 39, "there is no tool `bricks.lst`"),
        (
            "permit(principal, action, resource);\nforbid(principal, action, resource)\nwhen { resource == Tool::\"no\" };",
            3,
            20,
            "there is no tool `no`",
        ),
        ("permit(principal, action, resource == Skill::\"vercel_ops.no\");", 1, 39, "there is no peer's skill `vercel_ops.no`"),
    ] {
        let findings = model().check(text).unwrap_err();
        let found: Vec<_> = findings.iter().map(|found| (found.line, found.column, found.message.as_str())).collect();
        assert_eq!(found, [(line, column, message)], "{text}");
    }
    assert!(model().check("permit(principal, action == Action::\"bricks.lst\", resource);").is_err());
}

#[test]
fn unknown_peers_are_denied() {
    let compiled = compiled("permit(principal, action, resource);");
    for peer in [Peer::Agent("other"), Peer::Skill("vercel_ops.other"), Peer::Skill("bricks.list"), Peer::Agent(SKILL)] {
        for decision in [compiled.discover(&session(), NOW, peer), compiled.cancel(&session(), NOW, peer)] {
            assert_eq!((decision.allowed, decision.reason), (false, Reason::UnknownAction), "{peer:?}");
        }
    }
}

#[test]
fn the_first_of_equal_names_wins_and_a_group_is_not_a_tool() {
    let schema = json!({"type": "object"});
    let tool =
        |name, read_only| ActionSpec { name, kind: ActionKind::Tool { read_only, destructive: false }, input_schema: &schema };
    let model = std::sync::Arc::new(Model::build([tool("a", true), tool("b", true), tool("a", false)]).unwrap());
    let compiled =
        model.compile(&[crate::support::document("p", "permit(principal, action, resource) when { resource.readOnly };")]);
    assert!(compiled.decide(&session(), NOW, "a", Input::Any).allowed);
    assert!(Model::build([tool("tool_call", true)]).is_err());
}

#[test]
fn hostile_names_stay_names() {
    let properties = json!({
        "a\"}; permit": {"type": "string"}, "line\nbreak": {"type": "integer"}, "tail\\": {"type": "boolean"},
        "": {"type": "string"}, "in": {"type": "string"}, "__cedar": {"type": "string"}, "Set": {"type": "string"},
        "type": {"type": "string"}, "free\n}; entity X": {"type": "object"}, "🦀": {"type": "string"},
        "\u{0}": {"type": "string"}, "\u{202e}": {"type": "string"},
    });
    let schema = json!({"type": "object", "properties": properties});
    let kind = ActionKind::Skill { agent: "x\"y", trust: "external", health: "unknown", tags: &[] };
    let name = "x\"y.evil\n\\ skill";
    let model = std::sync::Arc::new(Model::build([ActionSpec { name, kind, input_schema: &schema }]).unwrap());
    assert!(!model.schema_text().contains("\nentity X"));
    let text = "permit(principal, action in Action::\"a2a_invoke\", resource == Skill::\"x\\\"y.evil\\n\\\\ skill\");";
    assert!(model.check(text).is_ok(), "{:?}", model.check(text));
    let compiled = model.compile(&[crate::support::document("p", text)]);
    assert!(compiled.decide(&session(), NOW, name, Input::These(&json!({"line\nbreak": 3}))).allowed);
}
