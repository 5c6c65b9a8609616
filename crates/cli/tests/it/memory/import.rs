//! Exporting memory from one project and importing it into another, under `import:` names.

use serde_json::{Value, json};

use super::{contents, end, recall, recall_by_meaning, remember};
use crate::support::{Crib, Engine, Place, Tenant, Terminal, both_engines};

/// All observations of a tenant's first project, oldest first.
async fn observations(tenant: &Tenant<'_>) -> Vec<Value> {
    let listed = tenant.get(&format!("projects/{}/memory?limit=200", tenant.project)).await.expect(200);
    assert!(listed["nextCursor"].is_null());
    let mut observations = listed["observations"].as_array().unwrap().clone();
    observations.reverse();
    observations
}

async fn import(tenant: &Tenant<'_>, lines: &[Value]) -> Value {
    let path = format!("projects/{}/memory/import", tenant.project);
    tenant.post(&path, json!({ "observations": lines })).await.expect(200)
}

/// The members of an observation that an import keeps.
fn essence(observation: &Value) -> Value {
    let members = ["content", "type", "confidence", "weight", "corroborations", "createdAt", "forgottenAt"];
    members.iter().map(|member| (*member, observation[member].clone())).collect()
}

both_engines! {
    async fn imported_notes_are_equal_and_marked_as_imported(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (home, away) = (crib.tenant().await, crib.tenant().await);
        let (one, two) = (home.session_with(json!({"agentLabel": "one"})).await, home.session_with(json!({"agentLabel": "two"})).await);
        remember(&one, "The staging database is wiped every night at three o'clock").await;
        let sure = json!({"content": "deployments wait\r\nfor a person", "type": "error", "confidence": 0.25});
        one.call("af_memory_remember", sure).await.result();
        remember(&two, "deployments wait\nfor a person").await;
        remember(&two, "データベース 🦀 \"quoted\" \\ \u{2028}").await;
        let reader = home.session().await;
        recall(&reader, "deployments wait for a person", "bug_fix").await;
        end(&home, &reader, "rejected").await;

        let exported = observations(&home).await;
        assert_eq!(exported.len(), 4);
        assert!(exported.iter().any(|line| line["weight"] == 0.85) && exported.iter().any(|line| line["corroborations"] == 1));
        assert_eq!(import(&away, &exported).await, json!({"imported": 4, "duplicates": 0}));
        let arrived = observations(&away).await;
        assert_eq!(arrived.iter().map(essence).collect::<Vec<_>>(), exported.iter().map(essence).collect::<Vec<_>>());
        for (there, here) in exported.iter().zip(&arrived) {
            for member in ["agentId", "sessionId"] {
                assert_eq!(here[member], format!("import:{}", there[member].as_str().unwrap()));
            }
            assert_ne!(there["id"], here["id"]);
        }

        // Imported notes are found by words and by meaning, and show their origin.
        let asker = away.session_with(json!({"agentLabel": "one"})).await;
        assert_eq!(contents(&recall(&asker, "deployments", "chore").await)[0], "deployments wait\nfor a person");
        let meant = recall_by_meaning(&asker, "how often is the pre-production data erased").await;
        assert_eq!(meant["observations"][0]["agentId"], "import:label:one");

        // Importing again stores nothing and records nothing. The first import is recorded.
        assert_eq!(import(&away, &exported).await, json!({"imported": 0, "duplicates": 4}));
        assert_eq!(import(&away, &arrived).await, json!({"imported": 0, "duplicates": 4}));
        let entries = away.trail("eventType=memory.imported").await;
        assert_eq!((entries.len(), &entries[0]["actorType"], &entries[0]["entityId"]), (1, &json!("key"), &json!(away.project)));
        assert_eq!(entries[0]["payload"]["lines"], 4);
        // Imported back into the first project, the notes are duplicates.
        assert_eq!(import(&home, &arrived).await, json!({"imported": 0, "duplicates": 4}));
        assert_eq!(observations(&home).await, exported);

        // A local agent is another author, so both notes are corroborated.
        let said = json!({"content": "deployments wait\nfor a person"});
        let fresh = away.session_with(json!({"agentLabel": "one"})).await;
        assert_eq!(fresh.call("af_memory_remember", said).await.result()["structuredContent"]["stored"], true);
        let twice = observations(&away).await.into_iter().filter(|found| found["corroborations"] == 2).count();
        assert_eq!(twice, 3);

        let undo = json!({"agentId": "import:label:two"});
        let undone = away.post(&format!("projects/{}/memory/rollback", away.project), undo).await.expect(200);
        assert_eq!(undone, json!({"forgotten": 2}));
        assert_eq!(import(&away, &exported).await, json!({"imported": 2, "duplicates": 2}), "forgotten notes can be imported again");
    }

    async fn imported_note_needs_only_its_text(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let notes = [json!({"content": " one\r\ntwo "}), json!({"content": "one\ntwo"}), json!({"content": "three", "agentId": "ann"})];
        assert_eq!(import(&tenant, &notes).await, json!({"imported": 2, "duplicates": 1}), "a file may hold duplicates");
        let kept = observations(&tenant).await;
        assert_eq!((&kept[0]["content"], &kept[0]["agentId"], &kept[0]["sessionId"]), (&json!("one\ntwo"), &json!("import"), &json!("import")));
        assert_eq!((&kept[0]["type"], &kept[0]["weight"], &kept[1]["agentId"]), (&json!("note"), &json!(1.0), &json!("import:ann")));
        assert_eq!(import(&tenant, &[]).await, json!({"imported": 0, "duplicates": 0}));
        // A thousand authors of one text corroborate each other.
        let crowd: Vec<_> = (0..1_000).map(|number| json!({"content": "so say all", "agentId": format!("a{number}")})).collect();
        assert_eq!(import(&tenant, &crowd).await, json!({"imported": 1_000, "duplicates": 0}));
        assert_eq!(import(&tenant, &[json!({"content": "so say all"})]).await["imported"], 1);
        let found = tenant.get(&format!("projects/{}/memory?agentId=import:a7", tenant.project)).await.expect(200);
        assert_eq!(found["observations"][0]["corroborations"], 1_000);
    }

    async fn import_names_a_bad_line_and_stores_nothing(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let path = format!("projects/{}/memory/import", tenant.project);
        for (bad, reason) in [
            (json!({}), "missing field `content`"),
            (json!({"content": " \n"}), "`content` is empty"),
            (json!({"content": "a\u{0}b"}), "U+0000"),
            (json!({"content": "x".repeat(100_001)}), "the maximum is 100000"),
            (json!({"content": 7}), "expected a string"),
            (json!("text"), "expected an object"),
            (json!({"content": "a", "metadata": {}}), "unknown field `metadata`"),
            (json!({"content": "a", "confidence": 2}), "`confidence` must be a number from 0 to 1"),
            (json!({"content": "a", "weight": -0.1}), "weight must be a number from 0 to 1"),
            (json!({"content": "a", "createdAt": "2999-01-01T00:00:00Z"}), "createdAt is in the future"),
            (json!({"content": "a", "createdAt": "yesterday"}), "`createdAt` must be an RFC 3339 time, not `yesterday`"),
            (json!({"content": "a", "type": "x".repeat(65)}), "at most 64 characters"),
            (json!({"content": "a", "agentId": "a".repeat(194)}), "agentId must have at most 193 characters"),
        ] {
            let refused = tenant.post(&path, json!({"observations": [{"content": "good"}, bad]})).await;
            let message = refused.expect(400)["error"].as_str().unwrap().to_owned();
            assert!(message.starts_with("line 2: ") && message.contains(reason), "{reason}: {message}");
        }
        let numbered = json!({"observations": [{"content": "good", "line": 40}, {"content": "", "line": 41}]});
        assert!(tenant.post(&path, numbered).await.expect(400)["error"].as_str().unwrap().starts_with("line 41: "));
        let many: Vec<_> = (0..1_001).map(|number| json!({"content": format!("note {number}")})).collect();
        let refused = tenant.post(&path, json!({"observations": many})).await.expect(400)["error"].to_string();
        assert!(refused.contains("at most 1000 observations"), "{refused}");
        assert_eq!(observations(&tenant).await, Vec::<Value>::new());
        assert!(tenant.trail("eventType=memory.imported").await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_file_is_exported_and_imported() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    for name in ["other", "third"] {
        terminal.run(&format!("project add {name}")).await.ok();
    }
    for number in 0..3 {
        terminal.run(&format!("call af_memory_remember '{{\"content\": \"note {number}\"}}'")).await.ok();
    }
    let file = terminal.run("memory export").await.ok().to_owned();
    std::fs::write(terminal.here.join("memory.jsonl"), &file).unwrap();
    let said = terminal.run("memory import memory.jsonl --project other").await;
    assert_eq!(said.ok(), "imported 3 observation(s), skipped 0 that already exist\n");
    let again = terminal.run_with_input("memory import - --project other --json", &format!("\n{file}\n")).await;
    assert_eq!(again.json(), json!({"imported": 0, "duplicates": 3}));
    let texts = |lines: &str| -> Vec<Value> { lines.lines().map(|line| essence(&serde_json::from_str(line).unwrap())).collect() };
    assert_eq!(texts(terminal.run("memory export --project other").await.ok()), texts(&file), "the import keeps the order");

    // A long file takes several requests. A bad line is named, and earlier requests stay imported.
    let line = |number: usize| format!("{{\"content\": \"line {number}\"}}\n");
    let mut lines: Vec<String> = (1..=2_500).map(line).collect();
    lines[1_499] = "\n".to_owned();
    lines[1_501] = "{\"content\": \"\"}\n".to_owned();
    std::fs::write(terminal.here.join("notes.jsonl"), lines.concat()).unwrap();
    let refused = terminal.run("memory import notes.jsonl --project third").await;
    let words = refused.refused(1);
    assert!(words.contains("failed after 1000 line(s)") && words.contains("line 1502: `content` is empty"), "{words}");
    lines[1_501] = line(1_502);
    std::fs::write(terminal.here.join("notes.jsonl"), lines.concat()).unwrap();
    let said = terminal.json("memory import notes.jsonl --project third").await;
    assert_eq!(said, json!({"imported": 1_499, "duplicates": 1_000}));
    for (input, words) in
        [("{}\nnote", "line 2 is not valid JSON"), ("\n[]", "line 2 is not a JSON object"), ("{}", "line 1: missing field")]
    {
        let refused = terminal.run_with_input("memory import -", input).await;
        assert!(refused.refused(1).contains(words), "{refused:?}");
    }
    assert!(terminal.run("memory import nowhere.jsonl").await.refused(1).contains("cannot read `nowhere.jsonl`"));
}
