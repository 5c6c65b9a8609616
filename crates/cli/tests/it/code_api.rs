//! The management routes of a project's code: its tree, its past, who wrote it, and undoing what agents wrote.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Crib, Engine, Reply, Session, Tenant, both_engines, eventually, members, text};

const MAIN: &str = "from shop.money import total\n\n\ndef main():\n    return total([1, 2])\n";
const MONEY: &str = "def total(prices):\n    return sum(prices)\n";

/// A small git repository with one commit.
pub(crate) fn repository() -> TempDir {
    let folder = TempDir::with_prefix("toolcrib-code-").unwrap();
    write(folder.path(), "shop/__init__.py", "");
    write(folder.path(), "shop/money.py", MONEY);
    write(folder.path(), "main.py", MAIN);
    write(folder.path(), "README.md", "# Shop\n\nIt adds up prices.\n");
    write(folder.path(), ".gitignore", "build/\n");
    write(folder.path(), "build/out.py", "x = 1\n");
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "Open the shop"]);
    folder
}

pub(crate) fn write(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Runs git with a fixed author and without the settings of this machine.
pub(crate) fn git(root: &Path, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.current_dir(root).args(["-c", "user.name=Ada", "-c", "user.email=ada@shop.example", "-c", "commit.gpgsign=false"]);
    command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A project with a root.
struct Shop<'t, 'c> {
    tenant: &'t Tenant<'c>,
    project: String,
    root: TempDir,
}

impl<'t, 'c> Shop<'t, 'c> {
    async fn open(tenant: &'t Tenant<'c>) -> Self {
        let root = repository();
        let made = tenant.post("projects", json!({"name": "shop", "root": root.path()})).await.expect(201);
        Self { tenant, project: text(&made["project"]["id"]), root }
    }

    async fn reply(&self, rest: &str) -> Reply {
        self.tenant.get(&format!("projects/{}/code/{rest}", self.project)).await
    }

    async fn get(&self, rest: &str) -> Value {
        self.reply(rest).await.expect(200)
    }

    async fn post(&self, rest: &str, body: Value) -> Reply {
        self.tenant.post(&format!("projects/{}/code/{rest}", self.project), body).await
    }

    async fn session(&self, label: &str) -> Session<'c> {
        self.tenant.session_with(json!({"projectId": self.project, "agentLabel": label})).await
    }

    fn on_disk(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.path().join(path)).unwrap()
    }

    /// Waits until the index has every file.
    async fn indexed(&self) {
        eventually("the index is complete", async || self.get("index").await["complete"] == true).await;
    }
}

async fn write_code(session: &Session<'_>, path: &str, content: &str) -> Value {
    let arguments = json!({"path": path, "content": content, "reason": format!("change {path}")});
    session.call("write_code", arguments).await.result()["structuredContent"].clone()
}

/// One member of each row of a list.
fn column(answer: &Value, list: &str, member: &str) -> Vec<Value> {
    answer[list].as_array().unwrap().iter().map(|row| row[member].clone()).collect()
}

#[track_caller]
fn refused(reply: &Reply, status: u16) {
    let body = reply.expect(status);
    let words = text(&body["error"]);
    assert!(!words.is_empty() && !words.ends_with('.') && !words.contains("::"), "{words}");
}

