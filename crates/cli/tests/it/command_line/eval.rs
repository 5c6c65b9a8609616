//! `toolcrib eval` on sets, folders and repositories of the user's own.

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

const STORE: &str = "class Store:\n    def drop(self, key):\n        \"\"\"Removes a row that nobody needs any more.\"\"\"\n        row = self.find(key)\n        if row:\n            self.rows.remove(row)\n";
const PRICES: &str = "def total(items):\n    \"\"\"Adds the prices of all items in a cart.\"\"\"\n    result = 0\n    for item in items:\n        result += item.price\n    return result\n";

#[tokio::test(flavor = "multi_thread")]
async fn doc_comments_ask_for_their_functions() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::without_data(folder.path());
    let sources = terminal.within("sources");
    std::fs::write(sources.here.join("store.py"), STORE).unwrap();
    std::fs::write(sources.here.join("prices.py"), PRICES).unwrap();
    let report = terminal.json("eval code --docs sources").await;
    assert_eq!((&report["files"], &report["modes"]["fused"]["questions"]), (&2.into(), &2.into()), "{report}");
    for mode in ["keyword", "vector", "fused"] {
        assert_eq!(report["modes"][mode]["recall_at_10"], 1.0, "{report}");
    }
    assert_eq!(report["modes"]["fused"]["mean_reciprocal_rank"], 1.0, "{report}");
    for half in ["tune", "report"] {
        let half = terminal.json(&format!("eval code --docs sources --half {half}")).await;
        assert_eq!(half["modes"]["fused"]["questions"], 1, "{half}");
    }
    let text = terminal.run("eval code --docs sources --questions 1").await;
    assert!(
        ["2 files", "MRR", "R@1", "R@10", "keyword", "vector", "fused"].iter().all(|word| text.ok().contains(word)),
        "{text:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_ask_for_the_files_they_changed() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::without_data(folder.path());
    let repository = terminal.within("repository");
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
        let mut command = std::process::Command::new("git");
        let done = command.args(identity).args(arguments).current_dir(&repository.here).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    };
    let commit = |subject: &str, path: &str, text: &str| {
        std::fs::write(repository.here.join(path), text).unwrap();
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", subject]);
    };
    git(&["init", "--quiet"]);
    commit("Remove rows from the store", "store.py", STORE);
    commit("Add the prices of a cart", "prices.py", PRICES);
    commit("Describe cheese in general", "gone.txt", "Cheese is made of milk.\n");
    std::fs::remove_file(repository.here.join("gone.txt")).unwrap();
    commit("Add prices faster", "prices.py", &PRICES.replace("result = 0", "result = int()"));
    let report = terminal.json("eval code --history repository").await;
    assert_eq!((&report["files"], &report["modes"]["fused"]["questions"]), (&2.into(), &3.into()), "{report}");
    assert_eq!(report["modes"]["fused"]["mean_reciprocal_rank"], 1.0, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_asks_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::without_data(folder.path());
    terminal.within("empty");
    for (words, expected) in [
        ("eval code --docs empty", "nothing there can be asked"),
        ("eval code --docs nowhere", "cannot read `nowhere`"),
        ("eval code --history empty", "is not a git repository"),
    ] {
        let said = terminal.run(words).await;
        assert!(said.refused(1).contains(expected), "{words}: {said:?}");
    }
    assert!(terminal.run("eval code").await.refused(2).contains("--docs"));
}
