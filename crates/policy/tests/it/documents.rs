//! Sets of documents: names, hashes, and the effect of changed tools.

use std::sync::Arc;

use policy::{Document, Input, Mode, Model, Reason};

use crate::support::{NOW, actions, decide_note, document, log_only, model, names, note, session};

const PERMIT_ALL: &str = "permit(principal, action, resource);";

#[test]
fn deciding_statements_are_named_after_their_documents() {
    let documents = [
        document("one", PERMIT_ALL),
        document(
            "many",
            format!(
                "{PERMIT_ALL}\n@id(\"named\") {PERMIT_ALL}\npermit(principal, action, resource) when {{ false }};\n{PERMIT_ALL}"
            ),
        ),
        document("agents", "permit(principal in Agent::\"agt_1\", action, resource);"),
    ];
    let decision = decide_note(&model().compile(&documents), &note());
    assert_eq!(names(&decision), ["one", "many#1", "many#named", "many#4", "agents"]);
    let forbidding = [&documents[..], &[document("stop", "forbid(principal, action, resource);")]].concat();
    assert_eq!(names(&decide_note(&model().compile(&forbidding), &note())), ["stop"]);
}

#[test]
fn the_hash_covers_enforced_documents() {
    let hash = |documents: &[Document]| model().compile(documents).hash().to_owned();
    let (a, b) = (document("a", PERMIT_ALL), document("b", "forbid(principal, action, resource);"));
    let usual = hash(&[a.clone(), b.clone()]);
    assert_eq!(usual.len(), 64);
    assert!(usual.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    assert_eq!(hash(&[b.clone(), a.clone()]), usual, "order does not matter");
    assert_eq!(hash(&[a.clone(), b.clone(), log_only("c", PERMIT_ALL)]), usual, "nor does what is only tried");
    let others = [
        vec![],
        vec![a.clone(), Document { version: 2, ..b.clone() }],
        vec![a.clone(), Document { id: "c".to_owned(), ..b.clone() }],
        vec![a.clone(), Document { cedar: PERMIT_ALL.to_owned(), ..b.clone() }],
        vec![a.clone(), Document { mode: Mode::LogOnly, ..b.clone() }],
        vec![Document { id: "a1".to_owned(), ..a.clone() }, b.clone()],
        vec![Document { id: "a".to_owned(), version: 11, ..a }, b],
    ];
    let hashes: std::collections::BTreeSet<String> = others.iter().map(|documents| hash(documents)).chain([usual]).collect();
    assert_eq!(hashes.len(), others.len() + 1);
}

#[test]
fn modes_have_words() {
    for mode in [Mode::Enforce, Mode::LogOnly] {
        assert_eq!(Mode::parse(mode.word()), Some(mode));
    }
    assert_eq!(Mode::parse("off"), None);
}

#[test]
fn a_document_with_an_outdated_schema_is_flagged_and_enforced() {
    let text = r#"permit(principal, action in Action::"tool_call", resource);
forbid(principal, action == Action::"gone", resource);
forbid(principal, action == Action::"notes.write", resource) when { context.input.titel == "x" };"#;
    let compiled = model().compile(&[document("fine", PERMIT_ALL), document("old", text), document("torn", "permit(")]);
    let flagged = compiled.flagged();
    assert_eq!(
        flagged.iter().map(|flag| (flag.document.as_str(), flag.broken)).collect::<Vec<_>>(),
        [("old", false), ("torn", true)]
    );
    let lines: Vec<usize> = flagged[0].findings.iter().map(|finding| finding.line).collect();
    assert!(lines.contains(&2) && lines.contains(&3), "{flagged:?}");

    let drifted = model().compile(&[document("old", text)]);
    let decision = decide_note(&drifted, &note());
    assert_eq!((decision.reason, decision.errors[0].policy.as_deref()), (Reason::Error, Some("old#3")));
    assert!(drifted.decide(&session(), NOW, "bricks.list", Input::Any).allowed, "what drifted is about another tool");
}

#[test]
fn a_tool_that_returns_has_its_policies() {
    let text = "permit(principal, action == Action::\"bricks.list\", resource);";
    let without: Arc<Model> =
        Arc::new(Model::build(actions().into_iter().filter(|action| action.name != "bricks.list")).unwrap());
    let compiled = without.compile(&[document("p", text)]);
    assert!(!compiled.flagged()[0].broken);
    assert_eq!(compiled.decide(&session(), NOW, "bricks.list", Input::Any).reason, Reason::UnknownAction);
    assert!(model().compile(&[document("p", text)]).decide(&session(), NOW, "bricks.list", Input::Any).allowed);
}

#[test]
fn documents_share_the_limit_on_statements() {
    let half = format!("{PERMIT_ALL}\n").repeat(5_001);
    let compiled = model().compile(&[document("a", half.clone()), document("b", half), document("c", PERMIT_ALL)]);
    let decision = decide_note(&compiled, &note());
    assert_eq!((decision.reason, decision.errors.len()), (Reason::Broken, 1));
    assert_eq!(compiled.flagged().iter().map(|flag| flag.document.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn many_threads_decide_at_once() {
    let rules: String = (0..200)
        .map(|number| {
            format!("permit(principal in Agent::\"agt_{number}\", action, resource) when {{ context.input has title }};\n")
        })
        .collect();
    let compiled = Arc::new(model().compile(&[document("p", rules)]));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let compiled = Arc::clone(&compiled);
            std::thread::spawn(move || (0..200).all(|_| decide_note(&compiled, &note()).allowed))
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}
