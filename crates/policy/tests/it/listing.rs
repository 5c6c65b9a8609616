//! Listing: conditions on the arguments count as favourable, and the rest counts as usual.

use policy::Input;
use proptest::prelude::*;
use serde_json::Value;

use crate::random::{arguments, condition, statements};
use crate::support::{NOW, compiled, document, everyone, log_only, model, session};

fn listed(text: &str) -> bool {
    let decision = compiled(text).decide(&session(), NOW, "notes.write", Input::Any);
    assert_eq!(decision.errors, [], "{text}");
    decision.allowed
}

#[test]
fn conditions_on_arguments_are_favourable() {
    // The session is labelled `a`: `principal has label` holds, and so on.
    const YES: &str = "principal has label";
    const NO: &str = "principal is Agent";
    const ASKS: &str = "context.input.n > 3";
    let fill = |text: &str| text.replace("YES", YES).replace("NO", NO).replace("ASKS", ASKS);
    for (condition, permit_lists, forbid_lists) in [
        // Without arguments: unchanged.
        ("YES", true, false),
        ("NO", false, true),
        // With arguments: in the caller's favour.
        ("ASKS", true, true),
        ("!(ASKS)", true, true),
        ("!!(ASKS)", true, true),
        ("YES && ASKS", true, true),
        ("NO && ASKS", false, true),
        ("ASKS && NO", false, true),
        ("YES || ASKS", true, false),
        ("NO || ASKS", true, true),
        ("!(YES || ASKS)", false, true),
        ("!(YES && ASKS)", true, true),
        ("!(NO && ASKS)", true, false),
        ("if ASKS then YES else NO", true, true),
        ("if ASKS then YES else YES", true, false),
        ("if ASKS then NO else NO", false, true),
        ("if YES then ASKS else NO", true, true),
        ("if NO then ASKS else NO", false, true),
        ("if NO then ASKS else YES", true, false),
        ("(if YES then ASKS else NO) && NO", false, true),
        // Any other expression that reads the arguments is replaced as a whole.
        ("(ASKS) == (NO)", true, true),
        ("[ASKS, NO].contains(true)", true, true),
        ("context.input.title like \"x*\"", true, true),
        ("context.input.tags.contains(\"x\")", true, true),
        ("context.input has ratio", true, true),
        ("context has input", true, true),
        ("context has input.ratio", true, true),
        ("context == context", true, true),
        ("context.input[\"n\"] > 3", true, true),
        ("{a: context.input.n} == {a: 1}", true, true),
        // `context.call` is known when listing.
        ("context.call.door == \"session\"", true, false),
        ("context.call.door == \"agent\"", false, true),
        ("context.call.door == \"agent\" && ASKS", false, true),
        ("context has call", true, false),
    ] {
        let condition = fill(condition);
        assert_eq!(
            listed(&format!("permit(principal, action, resource) when {{ {condition} }};")),
            permit_lists,
            "permit {condition}"
        );
        let negated = format!("permit(principal, action, resource) unless {{ !({condition}) }};");
        assert_eq!(listed(&negated), permit_lists, "permit unless not {condition}");
        let forbid = format!("permit(principal, action, resource); forbid(principal, action, resource) when {{ {condition} }};");
        assert_eq!(listed(&forbid), forbid_lists, "forbid {condition}");
        let negated =
            format!("permit(principal, action, resource); forbid(principal, action, resource) unless {{ !({condition}) }};");
        assert_eq!(listed(&negated), forbid_lists, "forbid unless not {condition}");
    }
}

#[test]
fn only_failures_that_depend_on_arguments_are_favourable() {
    const OVERFLOW: &str = "9223372036854775807 + 1 > 0";
    let permit_all = "permit(principal, action, resource);";
    assert!(listed(&format!("{permit_all} forbid(principal, action, resource) when {{ context.input.n > 3 && {OVERFLOW} }};")));
    let always = compiled(&format!("{permit_all} forbid(principal, action, resource) when {{ {OVERFLOW} }};"));
    assert!(!always.decide(&session(), NOW, "notes.write", Input::Any).allowed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]
    #[test]
    fn every_callable_tool_is_listed(
        statements in statements(),
        condition in condition(),
        arguments in prop::collection::vec(arguments(), 1..6),
    ) {
        let documents = [
            document("p", statements.join("\n")),
            document("q", format!("permit(principal, action, resource) when {{ {condition} }};")),
            log_only("r", "forbid(principal, action, resource);"),
        ];
        let compiled = model().compile(&documents);
        for principal in everyone() {
            for action in ["notes.write", "bricks.list"] {
                let passes = |arguments: &&Value| compiled.decide(&principal, NOW, action, Input::These(arguments)).allowed;
                if let Some(arguments) = arguments.iter().find(passes) {
                    let listed = compiled.decide(&principal, NOW, action, Input::Any);
                    prop_assert!(listed.allowed, "{documents:?} with {arguments}: {listed:?}");
                }
            }
        }
    }
}
