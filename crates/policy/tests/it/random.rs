//! Random policies and requests, and the decisions of plain Cedar on them.
//!
//! The policies need not validate: reading a missing attribute fails at run time, which must deny.

use base::{Actor, Principal};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{everyone, note};

/// Conditions on the arguments.
const ABOUT_INPUT: [&str; 12] = [
    "context.input.n > 3",
    "context.input.n + 9223372036854775807 > 0",
    "context.input.n * 2 == 10",
    "context.input.title == \"hello\"",
    "context.input.title like \"h*\"",
    "(context.input has ratio && context.input.ratio.lessThan(decimal(\"2.0\")))",
    "context.input.tags.contains(\"a\")",
    "context.input.flags.urgent",
    "(context.input.flags has level && context.input.flags.level == 2)",
    "context.input has limit",
    "context.input == {}",
    "[context.input.n, 7].contains(7)",
];

/// Conditions that do not depend on the arguments.
const ABOUT_THE_REST: [&str; 16] = [
    "true",
    "(principal has label && principal.label == \"a\")",
    "principal.label == \"a\"",
    "resource.readOnly",
    "resource.destructive",
    "principal in Project::\"prj_1\"",
    "principal in [Agent::\"agt_1\", Project::\"prj_2\"]",
    "principal is Session",
    "principal is Session in Agent::\"agt_1\"",
    "Agent::\"agt_1\" in Org::\"org_1\"",
    "Tool::\"bricks.list\".readOnly",
    "action in Action::\"tool_call\"",
    "Action::\"notes.write\" in Action::\"tool_call\"",
    "resource in Org::\"org_1\"",
    "context.call.door == \"agent\"",
    "context.call.now < datetime(\"2026-01-01\")",
];

fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => prop::sample::select(ABOUT_INPUT.to_vec()),
        3 => prop::sample::select(ABOUT_THE_REST.to_vec()),
    ]
    .prop_map(str::to_owned)
}

/// A condition, nested a few levels deep.
pub(crate) fn condition() -> impl Strategy<Value = String> {
    atom().prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left} && {right})")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left} || {right})")),
            inner.clone().prop_map(|inner| format!("!({inner})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(test, yes, no)| format!("(if {test} then {yes} else {no})")),
        ]
    })
}

fn head() -> impl Strategy<Value = String> {
    let principal = prop::sample::select(vec![
        "principal",
        "principal",
        "principal is Session",
        "principal is Agent",
        "principal == Session::\"ses_1\"",
        "principal == Agent::\"agt_1\"",
        "principal in Agent::\"agt_1\"",
        "principal in Project::\"prj_1\"",
        "principal in Org::\"org_1\"",
        "principal is Session in Project::\"prj_2\"",
        "principal is Agent in Agent::\"agt_2\"",
        "principal in Agent::\"agt_other\"",
    ]);
    let action = prop::sample::select(vec![
        "action",
        "action",
        "action == Action::\"notes.write\"",
        "action == Action::\"bricks.list\"",
        "action in Action::\"tool_call\"",
        "action in [Action::\"a2a_invoke\", Action::\"bricks.list\"]",
        "action == Action::\"tool_call\"",
    ]);
    let resource = prop::sample::select(vec![
        "resource",
        "resource",
        "resource",
        "resource is Tool",
        "resource is Skill",
        "resource == Tool::\"notes.write\"",
        "resource in Org::\"org_1\"",
        "resource in Org::\"org_2\"",
        "resource is Skill in A2AAgent::\"vercel_ops\"",
        "resource in Skill::\"vercel_ops.deploy\"",
    ]);
    (principal, action, resource).prop_map(|(principal, action, resource)| format!("({principal}, {action}, {resource})"))
}

/// One statement.
pub(crate) fn statement() -> impl Strategy<Value = String> {
    let clause = (prop::bool::weighted(0.7), condition())
        .prop_map(|(when, condition)| format!(" {} {{ {condition} }}", if when { "when" } else { "unless" }));
    (prop::bool::weighted(0.7), head(), prop::collection::vec(clause, 0..3))
        .prop_map(|(permit, head, clauses)| format!("{}{head}{};", if permit { "permit" } else { "forbid" }, clauses.concat()))
}

/// A document of several statements.
pub(crate) fn statements() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(statement(), 1..8)
}

/// Valid arguments for the tools of these tests. Some members are missing now and then.
pub(crate) fn arguments() -> impl Strategy<Value = Value> {
    let titles = prop::sample::select(vec!["hello", "bye", ""]);
    let ratios = prop::option::of(prop::sample::select(vec![1.5, 2.25, -3.0]));
    let levels = prop::option::of(1_i64..4);
    (titles, -1_i64..8, ratios, any::<bool>(), levels, prop::sample::subsequence(vec!["a", "b", "c"], 0..3), any::<bool>())
        .prop_map(|(title, n, ratio, urgent, level, tags, limited)| {
            let mut note = note();
            note["title"] = json!(title);
            note["n"] = json!(n);
            note["ratio"] = json!(ratio);
            note["flags"] = json!({"urgent": urgent, "level": level});
            note["tags"] = json!(tags);
            if limited {
                note["limit"] = json!(10);
            }
            note
        })
}