both_engines! {
    async fn the_tree_and_its_files_are_shown(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let shop = Shop::open(&tenant).await;
        shop.indexed().await;
        let tree = shop.get("tree").await;
        assert_eq!(column(&tree, "entries", "path"), [".gitignore", "README.md", "main.py", "shop"], "{tree}");
        let main = &tree["entries"][2];
        assert_eq!(members(main), ["files", "language", "path", "size", "symbols", "type"]);
        assert_eq!((&main["type"], &main["size"], &main["symbols"]), (&json!("file"), &json!(MAIN.len()), &json!(1)));
        assert_eq!((&tree["entries"][3]["type"], &tree["entries"][3]["files"]), (&json!("folder"), &json!(2)));
        assert_eq!((&tree["coverage"]["complete"], &tree["nextCursor"]), (&json!(true), &json!(null)));
        // Pages hold every entry once.
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = shop.get(&format!("tree?limit=1{cursor}")).await;
            seen.extend(column(&page, "entries", "path"));
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(json!(seen), json!(column(&tree, "entries", "path")));
        for folder in ["shop", "shop/"] {
            assert_eq!(column(&shop.get(&format!("tree?path={folder}")).await, "entries", "path"), ["shop/__init__.py", "shop/money.py"]);
        }

        let file = shop.get("file?path=main.py").await;
        assert_eq!(members(&file), ["content", "language", "path", "sha256", "size", "state", "version"]);
        assert_eq!((&file["content"], &file["state"], &file["version"]), (&json!(MAIN), &json!("text"), &json!(null)));
        let symbols = shop.get("symbols?path=shop/money.py").await;
        let total = json!({"name": "total", "kind": "function", "startLine": 1, "endLine": 2, "exported": true});
        assert_eq!(symbols["symbols"], json!([total]));
        write(shop.root.path(), "logo.bin", "a\0b");
        let binary = shop.get("file?path=logo.bin").await;
        assert_eq!((&binary["state"], &binary["content"]), (&json!("binary"), &json!(null)));

        for missing in ["tree?path=nowhere", "file?path=nowhere.py", "file?path=shop", "symbols?path=nowhere.py", "blame?path=nowhere.py",
            "history?path=nowhere.py", "dependencies?path=nowhere.py", "file?path=main.py&version=1"] {
            refused(&shop.reply(missing).await, 404);
        }
        let commit = "0".repeat(40);
        refused(&shop.reply(&format!("file?path=main.py&commit={commit}")).await, 404);
        for bad in ["file", "file?path=", "file?path=../x", "file?path=/etc/passwd", "file?path=.git/config", "tree?path=..", "tree?limit=0",
            "file?path=main.py&version=0", "file?path=main.py&commit=HEAD", "file?path=main.py&version=1&asOf=2026-01-01T00:00:00Z",
            "symbols", "blame?path=logo.bin", "history?symbol=main", "history?changeType=eat", "dependencies?path=main.py&depth=65",
            "dependencies?path=main.py&analysis=all", "file?path=main.py&x=1"] {
            refused(&shop.reply(bad).await, 400);
        }
    }

    async fn files_without_a_root_are_shown_too(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        write_code(&session, "lib/a.py", "def a():\n    return 1\n").await;
        write_code(&session, "lib/b.py", "from lib.a import a\n").await;
        let get = async |rest: &str| tenant.get(&format!("projects/{}/code/{rest}", tenant.project)).await.expect(200);
        eventually("the file is indexed", async || get("tree").await["entries"][0]["files"] == 2).await;
        assert_eq!(get("file?path=lib/a.py").await["version"], 1);
        assert_eq!(column(&get("blame?path=lib/b.py").await, "lines", "source"), ["toolcrib"]);
        let imports = get("dependencies?path=lib/b.py&analysis=imports").await;
        assert_eq!((&imports["imports"], &imports["impact"]), (&json!([{"path": "lib/a.py", "distance": 1}]), &json!([])));
    }

    async fn the_past_is_listed_shown_and_restored(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let shop = Shop::open(&tenant).await;
        let builder = shop.session("builder").await;
        let changed = MONEY.replace("sum(prices)", "sum(prices) * 2");
        write_code(&builder, "shop/money.py", &changed).await;
        let written = shop.get("file?path=shop/money.py").await;
        let version = written["version"].as_i64().unwrap();

        let past = shop.get("history?path=shop/money.py&diff=true").await;
        let newest = &past["changes"][0];
        assert_eq!(members(newest), ["agentId", "at", "changeType", "diff", "entity", "from", "id", "linesAdded", "linesRemoved", "reason",
            "sessionId", "source", "version"]);
        assert_eq!((&newest["source"], &newest["agentId"], &newest["version"]), (&json!("toolcrib"), &json!("label:builder"), &json!(version)));
        assert_eq!((&newest["sessionId"], &newest["reason"]), (&json!(builder.id), &json!("change shop/money.py")));
        assert!(text(&newest["diff"]).contains("+    return sum(prices) * 2"), "{newest}");
        let commit = past["changes"].as_array().unwrap().iter().find(|change| change["source"] == "git").unwrap();
        assert_eq!((&commit["agentId"], &commit["reason"], &commit["version"]), (&json!("Ada"), &json!("Open the shop"), &json!(null)));
        assert_eq!(commit["id"], git(shop.root.path(), &["rev-parse", "HEAD"]));
        let before = shop.get(&format!("file?path=shop/money.py&commit={}", text(&commit["id"]))).await;
        assert_eq!(before["content"], MONEY);
        assert_eq!(shop.get(&format!("file?path=shop/money.py&version={version}")).await["content"], json!(changed));
        assert_eq!(shop.get("file?path=shop/money.py&asOf=2100-01-01T00:00:00Z").await["content"], json!(changed));
        refused(&shop.reply("file?path=shop/money.py&asOf=2020-01-01T00:00:00Z").await, 404);
        assert_eq!(column(&shop.get("history?changeType=create&path=main.py").await, "changes", "source"), ["git"]);

        // The first write can be undone by restoring a later one, and the other way round.
        let again = MONEY.replace("sum(prices)", "max(prices)");
        write_code(&builder, "shop/money.py", &again).await;
        let restored = shop.post("restore", json!({"path": "shop/money.py", "version": version, "reason": "max was wrong"})).await.expect(200);
        assert_eq!((shop.on_disk("shop/money.py"), &restored["version"]["version"]), (changed.clone(), &json!(version + 2)));
        let newest = shop.get("history?path=shop/money.py&limit=1").await["changes"][0].clone();
        assert_eq!((&newest["reason"], &newest["id"]), (&json!("max was wrong"), &restored["version"]["id"]));
        assert!(text(&newest["agentId"]).starts_with("key_"), "{newest}");
        let entries = tenant.trail("eventType=code.restored").await;
        let payload = json!({"path": "shop/money.py", "version": version});
        assert_eq!((entries.len(), &entries[0]["entityId"], &entries[0]["payload"]), (1, &json!(shop.project), &payload));
        let same = shop.post("restore", json!({"path": "shop/money.py", "version": version})).await.expect(200);
        assert_eq!((same, tenant.trail("eventType=code.restored").await.len()), (json!({"version": null}), 1));
        refused(&shop.post("restore", json!({"path": "shop/money.py", "version": 99})).await, 404);
        for bad in [json!({"path": "../x", "version": 1}), json!({"path": "main.py", "version": 0}), json!({"path": "main.py"})] {
            refused(&shop.post("restore", bad).await, 400);
        }
    }

    async fn blame_names_agents_people_and_commits(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let shop = Shop::open(&tenant).await;
        let head = git(shop.root.path(), &["rev-parse", "HEAD"]);
        let blame = shop.get("blame?path=main.py").await;
        assert_eq!(blame["lines"].as_array().unwrap().len(), 1);
        let line = &blame["lines"][0];
        assert_eq!(members(line), ["agentId", "at", "commit", "lines", "sessionId", "source", "startLine", "versionId"]);
        assert_eq!((&line["startLine"], &line["lines"], &line["source"]), (&json!(1), &json!(5), &json!("git")));
        assert_eq!((&line["commit"], &line["agentId"]), (&json!(head), &json!("Ada")));
        // A line that nobody committed belongs to the disk.
        write(shop.root.path(), "main.py", &format!("# new\n{MAIN}"));
        let blame = shop.get("blame?path=main.py").await;
        assert_eq!(column(&blame, "lines", "source"), ["disk", "git"]);
        assert_eq!((&blame["lines"][0]["at"], &blame["lines"][1]["startLine"]), (&json!(null), &json!(2)));
        // History has the content from now on.
        let builder = shop.session("builder").await;
        write_code(&builder, "main.py", &format!("# new\n{MAIN}\n\ndef other():\n    return 3\n")).await;
        let blame = shop.get("blame?path=main.py").await;
        let last = blame["lines"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["source"], &last["agentId"], &last["sessionId"]), (&json!("toolcrib"), &json!("label:builder"), &json!(builder.id)));
        assert!(text(&last["versionId"]).starts_with("fil_") && last["commit"].is_null(), "{last}");
        let lines: u64 = column(&blame, "lines", "lines").iter().map(|lines| lines.as_u64().unwrap()).sum();
        assert_eq!(lines, 10, "every line has an author");
    }

    async fn rollback_undoes_one_agent_and_keeps_the_others(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let shop = Shop::open(&tenant).await;
        let (good, bad) = (shop.session("good").await, shop.session("bad").await);
        write_code(&bad, "spam.py", "x = 1\n").await;
        write_code(&bad, "shop/money.py", &format!("import os\n{MONEY}")).await;
        write_code(&good, "shop/money.py", &format!("import os\n{MONEY}\n\ndef none():\n    return 0\n")).await;
        write_code(&bad, "README.md", "gone\n").await;
        write_code(&good, "README.md", "gone, and more\n").await;
        refused(&shop.post("rollback", json!({})).await, 400);
        refused(&shop.post("rollback", json!({"agentId": "label:bad", "sessionId": bad.id})).await, 400);
        let done = shop.post("rollback", json!({"agentId": "label:bad", "reason": "spam"})).await.expect(200);
        let outcomes = done["files"].as_array().unwrap().iter().map(|file| (text(&file["path"]), text(&file["outcome"])));
        let expected = [("README.md", "conflict"), ("shop/money.py", "reverted"), ("spam.py", "restored")];
        assert_eq!(outcomes.collect::<Vec<_>>(), expected.map(|(path, outcome)| (path.to_owned(), outcome.to_owned())));
        assert_eq!(done["nextAfter"], json!(null));
        assert!(!shop.root.path().join("spam.py").exists());
        assert_eq!(shop.on_disk("shop/money.py"), format!("{MONEY}\n\ndef none():\n    return 0\n"));
        assert_eq!(shop.on_disk("README.md"), "gone, and more\n");
        let entries = tenant.trail("eventType=code.rolled_back").await;
        assert_eq!((entries.len(), &entries[0]["payload"]), (1, &json!({"agentId": "label:bad"})));
        let again = shop.post("rollback", json!({"sessionId": bad.id})).await.expect(200);
        assert_eq!(column(&again, "files", "outcome"), ["conflict", "unchanged", "unchanged"]);
        let after = shop.post("rollback", json!({"sessionId": bad.id, "after": "shop/money.py"})).await.expect(200);
        assert_eq!(column(&after, "files", "path"), ["spam.py"]);
        assert_eq!(shop.post("rollback", json!({"agentId": "nobody"})).await.expect(200), json!({"files": [], "nextAfter": null}));
    }

    async fn dependencies_and_search_answer_questions(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let shop = Shop::open(&tenant).await;
        let started = tenant.api(Method::POST, &format!("projects/{}/code/index", shop.project), None).await.expect(200);
        assert_eq!(members(&started), ["asOf", "complete", "embedded", "failed", "files", "following", "fresh", "indexed", "leftOut", "parsed", "passages"]);
        eventually("search covers everything", async || {
            let state = shop.get("index").await;
            state["complete"] == true && state["fresh"] == true && state["embedded"] == state["passages"] && state["files"] == 5
        }).await;
        assert!(tenant.trail("eventType=data.read").await.is_empty(), "counts are not code");
        let found = shop.get("dependencies?path=shop/money.py").await;
        assert_eq!(found["impact"], json!([{"path": "main.py", "distance": 1}]));
        assert_eq!((&found["exports"], &found["imports"], &found["circular"]), (&json!(["total"]), &json!([]), &json!([])));
        let imports = shop.get("dependencies?path=main.py&analysis=imports&depth=1&external=true").await;
        let edge = json!({"from": "main.py", "to": "shop/money.py", "relationship": "imports", "resolution": "exact"});
        assert!(imports["edges"].as_array().unwrap().contains(&edge), "{imports}");

        let hits = shop.post("search", json!({"query": "total prices", "limit": 1})).await.expect(200);
        assert_eq!((&hits["hits"][0]["path"], hits["hits"].as_array().unwrap().len()), (&json!("shop/money.py"), 1), "{hits}");
        assert!(text(&hits["hits"][0]["snippet"]).contains("def total(prices)"), "{hits}");
        assert_eq!(members(&hits["hits"][0]["signals"]), ["dependency", "graph", "identifier", "keyword", "semantic", "temporal"]);
        assert_eq!(tenant.trail("eventType=data.read").await[0]["entityType"], "code");
        for bad in [json!({"query": ""}), json!({"query": "x", "limit": 101}), json!({"query": "x", "threshold": 2}), json!({"query": "x".repeat(2_001)})] {
            refused(&shop.post("search", bad).await, 400);
        }
    }

    async fn decisions_are_listed_and_shown(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let builder = tenant.session_with(json!({"agentLabel": "builder"})).await;
        let other = tenant.session().await;
        let decision = json!({"decision": "lamps are lit at dusk", "reasoning": "nobody sees the steps", "alternatives": ["noon"],
            "impact": "low", "confidence": 0.5, "context": {"season": "winter"}});
        let made = builder.call("record_decision", decision).await.result()["structuredContent"].clone();
        other.call("record_decision", json!({"decision": "doors stay shut", "reasoning": "it is cold"})).await.result();
        let get = async |rest: &str| tenant.get(&format!("projects/{}/decisions{rest}", tenant.project)).await.expect(200);
        let all = get("").await;
        assert_eq!(column(&all, "decisions", "decision"), ["doors stay shut", "lamps are lit at dusk"]);
        for query in ["?agentId=label:builder", "?text=LAMPS", "?until=2100-01-01T00:00:00Z&text=steps", &format!("?sessionId={}", builder.id)] {
            assert_eq!(column(&get(query).await, "decisions", "id"), [made["decision_id"].clone()], "{query}");
        }
        assert_eq!(get("?since=2100-01-01T00:00:00Z").await, json!({"decisions": [], "nextCursor": null}));
        let first = get("?limit=1").await;
        let next = get(&format!("?limit=1&cursor={}", text(&first["nextCursor"]))).await;
        assert_eq!(column(&next, "decisions", "id"), [made["decision_id"].clone()]);
        let shown = get(&format!("/{}", text(&made["decision_id"]))).await["decision"].clone();
        assert_eq!(members(&shown), ["agentId", "alternatives", "confidence", "context", "createdAt", "decision", "forgottenAt", "id", "impact",
            "observationId", "reasoning", "sessionId"]);
        assert_eq!((&shown["context"], &shown["alternatives"], &shown["impact"]), (&json!({"season": "winter"}), &json!(["noon"]), &json!("low")));
        assert_eq!((&shown["observationId"], &shown["agentId"]), (&made["observation_id"], &json!("label:builder")));
    }
}
