//! `context.input` is typed from the tool's schema.

use serde_json::json;

use crate::support::{compiled, decide_note, model, note};

fn permit(condition: &str) -> String {
    format!("permit(principal, action == Action::\"notes.write\", resource) when {{ {condition} }};")
}

/// A condition, changes to the usual arguments, and whether it then holds.
#[test]
fn conditions_read_typed_arguments() {
    for (condition, changes, allowed) in [
        ("context.input.n == 5", json!({}), true),
        ("context.input.n == 5", json!({"n": 5.0}), true),
        ("context.input.n < 0", json!({"n": -9_007_199_254_740_993_i64}), true),
        ("context.input.title == \"größe 日本\"", json!({"title": "größe 日本"}), true),
        ("context.input.title like \"*\\u{65e5}*\"", json!({"title": "größe 日本"}), true),
        ("context.input has \"größe\" && context.input[\"größe\"] == \"ü\"", json!({"größe": "ü"}), true),
        ("context.input has \"größe\"", json!({}), false),
        ("context.input has \"with space\" && context.input[\"with space\"] == \"a\"", json!({"with space": "a"}), true),
        ("context.input has ratio && context.input.ratio.lessThan(decimal(\"1.50\"))", json!({"ratio": 1.49996}), false),
        ("context.input has ratio && context.input.ratio == decimal(\"1.5\")", json!({"ratio": 1.49996}), true),
        ("context.input has ratio && context.input.ratio == decimal(\"1.4999\")", json!({"ratio": 1.49994}), true),
        ("context.input has ratio && context.input.ratio == decimal(\"-3.0\")", json!({"ratio": -3}), true),
        ("context.input has ratio && context.input.ratio == decimal(\"0.0\")", json!({"ratio": -0.00001}), true),
        ("context.input has ratio", json!({"ratio": null}), false),
        ("context.input.flags.urgent", json!({}), true),
        ("context.input.flags has level && context.input.flags.level == 2", json!({"flags": {"urgent": true, "level": 2}}), true),
        ("context.input.flags has level", json!({"flags": {"urgent": true, "level": null}}), false),
        ("context.input has flags.level", json!({"flags": {"urgent": true, "level": 1}}), true),
        ("context.input.tags.contains(\"b\")", json!({}), true),
        ("context.input.tags.containsAll([\"a\", \"b\"])", json!({"tags": ["b", "a", "a"]}), true),
        ("context.input.tags.isEmpty()", json!({"tags": []}), true),
        (
            "context.input has points && context.input.points.contains({x: decimal(\"0.5\")})",
            json!({"points": [{"x": 0.5}]}),
            true,
        ),
        ("context has input", json!({}), true),
        ("context.input.n == 5", json!({"unknown": "x", "mixed": 3, "free": {"a": [1]}, "anything": null}), true),
        ("context.input == context.input", json!({}), true),
    ] {
        let mut arguments = note();
        for (name, value) in changes.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        let text = permit(condition);
        assert!(model().check(&text).is_ok(), "{condition}: {:?}", model().check(&text));
        let decision = decide_note(&compiled(&text), &arguments);
        assert_eq!((decision.allowed, decision.errors), (allowed, vec![]), "{condition} with {changes}");
    }
}

#[test]
fn untyped_members_are_invisible() {
    for member in ["mixed", "free", "anything", "unknown"] {
        let text = permit(&format!("context.input has {member} && context.input.{member} == context.input.{member}"));
        let mut arguments = note();
        arguments[member] = json!("x");
        // `has` for an undeclared member is false for the validator and for a call.
        let decision = decide_note(&compiled(&text), &arguments);
        assert_eq!((decision.allowed, decision.errors), (false, vec![]), "{member}");
        assert!(model().check(&permit(&format!("context.input.{member} == 1"))).is_err(), "{member}");
    }
    let text = permit("context.input.flags has extra");
    let mut arguments = note();
    arguments["flags"]["extra"] = json!({"a": 1});
    assert!(!decide_note(&compiled(&text), &arguments).allowed);
}

#[test]
fn optional_members_need_a_has_check() {
    let findings = model().check(&permit("context.input.ratio == decimal(\"1.0\")")).unwrap_err();
    assert!(findings[0].message.contains("ratio"), "{findings:?}");
}

#[test]
fn one_statement_reads_the_input_of_several_tools_where_all_have_it() {
    let text = "permit(principal, action in Action::\"tool_call\", resource) when { context.input.n > 3 };";
    assert!(model().check(text).is_err(), "bricks.list has no n");
    let text = "permit(principal, action in Action::\"tool_call\", resource) when { context.call.door == \"session\" };";
    assert!(model().check(text).is_ok());
}
