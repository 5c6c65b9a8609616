//! Memory that moves: what one project exports, another takes in, under names that are nobody's there.

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

/// What an observation is, wherever it is.
fn essence(observation: &Value) -> Value {
    let members = ["content", "type", "confidence", "weight", "corroborations", "createdAt", "forgottenAt"];
    members.iter().map(|member| (*member, observation[member].clone())).collect()
}

both_engines! {
    async fn an_export_is_the_same_elsewhere_and_in_nobodys_name(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (home, abroad) = (crib.tenant().await, crib.tenant().await);
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
        assert_eq!(import(&abroad, &exported).await, json!({"imported": 4, "duplicates": 0}));
        let arrived = observations(&abroad).await;
        assert_eq!(arrived.iter().map(essence).collect::<Vec<_>>(), exported.iter().map(essence).collect::<Vec<_>>());
        for (there, here) in exported.iter().zip(&arrived) {
            for member in ["agentId", "sessionId"] {
                assert_eq!(here[member], format!("import:{}", there[member].as_str().unwrap()));
            }
            assert_ne!(there["id"], here["id"]);
        }

        // It is found like anything else, by words at once and by meaning soon, and says where it comes from.
        let asker = abroad.session_with(json!({"agentLabel": "one"})).await;
        assert_eq!(contents(&recall(&asker, "deployments", "chore").await)[0], "deployments wait\nfor a person");
        let meant = recall_by_meaning(&asker, "how often is the pre-production data erased").await;
        assert_eq!(meant["observations"][0]["agentId"], "import:label:one");

        // The same again is nothing new, nor is it on the record. Who brought it in the first time is.
        assert_eq!(import(&abroad, &exported).await, json!({"imported": 0, "duplicates": 4}));
        assert_eq!(import(&abroad, &arrived).await, json!({"imported": 0, "duplicates": 4}));
        let told = abroad.trail("eventType=memory.imported").await;
        assert_eq!((told.len(), &told[0]["actorType"], &told[0]["entityId"]), (1, &json!("key"), &json!(abroad.project)));
        assert_eq!(told[0]["payload"]["lines"], 4);
        // Brought home, it is what its authors said there already.
        assert_eq!(import(&home, &arrived).await, json!({"imported": 0, "duplicates": 4}));
        assert_eq!(observations(&home).await, exported);

        // Whoever says the same abroad is another: both are corroborated.
        let said = json!({"content": "deployments wait\nfor a person"});
        let fresh = abroad.session_with(json!({"agentLabel": "one"})).await;
        assert_eq!(fresh.call("af_memory_remember", said).await.result()["structuredContent"]["stored"], true);
        let twice = observations(&abroad).await.into_iter().filter(|found| found["corroborations"] == 2).count();
        assert_eq!(twice, 3);

        let undo = json!({"agentId": "import:label:two"});
        let undone = abroad.post(&format!("projects/{}/memory/rollback", abroad.project), undo).await.expect(200);
        assert_eq!(undone, json!({"forgotten": 2}));
        assert_eq!(import(&abroad, &exported).await, json!({"imported": 2, "duplicates": 2}), "what was forgotten can come back");
    }

    async fn notes_need_nothing_but_their_text(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let notes = [json!({"content": " one\r\ntwo "}), json!({"content": "one\ntwo"}), json!({"content": "three", "agentId": "ann"})];
        assert_eq!(import(&tenant, &notes).await, json!({"imported": 2, "duplicates": 1}), "the same twice in one file");
        let kept = observations(&tenant).await;
        assert_eq!((&kept[0]["content"], &kept[0]["agentId"], &kept[0]["sessionId"]), (&json!("one\ntwo"), &json!("import"), &json!("import")));
        assert_eq!((&kept[0]["type"], &kept[0]["weight"], &kept[1]["agentId"]), (&json!("note"), &json!(1.0), &json!("import:ann")));
        assert_eq!(import(&tenant, &[]).await, json!({"imported": 0, "duplicates": 0}));
        // Many who said one thing are counted once, however many they are.
        let crowd: Vec<_> = (0..1_000).map(|number| json!({"content": "so say all", "agentId": format!("a{number}")})).collect();
        assert_eq!(import(&tenant, &crowd).await, json!({"imported": 1_000, "duplicates": 0}));
        assert_eq!(import(&tenant, &[json!({"content": "so say all"})]).await["imported"], 1);
        let found = tenant.get(&format!("projects/{}/memory?agentId=import:a7", tenant.project)).await.expect(200);
        assert_eq!(found["observations"][0]["corroborations"], 1_000);
    }

    async fn a_bad_line_is_named_and_nothing_is_taken(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let path = format!("projects/{}/memory/import", tenant.project);
        for (bad, reason) in [
            (json!({}), "missing field `content`"),
            (json!({"content": " \n"}), "the text is empty"),
            (json!({"content": "a\u{0}b"}), "U+0000"),
            (json!({"content": "x".repeat(100_001)}), "at most 100000 characters"),
            (json!({"content": 7}), "expected a string"),
            (json!("text"), "expected an object"),
            (json!({"content": "a", "metadata": {}}), "unknown field `metadata`"),
            (json!({"content": "a", "confidence": 2}), "confidence is a number from 0 to 1"),
            (json!({"content": "a", "weight": -0.1}), "weight is a number from 0 to 1"),
            (json!({"content": "a", "createdAt": "2999-01-01T00:00:00Z"}), "createdAt lies in the future"),
            (json!({"content": "a", "createdAt": "yesterday"}), "createdAt `yesterday` is not an RFC 3339 time"),
            (json!({"content": "a", "type": "x".repeat(65)}), "at most 64 characters"),
            (json!({"content": "a", "agentId": "a".repeat(194)}), "agentId has at most 193 characters"),
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
async fn a_file_goes_out_and_in_again() {
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
    assert_eq!(said.ok(), "imported: 3 observation(s), 0 were here already\n");
    let again = terminal.run_with_input("memory import - --project other --json", &format!("\n{file}\n")).await;
    assert_eq!(again.json(), json!({"imported": 0, "duplicates": 3}));
    let texts = |lines: &str| -> Vec<Value> { lines.lines().map(|line| essence(&serde_json::from_str(line).unwrap())).collect() };
    assert_eq!(texts(terminal.run("memory export --project other").await.ok()), texts(&file), "in the same order");

    // More than one request takes: a bad line far down is named, and what came before it is there.
    let line = |number: usize| format!("{{\"content\": \"line {number}\"}}\n");
    let mut lines: Vec<String> = (1..=2_500).map(line).collect();
    lines[1_499] = "\n".to_owned();
    lines[1_501] = "{\"content\": \"\"}\n".to_owned();
    std::fs::write(terminal.here.join("notes.jsonl"), lines.concat()).unwrap();
    let refused = terminal.run("memory import notes.jsonl --project third").await;
    let words = refused.refused(1);
    assert!(words.contains("1000 line(s) are imported") && words.contains("line 1502: there is nothing to remember"), "{words}");
    lines[1_501] = line(1_502);
    std::fs::write(terminal.here.join("notes.jsonl"), lines.concat()).unwrap();
    let said = terminal.json("memory import notes.jsonl --project third").await;
    assert_eq!(said, json!({"imported": 1_499, "duplicates": 1_000}));
    for (input, words) in
        [("{}\nnote", "line 2 is no JSON"), ("\n[]", "line 2 is no JSON object"), ("{}", "line 1: missing field")]
    {
        let refused = terminal.run_with_input("memory import -", input).await;
        assert!(refused.refused(1).contains(words), "{refused:?}");
    }
    assert!(terminal.run("memory import nowhere.jsonl").await.refused(1).contains("cannot read `nowhere.jsonl`"));
}
