//! `toolcrib graph`: import, export, rollback, merge and split.

use serde_json::{Value, json};

use crate::support::{Engine, Place, Terminal, both_engines};

fn fact(source: &str, target: &str) -> Value {
    json!({"source": {"name": source, "type": "service"}, "relationship": "runs on", "target": {"name": target}})
}

fn lines(facts: impl Iterator<Item = Value>) -> String {
    facts.map(|fact| format!("{fact}\n")).collect()
}

/// Each exported line as a short sentence.
fn sentences(exported: &str) -> Vec<String> {
    let word = |fact: &Value, member: &str| fact[member].as_str().unwrap().to_owned();
    let sentence = |line: &str| {
        let fact: Value = serde_json::from_str(line).unwrap();
        ["sourceEntity", "sourceType", "relationship", "targetEntity"].map(|member| word(&fact, member)).join(" ")
    };
    exported.lines().map(sentence).collect()
}

both_engines! {
    async fn facts_are_exported_and_imported_into_another_project(engine: Engine) {
        let place = Place::new(engine);
        let server = place.start().await;
        let terminal = Terminal::at(&place);
        terminal.run("project add second --graph on").await.ok();
        let facts = lines((0..250).map(|number| fact(&format!("service-{number}"), &format!("host-{}", number % 7))));
        std::fs::write(terminal.here.join("facts.jsonl"), facts).unwrap();
        let import = terminal.run("graph import facts.jsonl").await;
        assert_eq!(import.ok(), "250 new fact(s), 0 already known, 0 superseded; 257 new entities\n");
        let again = terminal.json("graph import facts.jsonl").await;
        assert_eq!(again, json!({"entitiesCreated": 0, "tripletsCreated": 0, "tripletsExisting": 250, "superseded": 0}));

        let exported = terminal.run("graph export").await.ok().to_owned();
        let said = sentences(&exported);
        assert_eq!((said.len(), said[0].as_str()), (250, "service-0 service runs_on host-0"), "the oldest fact comes first");
        let import = terminal.run_with_input("graph import - --project second", &exported).await;
        assert_eq!(import.ok(), "250 new fact(s), 0 already known, 0 superseded; 257 new entities\n");
        assert_eq!(sentences(terminal.run("graph export --format jsonl --project second").await.ok()), said);

        let gone = terminal.run("graph rollback --agent label:import --yes --project second").await;
        assert_eq!(gone.ok(), "retracted 250 fact(s), restored 0, undid 0 merge(s)\n");
        assert_eq!(terminal.run("graph export --project second").await.ok(), "", "retracted facts are not exported");
        assert_eq!(terminal.json("graph stats").await["standing"], 250);
        assert!(server.sessions().await.iter().all(|session| session["state"] == "ended"));
    }

    async fn import_reports_the_line_that_fails(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        let mut facts: Vec<Value> = (0..150).map(|number| fact(&format!("s{number}"), "host")).collect();
        facts[119]["relationship"] = json!("→");
        let import = terminal.run_with_input("graph import -", &lines(facts.into_iter())).await;
        let complaint = import.refused(1);
        assert!(complaint.starts_with("error: line 120 was refused; lines before 101 are imported: -32602 "), "{complaint}");
        assert_eq!(terminal.json("graph stats").await["standing"], 100, "a call imports all of its facts or none");
        let said = terminal.run_with_input("graph import -", "{}\n{\"source\"").await;
        assert!(said.refused(1).starts_with("error: line 2 is not valid JSON: "), "{said:?}");
        let said = terminal.run_with_input("graph import -", "{}").await;
        assert!(said.refused(1).starts_with("error: line 1 was refused"), "{said:?}");
        assert!(terminal.run("graph import nowhere.jsonl").await.refused(1).contains("cannot read `nowhere.jsonl`"));
        terminal.run("project add off --memory off").await.ok();
        let said = terminal.run_with_input("graph import - --project off", &fact("a", "b").to_string()).await;
        assert!(said.refused(1).contains("the project's knowledge graph is off"), "{said:?}");
    }

    async fn entities_are_merged_and_split(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        let facts = lines([fact("pg", "db-1"), fact("PostgreSQL", "db-2")].into_iter());
        terminal.run_with_input("graph import -", &facts).await.ok();
        let listed = terminal.json("graph entities").await;
        let id = |name: &str| {
            let found = listed["entities"].as_array().unwrap().iter().find(|entity| entity["name"] == name);
            found.unwrap()["id"].as_str().unwrap().to_owned()
        };
        let (pg, postgres) = (id("pg"), id("PostgreSQL"));
        let merge = format!("graph merge {pg} {postgres}");
        assert_eq!(terminal.run(&format!("{merge} --dry-run")).await.ok(), "would merge pg into PostgreSQL\n");
        assert_eq!(terminal.json(&format!("graph show {pg}")).await["entity"]["mergedInto"], json!(null));
        assert_eq!(terminal.run(&merge).await.ok(), "merged pg into PostgreSQL\n");
        assert_eq!(terminal.json(&format!("graph show {pg}")).await["entity"]["mergedInto"], json!(postgres));
        let found = terminal.json("graph search 'what runs on db-1' --limit 1 --depth 0").await;
        assert_eq!(found["hits"][0]["triplet"]["sourceEntity"], "PostgreSQL");
        let table = terminal.run("graph search 'what runs on db-1'").await;
        assert!(table.ok().starts_with("SCORE ") && table.out.contains("  PostgreSQL  runs_on       db-1 "), "{table:?}");
        assert_eq!(terminal.run(&format!("graph split {pg}")).await.ok(), "split pg from PostgreSQL\n");
        assert!(terminal.run(&format!("graph split {pg}")).await.refused(1).contains("is not merged into another (409)"));
    }
}