/// A principal and the name of an action.
pub(crate) fn asked() -> impl Strategy<Value = (Principal, &'static str)> {
    let actions = prop::sample::select(vec!["notes.write", "notes.write", "bricks.list", "vercel_ops.deploy"]);
    (prop::sample::select(everyone().to_vec()), actions)
}

/// A request in plain Cedar's JSON form: principal, action, resource, context, and the entities of this principal.
pub(crate) fn plain(principal: &Principal, action: &str, arguments: &Value) -> Value {
    let skill = action == "vercel_ops.deploy";
    let (kind, id) = uid(principal);
    json!({
        "principal": {"type": kind, "id": id},
        "action": {"type": "Action", "id": action},
        "resource": {"type": if skill { "Skill" } else { "Tool" }, "id": action},
        "context": {
            "input": plain_input(action, arguments),
            "call": {
                "now": {"__extn": {"fn": "datetime", "arg": "2025-11-15T20:21:39.007Z"}},
                "door": if kind == "Session" { "session" } else { "agent" },
            },
        },
        "entities": entities(principal),
    })
}

fn uid(principal: &Principal) -> (&'static str, String) {
    match &principal.actor {
        Actor::Session { id, .. } => ("Session", id.as_str().to_owned()),
        Actor::Agent { id, .. } => ("Agent", id.as_str().to_owned()),
    }
}

/// The declared members in Cedar's JSON form.
fn plain_input(action: &str, arguments: &Value) -> Value {
    let mut input = json!({});
    let declared: &[&str] = match action {
        "notes.write" => &["title", "n", "ratio", "flags", "tags"],
        "bricks.list" => &["limit", "status"],
        _ => &["site"],
    };
    for member in declared.iter().filter(|member| arguments.get(**member).is_some_and(|value| !value.is_null())) {
        input[*member] = match *member {
            "ratio" => json!({"__extn": {"fn": "decimal", "arg": format!("{:.4}", arguments["ratio"].as_f64().unwrap())}}),
            "flags" if arguments["flags"]["level"].is_null() => json!({"urgent": arguments["flags"]["urgent"]}),
            member => arguments[member].clone(),
        };
    }
    input
}

fn entities(principal: &Principal) -> Value {
    let entity = |kind: &str, id: &str, attributes: Value, parents: Vec<(&str, &str)>| {
        let parents: Vec<Value> = parents.iter().map(|(kind, id)| json!({"type": kind, "id": id})).collect();
        json!({"uid": {"type": kind, "id": id}, "attrs": attributes, "parents": parents})
    };
    let org = ("Org", "org_1");
    let project = principal.project.as_ref().map(|project| project.id.as_str().to_owned());
    let mut parents = vec![org];
    parents.extend(project.as_deref().map(|id| ("Project", id)));
    let mut attributes = json!({});
    let mut entities = Vec::new();
    let (kind, id) = uid(principal);
    if let Actor::Session { agent, label, work_type, .. } = &principal.actor {
        for (name, text) in [("label", label), ("workType", work_type)] {
            if let Some(text) = text {
                attributes[name] = json!(text.as_ref());
            }
        }
        if let Some(agent) = agent {
            parents.push(("Agent", agent.as_str()));
            entities.push(entity("Agent", agent.as_str(), json!({}), vec![org]));
        }
    }
    entities.push(entity(kind, &id, attributes, parents));
    entities.extend(project.as_deref().map(|id| entity("Project", id, json!({}), vec![org])));
    let tool =
        |id, read_only, destructive| entity("Tool", id, json!({"readOnly": read_only, "destructive": destructive}), vec![org]);
    let peer = json!({"__entity": {"type": "A2AAgent", "id": "vercel_ops"}});
    entities.extend([
        entity("Org", "org_1", json!({}), vec![]),
        tool("bricks.list", true, false),
        tool("notes.write", false, true),
        entity("A2AAgent", "vercel_ops", json!({"trust": "external", "health": "healthy"}), vec![org]),
        entity("Skill", "vercel_ops.deploy", json!({"agent": peer, "tags": ["ops"]}), vec![("A2AAgent", "vercel_ops")]),
        entity("Action", "bricks.list", json!({}), vec![("Action", "tool_call")]),
        entity("Action", "notes.write", json!({}), vec![("Action", "tool_call")]),
        entity("Action", "vercel_ops.deploy", json!({}), vec![("Action", "a2a_invoke")]),
    ]);
    Value::Array(entities)
}
