//! `query_history` of what a project knows: decisions, observations, triplets, entities and sessions.

use serde_json::{Value, json};

use super::{Workspace, answer, gist};
use crate::support::{Crib, Engine, Session, both_engines, text};

/// The ids of one thing of each kind.
struct Known {
    observation: String,
    triplet: String,
    entity: String,
    decision: String,
    session: String,
}

impl Known {
    async fn make(workspace: &Workspace<'_>, session: &Session<'_>) -> Self {
        let noted = answer_of(session, "af_memory_remember", json!({"content": "the lamp is lit at dusk"})).await;
        let fact = json!({"source": {"name": "lamp"}, "relationship": "lit at", "target": {"name": "dusk"}});
        let stated = answer_of(session, "graph_ingest", json!({"triplets": [fact]})).await;
        let decided = answer_of(session, "record_decision", json!({"decision": "whale oil", "reasoning": "it burns"})).await;
        let listed = workspace.tenant.get(&format!("projects/{}/graph/entities", workspace.project)).await.expect(200);
        let entities = listed["entities"].as_array().unwrap();
        let lamp = entities.iter().find(|entity| entity["name"] == "lamp").unwrap();
        Self {
            observation: text(&noted["id"]),
            triplet: text(&stated["tripletIds"][0]),
            entity: text(&lamp["id"]),
            decision: text(&decided["decision_id"]),
            session: session.id.clone(),
        }
    }

    fn all(&self) -> [&String; 5] {
        [&self.observation, &self.triplet, &self.entity, &self.decision, &self.session]
    }
}

async fn answer_of(session: &Session<'_>, tool: &str, arguments: Value) -> Value {
    session.call(tool, arguments).await.result()["structuredContent"].clone()
}

both_engines! {
    async fn things_that_a_project_knows_have_a_history(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        let session = workspace.another_session("scribe").await;
        let known = Known::make(&workspace, &session).await;
        for id in known.all() {
            let found = workspace.ask("query_history", json!({"entity_id": id})).await;
            let changes = found["changes"].as_array().unwrap();
            assert!(!changes.is_empty() && found["notice"].is_string(), "{id}: {found}");
            assert!(changes.iter().all(|change| change["source"] == "toolcrib"), "{found}");
            let first = changes.last().unwrap();
            assert_eq!((&first["change_type"], &first["agent_id"]), (&json!("create"), &json!("label:scribe")), "{found}");
            assert_eq!(first["session_id"], session.id, "{found}");
            let none = workspace.ask("query_history", json!({"entity_id": id, "change_types": ["move"]})).await;
            assert_eq!(none["changes"], json!([]), "{id} was not moved");
        }
        let of = async |id: &str| workspace.changes(json!({"entity_id": id})).await;
        assert!(of(&known.decision).await[0].to_string().contains("whale oil"));
        assert!(of(&known.observation).await[0].to_string().contains("the lamp is lit at dusk"));
    }

    async fn a_session_lists_what_it_wrote(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            let (writer, other) = (workspace.another_session("writer").await, workspace.another_session("other").await);
            let edit = |path: &str| json!({"path": path, "content": "a = 1\n", "reason": "r"});
            answer(&writer, "write_code", edit("a.py")).await;
            answer(&other, "write_code", edit("b.py")).await;
            let entities = async |id: &str| {
                let changes = workspace.changes(json!({"entity_id": id})).await;
                changes.iter().map(|change| text(&change["entity_id"])).collect::<Vec<_>>()
            };
            assert_eq!(entities(&writer.id).await, ["a.py"], "files that the session wrote");
            let decided = answer(&writer, "record_decision", json!({"decision": "d", "reasoning": "r"})).await;
            let found = entities(&writer.id).await;
            assert!(found.contains(&text(&decided["decision_id"])) && found.contains(&"a.py".to_owned()), "{found:?}");
            assert_eq!(entities(&other.id).await, ["b.py"]);
        }
    }

    async fn the_projects_history_lists_decisions(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        let decided = workspace.ask("record_decision", json!({"decision": "d", "reasoning": "r"})).await;
        workspace.write("a.py", "a = 1\n").await;
        let changes = workspace.changes(json!({})).await;
        let entities: Vec<_> = changes.iter().map(|change| change["entity_id"].clone()).collect();
        assert!(entities.contains(&decided["decision_id"]) && entities.contains(&json!("a.py")), "{entities:?}");
    }

    async fn ids_of_another_org_are_refused_like_unknown_ones(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (Workspace::new(&crib, &[]).await, Workspace::new(&crib, &[]).await);
        let session = theirs.another_session("scribe").await;
        let foreign = Known::make(&theirs, &session).await;
        let version = text(&theirs.write("theirs.py", "a = 1\n").await["version_id"]);
        // Another project of the same org is as foreign.
        let elsewhere = theirs.tenant.session().await;
        let foreign_ids: Vec<&String> = foreign.all().into_iter().chain([&version]).collect();
        for (place, id) in foreign_ids.into_iter().enumerate() {
            let nowhere = format!("{}_{}", id.split_once('_').unwrap().0, "0".repeat(26));
            for session in [&ours.session, &elsewhere] {
                let error = |id: &str| session.call("query_history", json!({"entity_id": id}));
                let (theirs, none) = (error(id).await.error(), error(&nowhere).await.error());
                assert_eq!(gist(&theirs), ("invalid_params", -32602, Some("entity_id")), "{place}: {theirs}");
                assert_eq!((&theirs["message"], &theirs["data"]["details"]), (&none["message"], &none["data"]["details"]));
            }
        }
        let error = ours.refused("query_history", json!({"entity_id": "theirs.py"})).await;
        assert_eq!(gist(&error).1, -32602, "{error}");
    }

    async fn the_id_of_a_version_is_found(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        let written = workspace.write("a.py", "a = 1\n").await;
        workspace.write("a.py", "a = 2\n").await;
        let changes = workspace.changes(json!({"entity_id": written["version_id"]})).await;
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!((&changes[0]["id"], &changes[0]["entity_id"]), (&written["version_id"], &json!("a.py")));
    }

    async fn weights_of_observations_are_history(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        let noted = answer_of(&workspace.session, "af_memory_remember", json!({"content": "the lamp is lit at dusk"})).await;
        let reader = workspace.another_session("reader").await;
        answer_of(&reader, "af_memory_recall", json!({"query": "lamp", "workType": "chore"})).await;
        workspace.tenant.post(&format!("sessions/{}/end", reader.id), json!({"outcome": "rejected"})).await.expect(200);
        let changes = workspace.changes(json!({"entity_id": noted["id"]})).await;
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert!(changes[0]["change_type"] == "update" && changes[0]["diff"].as_str().unwrap().contains("0.85"), "{changes:?}");
    }
}
