//! Every case in which the answer is no.

use policy::{Document, Input, Reason};
use serde_json::json;

use crate::support::{NOW, compiled, decide_note, document, log_only, model, names, note, session};

const PERMIT_ALL: &str = "permit(principal, action, resource);";

#[test]
fn every_failure_denies() {
    let bad = |text: &str| vec![document("all", PERMIT_ALL), document("bad", text)];
    let cases: Vec<(&str, Vec<Document>, Reason)> = vec![
        ("no documents", vec![], Reason::NoPermit),
        ("no permit", vec![document("p", "permit(principal, action, resource) when { false };")], Reason::NoPermit),
        (
            "only a forbid that does not match",
            bad("forbid(principal, action, resource) when { false };")[1..].to_vec(),
            Reason::NoPermit,
        ),
        ("a forbid", bad("forbid(principal, action, resource);"), Reason::Forbidden),
        ("a forbid that fails", bad("forbid(principal, action, resource) when { context.input.nothing };"), Reason::Error),
        ("a permit that fails", bad("permit(principal, action, resource) when { context.input.nothing };"), Reason::Error),
        (
            "an overflow",
            bad("permit(principal, action, resource) when { context.input.n + 9223372036854775807 > 0 };"),
            Reason::Error,
        ),
        ("a type that does not fit", bad("forbid(principal, action, resource) when { context.input.title > 3 };"), Reason::Error),
        ("a condition that is no boolean", bad("forbid(principal, action, resource) when { 1 };"), Reason::Error),
        (
            "an attribute of nobody",
            bad("forbid(principal, action, resource) when { Session::\"x\".label == \"\" };"),
            Reason::Error,
        ),
        ("a document that cannot be parsed", bad("forbid(principal, action, resource"), Reason::Broken),
        ("an empty document", bad(" // later\n"), Reason::Broken),
        ("a template", bad("permit(principal == ?principal, action, resource);"), Reason::Broken),
        (
            "two statements of one name",
            bad("@id(\"a\") permit(principal, action, resource);\n@id(\"a\") permit(principal, action, resource);"),
            Reason::Broken,
        ),
        ("two documents of one name", vec![document("p", PERMIT_ALL), document("p", PERMIT_ALL)], Reason::Broken),
        ("a log-only permit", vec![log_only("tried", PERMIT_ALL)], Reason::NoPermit),
    ];
    for (case, documents, reason) in cases {
        let decision = decide_note(&model().compile(&documents), &note());
        assert!(!decision.allowed, "{case}");
        assert_eq!(decision.reason, reason, "{case}: {decision:?}");
        let failed = matches!(reason, Reason::Error | Reason::Broken);
        assert_eq!(decision.errors.is_empty(), !failed, "{case}: {decision:?}");
        assert_eq!(names(&decision), if reason == Reason::Forbidden { vec!["bad"] } else { vec![] }, "{case}");
    }
}

#[test]
fn an_action_that_does_not_exist_is_denied() {
    let compiled = compiled(PERMIT_ALL);
    for action in ["bricks.lost", "", "tool_call", "a2a_invoke", "a2a_discover", "bricks_list", "BRICKS.LIST"] {
        let decision = compiled.decide(&session(), NOW, action, Input::Any);
        assert_eq!((decision.allowed, decision.reason), (false, Reason::UnknownAction), "{action}");
    }
}

#[test]
fn unsupported_arguments_are_denied_if_a_policy_reads_them() {
    let reading = compiled("permit(principal, action, resource) unless { context.input has ratio && context.input has n };");
    let not_reading = compiled("permit(principal, action, resource) when { context.input has title };");
    for (member, value) in [
        ("ratio", json!(1e300)),
        ("ratio", json!(-922_337_203_685_478_i64)),
        ("n", json!(u64::MAX)),
        ("n", json!(1e18)),
        ("n", json!(0.5)),
        ("n", json!("5")),
        ("n", json!(null)),
        ("n", json!([5])),
    ] {
        let mut arguments = note();
        arguments[member] = value.clone();
        let decision = decide_note(&reading, &arguments);
        assert_eq!((decision.allowed, decision.reason), (false, Reason::Error), "{member}: {value}");
        let message = &decision.errors[0].message;
        assert!(message.starts_with(&format!("`context.input.{member}`")), "{message}");
        assert!(decide_note(&not_reading, &arguments).allowed, "nobody looks at {member}");
    }
    assert_eq!(decide_note(&not_reading, &json!([1])).reason, Reason::Error, "arguments are an object");
}

#[test]
fn failures_never_quote_arguments() {
    let mut arguments = note();
    arguments["n"] = json!(4_242_424_242_424_242_424_i64);
    arguments["title"] = json!("secret");
    for condition in [
        "context.input.n * 3 > 0",
        "context.input.title > 3",
        "context.input.title.lessThan(decimal(\"1.0\"))",
        "context.input.title",
    ] {
        let decision =
            decide_note(&compiled(&format!("permit(principal, action, resource) when {{ {condition} }};")), &arguments);
        assert_eq!(decision.reason, Reason::Error, "{condition}");
        for failure in &decision.errors {
            assert!(!failure.message.contains("secret") && !failure.message.contains("4242"), "{condition}: {failure:?}");
        }
    }
}

#[test]
fn log_only_documents_have_no_effect_and_are_reported() {
    let permit = document("p", PERMIT_ALL);
    for (text, would_be) in [
        ("forbid(principal, action, resource);", Some((false, Reason::Forbidden, vec!["tried"]))),
        ("forbid(principal, action, resource) when { context.input.n > 100 };", None),
        ("permit(principal, action, resource);", None),
        ("forbid(principal, action, resource) when { context.input.nothing };", Some((false, Reason::Error, vec![]))),
        ("forbid(principal, action,", Some((false, Reason::Broken, vec![]))),
    ] {
        let decision = decide_note(&model().compile(&[permit.clone(), log_only("tried", text)]), &note());
        assert!(decision.allowed && decision.errors.is_empty(), "{text}");
        assert_eq!(names(&decision), ["p"], "{text}");
        let told = decision
            .log_only
            .as_ref()
            .map(|told| (told.allowed, told.reason, told.policies.iter().map(AsRef::as_ref).collect::<Vec<&str>>()));
        assert_eq!(told, would_be, "{text}");
    }
    let tried = model().compile(&[log_only("tried", PERMIT_ALL)]);
    let decision = decide_note(&tried, &note());
    let would_be = decision.log_only.unwrap();
    assert!(!decision.allowed && would_be.allowed);
    assert_eq!(tried.decide(&session(), NOW, "notes.write", Input::Any).log_only, None, "a listing tries nothing");
}

#[test]
fn arguments_that_only_a_log_only_document_reads_cannot_deny() {
    let documents =
        [document("p", PERMIT_ALL), log_only("tried", "forbid(principal, action, resource) when { context.input.n > 3 };")];
    let mut arguments = note();
    arguments["n"] = json!(u64::MAX);
    let decision = decide_note(&model().compile(&documents), &arguments);
    assert!(decision.allowed);
    assert_eq!(decision.log_only.unwrap().reason, Reason::Error);
}

#[test]
fn the_reasons_have_words() {
    let reasons = [Reason::Permitted, Reason::Forbidden, Reason::NoPermit, Reason::Error, Reason::Broken, Reason::UnknownAction];
    let words: std::collections::BTreeSet<_> = reasons.iter().map(|reason| reason.word()).collect();
    assert_eq!(words.len(), reasons.len());
}
