//! Problems in a policy text, and their positions.

use base::limits::{POLICY_BYTES_MAX, POLICY_STATEMENTS_MAX};

use crate::support::model;

/// `line:column` of every finding, with a word of its message.
fn check(text: &str, expected: &[(&str, &str)]) {
    let findings = model().check(text).expect_err(text);
    let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings.len(), expected.len(), "{text}\n{found:#?}");
    for (found, (place, word)) in found.iter().zip(expected) {
        assert!(!found.contains("policy0"), "{found}");
        assert!(found.starts_with(&format!("{place}: ")) && found.contains(word), "{text}\n{found} is not {place} … {word}");
    }
}

#[test]
fn a_misspelt_attribute_is_found_at_its_position() {
    check(
        r#"// Grüße, 日本語 🦀
permit (
  principal,
  action == Action::"notes.write",
  resource
) when {
  "日本 🦀" != "ü" && context.input.titel == "x"
};
"#,
        &[("7:20", "titel")],
    );
    check(
        "permit(principal, action == Action::\"bricks.list\", resource) when { resource.readonly };",
        &[("1:69", "`readOnly`")],
    );
    check("permit(principal, action == Action::\"bricks.lst\", resource);", &[("1:29", "bricks.lst")]);
    check("permit(principal in Projekt::\"x\", action, resource);", &[("1:21", "Projekt")]);
}

#[test]
fn every_problem_is_reported() {
    check(
        r#"permit(principal, action, resource) when { principal.a };

permit(principal, action == Action::"bricks.list", resource)
when { context.input.b == 1 || context.input.c };
"#,
        &[("1:44", "`Agent`"), ("1:44", "`Session`"), ("4:8", "`input.b`"), ("4:32", "`input.c`")],
    );
    check(
        r#"permit(principal, action resource);
permit(principal, action, resource);
forbid(principal, action, resource) when { 1 + };
"#,
        &[("1:26", "resource"), ("3:48", "}")],
    );
}

#[test]
fn empty_documents_are_refused() {
    for text in ["", "  \n", "// permit(principal, action, resource);", "\u{feff}"] {
        assert!(model().check(text).is_err(), "{text:?}");
    }
    check("", &[("1:1", "at least one statement")]);
    check("// only\n// comments", &[("1:1", "at least one statement")]);
}

#[test]
fn templates_are_refused_with_their_position() {
    check(
        r#"permit(principal, action, resource);
permit(principal == ?principal, action, resource);
permit(principal, action, resource in ?resource);"#,
        &[("2:1", "templates"), ("3:1", "templates")],
    );
    assert!(model().check("permit(principal, action, resource) when { ?principal == principal };").is_err());
}

#[test]
fn statement_names_must_be_unique_and_valid() {
    let permit = "permit(principal, action, resource);";
    check(&format!("@id(\"a\") {permit}\n@id(\"b\") {permit}\n @id(\"a\") {permit}"), &[("3:2", "`a` names two")]);
    check(&format!("@id(\"2\") {permit}\n{permit}"), &[("2:1", "`2` names two")]);
    check(&format!("@id(\"\") {permit}"), &[("1:1", "needs a value")]);
    check(&format!("@id {permit}"), &[("1:1", "needs a value")]);
    check(&format!("@id(\"a\\nb\") {permit}"), &[("1:1", "control characters")]);
    check(&format!("@id(\"{}\") {permit}", "x".repeat(121)), &[("1:1", "at most 120")]);
    assert!(model().check(&format!("@id(\"{}\") {permit}", "ü".repeat(120))).is_ok());
}

#[test]
fn statements_have_names_and_positions() {
    let text = r#"permit(principal, action, resource);

  @note("; not the end")
  @id("Grüße")
  forbid(principal, action, resource); permit(principal, action, resource);"#;
    let statements = model().check(text).unwrap();
    let told: Vec<_> = statements.iter().map(|info| (info.id("doc"), info.permits, info.line, info.column)).collect();
    assert_eq!(
        told,
        [("doc#1".to_owned(), true, 1, 1), ("doc#Grüße".to_owned(), false, 3, 3), ("doc#3".to_owned(), true, 5, 40),]
    );
    let alone = model().check("permit(principal, action, resource);").unwrap();
    assert_eq!(alone[0].id("doc"), "doc");
    let alone = model().check("@id(\"x\") permit(principal, action, resource);").unwrap();
    assert_eq!(alone[0].id("doc"), "doc#x");
}

#[test]
fn documents_beyond_the_limits_are_refused() {
    let permit = "permit(principal,action,resource);";
    check(&format!("{permit}{}", " ".repeat(POLICY_BYTES_MAX)), &[("1:1", "bytes")]);
    let many = format!("{permit}\n").repeat(POLICY_STATEMENTS_MAX);
    let documents = [crate::support::document("p", many.clone())];
    assert_eq!(model().compile(&documents).flagged(), []);
    check(&format!("{many}{permit}"), &[("10001:1", "10000 statements")]);
}

#[test]
fn invalid_text_never_panics_and_is_always_reported() {
    for text in [
        "\"",
        "permit",
        "permit(",
        ";",
        ";;;",
        "@",
        "@id(",
        "}",
        ")))",
        "permit(principal, action, resource)",
        "🦀",
        "\\",
        "/",
        "//",
        "permit(principal, action, resource) when {};",
        "permit(principal, action, resource) when { \"\\x\" };",
        "permit(principal, action, resource) when { 99999999999999999999 > 0 };",
    ] {
        let findings = model().check(text).expect_err(text);
        assert!(
            !findings.is_empty() && findings.iter().all(|finding| finding.line >= 1 && !finding.message.is_empty()),
            "{text}"
        );
    }
}

/// The pieces of random texts.
const PIECES: &str =
    "permit|\\(|principal|,|action|resource|\\)|when|\\{|\\}|;|\"|\\\\|&&|\\|\\||!|context|\\.|input|==|1|-|@id|//|\n|ü";

proptest::proptest! {
    #[test]
    fn anything_can_be_checked(text in "[ -~\\n]{0,200}", pieces in proptest::collection::vec(PIECES, 0..60)) {
        for text in [text, pieces.concat()] {
            let _ = model().check(&text);
            let _ = model().compile(&[crate::support::document("p", text)]);
        }
    }
}

#[test]
fn warnings_name_their_statement() {
    let text = "permit(principal, action, resource);
        permit(principal is User, action in Action::\"tool_call\", resource);
        permit(principal, action, resource) when { principal == Agent::\"a\u{202e}b\" };";
    let statements = model().check(text).unwrap();
    let lines: Vec<Vec<usize>> =
        statements.iter().map(|info| info.warnings.iter().map(|finding| finding.line).collect()).collect();
    assert_eq!(lines, [vec![], vec![2, 2], vec![3]], "{statements:?}");
    assert!(statements[1].warnings[0].message.contains("impossible"), "{statements:?}");
}
