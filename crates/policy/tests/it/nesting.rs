//! Hostile nesting is refused with a finding, on half the stack of a server's thread.

use base::limits::POLICY_NESTING_MAX;
use policy::{Input, Reason};

use crate::support::{NOW, document, model, note, session};

/// Half the stack of a server's thread. The other half is for the caller.
const STACK_BYTES: usize = 1024 * 1024;

fn on_half_a_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).unwrap().join().unwrap()
}

fn permit(condition: &str) -> String {
    format!("permit(principal, action == Action::\"notes.write\", resource) when {{ {condition} }};")
}

/// Ways to nest a condition to this depth.
fn nested(levels: usize) -> Vec<(&'static str, String)> {
    let chain = |operator: &str, operand: &str| vec![operand; levels + 1].join(operator);
    let wrapped = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
    vec![
        ("and", chain(" && ", "context.input.flags.urgent")),
        ("or", chain(" || ", "context.input.flags.urgent")),
        ("short and", chain("&&", "true")),
        ("plus", format!("{} > 0", chain(" + ", "context.input.n"))),
        ("times", format!("{} > 0", chain(" * ", "context.input.n"))),
        ("minus", format!("{} > 0", chain(" - ", "context.input.n"))),
        ("brackets", wrapped("(", "context.input.flags.urgent", ")")),
        ("not", wrapped("!", "context.input.flags.urgent", "")),
        ("not brackets", wrapped("!(", "context.input.flags.urgent", ")")),
        ("negative", format!("{} > 0", wrapped("-", "1", ""))),
        ("sets", format!("{} == []", wrapped("[", "1", "]"))),
        ("records", format!("{} == {{}}", wrapped("{a: ", "1", "}"))),
        ("ifs", format!("{} false", "if context.input.flags.urgent then true else ".repeat(levels))),
        ("nested ifs", wrapped("if true then (", "context.input.flags.urgent", ") else false")),
        ("conditions", wrapped("if ", "context.input.flags.urgent", " then true else false")),
        ("attributes", format!("context{}", ".input".repeat(levels))),
        ("indexes", format!("context{}", "[\"input\"]".repeat(levels))),
        ("has", format!("context has input{}", ".flags".repeat(levels))),
        ("calls", wrapped("[", "1", "].isEmpty()")),
        ("methods", format!("context.input.tags{}", ".contains(\"a\")".repeat(levels))),
        ("arguments", wrapped("[true].contains(", "true", ")")),
        ("in", wrapped("principal in [", "principal", "]")),
        ("mixed", wrapped("(true && !(", "context.input.flags.urgent", "))")),
    ]
}

#[test]
fn deep_nesting_is_refused_with_a_finding() {
    for (way, condition) in nested(100_000).into_iter().filter(|(_, condition)| condition.len() < 900_000) {
        on_half_a_stack(move || {
            let text = permit(&condition);
            let findings = model().check(&text).expect_err(way);
            assert!(findings[0].message.contains("nests too deeply (more than"), "{way}: {}", findings[0]);
            let compiled = model().compile(&[document("p", text)]);
            let decision = compiled.decide(&session(), NOW, "notes.write", Input::These(&note()));
            assert_eq!(decision.reason, Reason::Broken, "{way}");
        });
    }
}

#[test]
fn accepted_nesting_fits_on_the_stack() {
    // From below the limit to above it: the last accepted one is the deepest possible.
    for levels in (4..=POLICY_NESTING_MAX + 2).rev().step_by(3).chain(1..4) {
        for (way, condition) in nested(levels) {
            on_half_a_stack(move || {
                for text in [permit(&condition), permit(&condition).replace("permit", "forbid").replace("when", "unless")] {
                    // The validator walks the text, whatever its result is.
                    let _ = model().check(&text);
                    let compiled = model().compile(&[document("p", text.clone())]);
                    for input in [Input::Any, Input::These(&note())] {
                        let decision = compiled.decide(&session(), NOW, "notes.write", input);
                        let too_deep = decision.errors.iter().any(|failure| failure.message == "it nests too deeply");
                        assert!(!too_deep, "{way} {levels}: accepted, and then too deep to evaluate");
                    }
                }
            });
        }
    }
}

#[test]
fn each_clause_adds_one_level() {
    let clauses = |count: usize| format!("permit(principal, action, resource){};", " when { true }".repeat(count));
    assert!(model().check(&clauses(POLICY_NESTING_MAX / 2)).is_ok());
    on_half_a_stack(move || {
        let findings = model().check(&clauses(50_000)).unwrap_err();
        assert!(findings[0].message.contains("nests too deeply (more than"), "{}", findings[0]);
    });
}

#[test]
fn wide_is_not_deep() {
    let names: Vec<String> = (0..5_000).map(|number| format!("\"name {number}\"")).collect();
    let text = permit(&format!("[{}].contains(context.input.title)", names.join(", ")));
    assert!(model().check(&text).is_ok());
    let chain = vec!["context.input.title == \"a\""; POLICY_NESTING_MAX - 10].join(" || ");
    assert!(model().check(&permit(&chain)).is_ok(), "{:?}", model().check(&permit(&chain)));
}
