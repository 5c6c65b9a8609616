//! `toolcrib code`, `index` and `decision`.

use serde_json::json;

use crate::code_api::{git, repository, write};
use crate::support::{Engine, Place, Terminal, both_engines};

/// A terminal in a project whose root is a small repository.
async fn shop(terminal: &Terminal) -> (Terminal, tempfile::TempDir) {
    let root = repository();
    let path = root.path().canonicalize().unwrap();
    terminal.run(&format!("project add shop --root {}", path.display())).await.ok();
    (Terminal { here: path, ..terminal.clone() }, root)
}

async fn write_code(terminal: &Terminal, label: &str, path: &str, content: &str) {
    let arguments = json!({"path": path, "content": content, "reason": "the test wants it"}).to_string();
    let mut command = terminal.command("call write_code");
    command.args([arguments.as_str(), "--agent-label", label]);
    crate::support::Said::by(command).await.ok();
}

both_engines! {
    async fn code_is_browsed_searched_and_explained(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let (terminal, root) = shop(&Terminal::at(&place)).await;
        let done = terminal.run("index").await;
        assert!(done.ok().starts_with("5 of 5 files indexed; ") && done.err.contains("files indexed"), "{done:?}");
        let state = terminal.json("index").await;
        assert_eq!((&state["complete"], &state["passages"]), (&json!(true), &state["embedded"]));

        let tree = terminal.run("code tree").await;
        assert!(tree.ok().starts_with("TYPE ") && tree.out.contains("folder  shop "), "{tree:?}");
        assert_eq!(terminal.json("code tree shop").await["entries"].as_array().unwrap().len(), 2);
        assert_eq!(terminal.run("code show shop/money.py").await.ok(), "def total(prices):\n    return sum(prices)\n");
        let head = git(root.path(), &["rev-parse", "HEAD"]);
        assert!(terminal.run(&format!("code show main.py --commit {head}")).await.ok().starts_with("from shop.money"));
        assert!(terminal.run("code show nowhere.py").await.refused(1).contains("there is no file `nowhere.py`"));
        assert!(terminal.run("code show main.py --version 1 --commit x").await.refused(2).contains("cannot be used with"));
        let symbols = terminal.run("code symbols main.py").await;
        assert!(symbols.ok().contains("function  main"), "{symbols:?}");
        let deps = terminal.run("code deps main.py").await;
        assert!(deps.ok().contains("imports\nDISTANCE  FILE\n1         shop/money.py"), "{deps:?}");
        let impact = terminal.run("code impact shop/money.py").await;
        assert!(impact.ok().contains("1         main.py"), "{impact:?}");
        let found = terminal.run("code search 'total prices' --limit 1").await;
        assert!(found.ok().starts_with("SCORE ") && found.out.contains("shop/money.py"), "{found:?}");
        assert_eq!(terminal.json("code search total --limit 1").await["hits"].as_array().unwrap().len(), 1);
        let blame = terminal.run("code blame shop/money.py").await;
        assert!(blame.ok().lines().count() == 2 && blame.out.contains("  Ada  ") && blame.out.contains("1  def total(prices):"), "{blame:?}");

        write(root.path(), "new.py", "def brand_new():\n    return 1\n");
        assert!(terminal.run("index").await.ok().starts_with("6 of 6 files indexed; "));
    }

    async fn writes_are_restored_and_rolled_back(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let (terminal, root) = shop(&Terminal::at(&place)).await;
        let on_disk = |path: &str| std::fs::read_to_string(root.path().join(path)).unwrap();
        write_code(&terminal, "builder", "note.md", "one\n").await;
        write_code(&terminal, "builder", "note.md", "two\n").await;
        let listed = terminal.json("code history note.md").await;
        assert_eq!((&listed["changes"][0]["version"], &listed["changes"][1]["version"]), (&json!(2), &json!(1)));
        let table = terminal.run("code history note.md").await;
        assert!(table.ok().starts_with("TIME ") && table.out.contains("label:builder"), "{table:?}");
        let diff = terminal.run("code history note.md --diff --limit 1").await;
        assert!(diff.ok().contains("-one\n+two\n") && diff.err.contains("raise --limit"), "{diff:?}");
        assert_eq!(terminal.run("code show note.md --version 1").await.ok(), "one\n");
        let done = terminal.run("code restore note.md --version 1 --reason 'it was right'").await;
        assert_eq!((done.ok(), on_disk("note.md")), ("restored version 1 of note.md as version 3\n", "one\n".to_owned()));
        assert_eq!(terminal.run("code restore note.md --version 1").await.ok(), "note.md already has the content of version 1\n");
        assert!(terminal.run("code restore note.md --version 9").await.refused(1).contains("has no version 9"));

        write_code(&terminal, "spammer", "spam.py", "x = 1\n").await;
        assert!(terminal.run("code rollback --yes").await.refused(1).contains("pass --agent or --session"));
        assert!(terminal.run("code rollback --agent label:spammer").await.refused(1).contains("then pass --yes"));
        assert!(root.path().join("spam.py").exists());
        let done = terminal.run("code rollback --agent label:spammer --yes").await;
        assert!(done.ok().contains("restored  spam.py") && done.out.ends_with("undid the writes in 1 file(s), left 0 alone\n"), "{done:?}");
        assert!(!root.path().join("spam.py").exists());
        let again = terminal.json("code rollback --agent label:spammer --yes").await;
        assert_eq!(again["files"][0]["outcome"], "unchanged");
    }

    async fn decisions_are_listed_and_shown(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        assert_eq!(terminal.run("decision list").await.ok(), "no decisions\n");
        let arguments = json!({"decision": "lamps are lit at dusk", "reasoning": "nobody sees the steps"}).to_string();
        let mut command = terminal.command("call record_decision");
        command.args([arguments.as_str(), "--agent-label", "builder"]);
        crate::support::Said::by(command).await.ok();
        let listed = terminal.run("decision list --agent label:builder --text lamps").await;
        assert!(listed.ok().starts_with("ID ") && listed.out.contains("lamps are lit at dusk"), "{listed:?}");
        let id = terminal.json("decision list").await["decisions"][0]["id"].as_str().unwrap().to_owned();
        let shown = terminal.run(&format!("decision show {id}")).await;
        assert!(shown.ok().contains("nobody sees the steps"), "{shown:?}");
        assert!(terminal.run(&format!("decision show dec_{}", "0".repeat(26))).await.refused(1).contains("404"));
    }
}
