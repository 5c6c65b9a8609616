//! `toolcrib eval recall` on sets of the user's own.

use crate::support::Terminal;

/// A terminal in a folder with two sets: `prices` has two projects, `tests` has one.
fn with_sets(folder: &std::path::Path) -> Terminal {
    let terminal = Terminal::without_data(folder);
    let lines = [
        ("prices", r#"{"project": "shop", "id": "a", "content": "Prices are integer cents", "at": "2026-01-05T09:00:00Z"}"#),
        ("prices", r#"{"project": "shop", "id": "b", "content": "The cache holds an hour", "at": "2026-01-05T09:05:00Z"}"#),
        ("prices", r#"{"project": "bank", "id": "a", "content": "Interest is rounded at month end"}"#),
        ("prices", r#"{"project": "shop", "query": "how are prices stored", "gold": ["a"], "split": "tune"}"#),
        ("prices", r#"{"project": "bank", "query": "when is interest rounded", "gold": ["a"], "split": "report"}"#),
        ("tests", r#"{"id": "t", "content": "Tests run with cargo nextest"}"#),
        ("tests", r#"{"query": "how do I run the tests", "gold": ["t"], "split": "report"}"#),
    ];
    for set in ["prices", "tests"] {
        let here = terminal.within(&format!("sets/{set}"));
        let text: String = lines.iter().filter(|(name, _)| *name == set).map(|(_, line)| format!("{line}\n")).collect();
        std::fs::write(here.here.join("lines.jsonl"), text).unwrap();
    }
    terminal
}

#[tokio::test(flavor = "multi_thread")]
async fn sets_are_measured_alone_and_together() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = with_sets(folder.path());
    let report = terminal.json("eval recall --set sets").await;
    assert_eq!(report["modes"]["fused"]["questions"], 3, "{report}");
    assert_eq!(report["sets"]["prices"]["fused"]["questions"], 2, "{report}");
    for mode in ["keyword", "fused"] {
        assert_eq!(report["sets"]["tests"][mode]["recall_at_5"], 1.0, "{report}");
    }
    assert_eq!(report["modes"]["fused"]["recall_at_5"], 1.0, "each question is asked in its own project: {report}");
    let half = terminal.json("eval recall --set sets --split report").await;
    assert_eq!(half["modes"]["fused"]["questions"], 2, "{half}");
    let text = terminal.run("eval recall --set sets").await;
    assert!(["prices", "tests", "fused", "BUDGET"].iter().all(|word| text.ok().contains(word)), "{text:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_sets_name_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = with_sets(folder.path());
    let lines = [
        (r#"{"id": "a"}"#, "line 1: neither a memory"),
        ("{", "line 1: EOF"),
        (r#"{"id": "a", "content": "x", "at": "monday"}"#, "not an RFC 3339 time"),
        (r#"{"query": "x", "gold": ["z"]}"#, "unknown memory `z`"),
    ];
    for (line, expected) in lines {
        std::fs::write(terminal.here.join("bad.jsonl"), line).unwrap();
        let said = terminal.run("eval recall --set bad.jsonl --set sets/tests").await;
        assert!(said.refused(1).contains(expected), "{line}: {said:?}");
    }
    let said = terminal.run("eval recall --set nowhere").await;
    assert!(said.refused(1).contains("cannot read nowhere"), "{said:?}");
}
