//! Every form of a head validates and matches the right principals and resources.

use policy::{Input, Reason, STARTER};

use crate::support::{NOW, compiled, everyone, model, names};

/// A head, and whether it matches `bricks.list` for each of [`everyone`].
const HEADS: [(&str, [bool; 4]); 24] = [
    ("principal, action, resource", [true, true, true, true]),
    ("principal, action in Action::\"tool_call\", resource", [true, true, true, true]),
    ("principal, action in [Action::\"tool_call\", Action::\"a2a_invoke\"], resource", [true, true, true, true]),
    ("principal, action == Action::\"bricks.list\", resource", [true, true, true, true]),
    ("principal, action in [Action::\"bricks.list\"], resource", [true, true, true, true]),
    ("principal, action == Action::\"tool_call\", resource", [false, false, false, false]),
    ("principal, action == Action::\"notes.write\", resource", [false, false, false, false]),
    ("principal, action in Action::\"a2a_invoke\", resource", [false, false, false, false]),
    ("principal, action, resource == Tool::\"bricks.list\"", [true, true, true, true]),
    ("principal, action, resource == Tool::\"notes.write\"", [false, false, false, false]),
    ("principal, action, resource in Tool::\"bricks.list\"", [true, true, true, true]),
    ("principal, action, resource is Tool", [true, true, true, true]),
    ("principal, action, resource is Skill", [false, false, false, false]),
    ("principal, action, resource in Org::\"org_1\"", [true, true, true, true]),
    ("principal, action, resource in Org::\"org_2\"", [false, false, false, false]),
    ("principal, action, resource is Tool in Org::\"org_1\"", [true, true, true, true]),
    ("principal == Session::\"ses_1\", action, resource", [true, false, false, false]),
    ("principal == Agent::\"agt_1\", action, resource", [false, false, true, false]),
    ("principal in Agent::\"agt_1\", action, resource", [true, false, true, false]),
    ("principal in Project::\"prj_1\", action, resource", [true, false, true, false]),
    ("principal in Org::\"org_1\", action, resource", [true, true, true, true]),
    ("principal is Session, action, resource", [true, true, false, false]),
    ("principal is Agent in Project::\"prj_1\", action, resource", [false, false, true, false]),
    ("principal is Session in Agent::\"agt_1\", action, resource", [true, false, false, false]),
];

#[test]
fn heads_validate_and_match() {
    for (head, matches) in HEADS {
        let text = format!("permit({head});");
        assert!(model().check(&text).is_ok(), "{head}: {:?}", model().check(&text));
        let compiled = compiled(&text);
        for (principal, matches) in everyone().iter().zip(matches) {
            for input in [Input::Any, Input::These(&serde_json::json!({}))] {
                let decision = compiled.decide(principal, NOW, "bricks.list", input);
                assert_eq!(decision.allowed, matches, "{head} for {:?}: {decision:?}", principal.actor);
                assert_eq!(decision.reason, if matches { Reason::Permitted } else { Reason::NoPermit });
                assert_eq!(names(&decision), if matches { vec!["p"] } else { vec![] });
            }
        }
    }
}

#[test]
fn a_principal_of_another_org_never_matches() {
    let compiled = compiled("permit(principal in Org::\"org_1\", action, resource);");
    let mut stranger = crate::support::session();
    stranger.org = base::OrgId::from_row("org_2");
    assert!(!compiled.decide(&stranger, NOW, "bricks.list", Input::Any).allowed);
}

#[test]
fn conditions_can_use_the_session_the_tool_and_the_call() {
    for (condition, matches) in [
        ("principal has label && principal.label == \"a\"", [true, false, false, false]),
        ("principal has workType && principal.workType == \"coding\"", [true, false, false, false]),
        ("principal has label && principal.label == \"b\"", [false, false, false, false]),
        ("resource.readOnly && !resource.destructive", [true, true, true, true]),
        ("resource == Tool::\"bricks.list\" && action == Action::\"bricks.list\"", [true, true, true, true]),
        ("Tool::\"notes.write\".readOnly", [false, false, false, false]),
        ("principal in Project::\"prj_1\" || principal in Agent::\"agt_2\"", [true, false, true, true]),
        ("context.call.door == \"session\"", [true, true, false, false]),
        ("context.call.now == datetime(\"2025-11-15T20:21:39.007Z\")", [true, true, true, true]),
        ("context.call.now.toTime() >= duration(\"21h\")", [false, false, false, false]),
    ] {
        let text = format!("permit(principal, action == Action::\"bricks.list\", resource) when {{ {condition} }};");
        assert!(model().check(&text).is_ok(), "{condition}: {:?}", model().check(&text));
        let compiled = compiled(&text);
        for (principal, matches) in everyone().iter().zip(matches) {
            let decision = compiled.decide(principal, NOW, "bricks.list", Input::Any);
            assert_eq!((decision.allowed, decision.errors), (matches, vec![]), "{condition} for {:?}", principal.actor);
        }
    }
}

#[test]
fn a_changed_label_takes_effect_at_once() {
    let compiled = compiled("permit(principal, action, resource) when { principal has label && principal.label == \"a\" };");
    let mut principal = crate::support::session();
    for (label, allowed) in [(Some("a"), true), (Some("b"), false), (None, false), (Some("a"), true)] {
        if let base::Actor::Session { label: ours, .. } = &mut principal.actor {
            *ours = label.map(Into::into);
        }
        assert_eq!(compiled.decide(&principal, NOW, "bricks.list", Input::Any).allowed, allowed, "{label:?}");
    }
}

#[test]
fn the_starter_permits_only_own_tools() {
    assert_eq!(
        model().check(STARTER).unwrap().iter().map(|statement| statement.id("starter")).collect::<Vec<_>>(),
        ["starter#own-tools", "starter#discover-peers"]
    );
    let compiled = compiled(STARTER);
    for principal in everyone() {
        for (action, allowed) in [("bricks.list", true), ("notes.write", true), ("vercel_ops.deploy", false)] {
            assert_eq!(compiled.decide(&principal, NOW, action, Input::Any).allowed, allowed, "{action}");
        }
    }
}
