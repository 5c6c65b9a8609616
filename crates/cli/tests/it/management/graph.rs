//! The management routes of the knowledge graph: reading and correcting it.

use reqwest::Method;
use serde_json::{Value, json};

use super::{members, refused, text};
use crate::support::{Crib, Engine, Session, Tenant, both_engines, eventually};

const TRIPLET: [&str; 16] = [
    "conflictsWith",
    "description",
    "functional",
    "id",
    "provenance",
    "relationship",
    "sourceEntity",
    "sourceId",
    "sourceType",
    "supersededAt",
    "targetEntity",
    "targetId",
    "targetType",
    "validFrom",
    "validTo",
    "weight",
];
const NOWHERE: &str = "00000000000000000000000000";

fn fact(source: &str, relationship: &str, target: &str) -> Value {
    json!({"source": {"name": source}, "relationship": relationship, "target": {"name": target}})
}

async fn state(session: &Session<'_>, triplets: Value) -> Vec<String> {
    let stated = session.call("graph_ingest", json!({ "triplets": triplets })).await.result();
    stated["structuredContent"]["tripletIds"].as_array().unwrap().iter().map(text).collect()
}

/// The graph of a tenant's project.
struct Graph<'t, 'c> {
    tenant: &'t Tenant<'c>,
}

impl Graph<'_, '_> {
    fn path(&self, rest: &str) -> String {
        format!("projects/{}/graph{rest}", self.tenant.project)
    }

    async fn get(&self, rest: &str) -> Value {
        self.tenant.get(&self.path(rest)).await.expect(200)
    }

    async fn post(&self, rest: &str, body: Value) -> Value {
        self.tenant.post(&self.path(rest), body).await.expect(200)
    }

    async fn split(&self, id: &str) -> crate::support::Reply {
        self.tenant.api(Method::POST, &self.path(&format!("/entities/{id}/split")), None).await
    }

    /// `source relationship target` of each listed triplet.
    async fn sentences(&self, query: &str) -> Vec<String> {
        let listed = self.get(&format!("/triplets{query}")).await;
        listed["triplets"].as_array().unwrap().iter().map(sentence).collect()
    }

    /// The id of the entity with this name.
    async fn entity(&self, name: &str) -> String {
        let listed = self.get("/entities?limit=200").await;
        let found = listed["entities"].as_array().unwrap().iter().find(|entity| entity["name"] == name);
        text(&found.unwrap_or_else(|| panic!("{name} is not in {listed}"))["id"])
    }
}

fn sentence(triplet: &Value) -> String {
    let word = |name: &str| text(&triplet[name]);
    format!("{} {} {}", word("sourceEntity"), word("relationship"), word("targetEntity"))
}

both_engines! {
    async fn facts_are_counted_listed_shown_and_found(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let graph = Graph { tenant: &tenant };
        assert_eq!(graph.get("").await, json!({"entities": 0, "triplets": 0, "standing": 0, "embedded": 0, "waiting": 0}));
        let builder = tenant.session_with(json!({"agentLabel": "builder"})).await;
        let reviewer = tenant.session_with(json!({"agentLabel": "reviewer"})).await;
        let owned = |team: &str| json!({
            "source": {"name": "checkout", "type": "service"}, "relationship": "owned by", "target": {"name": team, "type": "team"},
            "functional": true, "description": "who is called at night", "validFrom": "2026-01-01T00:00:00Z",
        });
        let old = state(&builder, json!([owned("team red"), fact("checkout", "uses", "Redis")])).await;
        let before = clock.now().rfc3339();
        clock.advance_ms(60_000);
        let new = state(&reviewer, json!([owned("team blue"), fact("checkout", "uses", "Postgres"), fact("Redis", "run by", "Noor")])).await;

        let stats = graph.get("").await;
        assert_eq!((&stats["entities"], &stats["triplets"], &stats["standing"]), (&json!(6), &json!(5), &json!(4)));
        eventually("every text has its vector", async || {
            let stats = graph.get("").await;
            stats["waiting"] == 0 && stats["embedded"].as_u64().unwrap() >= 10
        }).await;

        // Newest first. Superseded facts are listed only on request.
        let now = ["Redis run_by Noor", "checkout uses Postgres", "checkout owned_by team blue", "checkout uses Redis"];
        assert_eq!(graph.sentences("").await, now);
        assert_eq!(graph.sentences("?all=true").await, [&now[..], &["checkout owned_by team red"]].concat());
        assert_eq!(graph.sentences("?all=false&agentId=label:builder").await, ["checkout uses Redis"]);
        assert_eq!(graph.sentences(&format!("?sessionId={}&limit=1", reviewer.id)).await, ["Redis run_by Noor"]);
        assert_eq!(graph.sentences(&format!("?asOf={before}")).await, ["checkout uses Redis", "checkout owned_by team red"]);
        assert_eq!(graph.sentences("?asOf=2020-01-01T00:00:00Z&all=true").await, Vec::<String>::new());

        let shown = graph.get(&format!("/triplets/{}", old[0])).await;
        let triplet = &shown["triplet"];
        assert_eq!(members(triplet), TRIPLET);
        assert_eq!((&triplet["id"], &triplet["sourceType"], &triplet["targetType"]), (&json!(old[0]), &json!("service"), &json!("team")));
        assert_eq!((&triplet["functional"], &triplet["weight"]), (&json!(true), &json!(0.5)));
        assert_eq!((&triplet["validFrom"], &triplet["validTo"]), (&json!("2026-01-01T00:00:00.000Z"), &json!(null)));
        assert_eq!(triplet["supersededAt"], clock.now().rfc3339());
        let from = json!({"observationId": null, "sessionId": builder.id, "agentId": "label:builder", "timestamp": before});
        assert_eq!(triplet["provenance"], from);
        let mention = json!({"agentId": "label:builder", "sessionId": builder.id, "description": "who is called at night", "at": before});
        assert_eq!((&shown["mentions"], &shown["moves"]), (&json!([mention]), &json!([])));
        let conflicting = graph.get(&format!("/triplets/{}", old[1])).await;
        assert_eq!(conflicting["triplet"]["conflictsWith"], json!([new[1]]));

        state(&reviewer, json!([fact("checkout", "uses", "redis")])).await;
        reviewer.call("graph_improve", json!({"triplets": [old[1]], "outcome": "accepted"})).await.result();
        let shown = graph.get(&format!("/triplets/{}", old[1])).await;
        assert_eq!(shown["mentions"].as_array().unwrap().len(), 2);
        let moved = json!({"sessionId": reviewer.id, "outcome": "accepted", "before": 0.5, "after": 0.55, "at": clock.now().rfc3339()});
        assert_eq!((&shown["triplet"]["weight"], &shown["moves"]), (&json!(0.55), &json!([moved])));
        let entity = graph.get(&format!("/entities/{}", text(&shown["triplet"]["targetId"]))).await;
        let redis = json!({"id": shown["triplet"]["targetId"], "name": "Redis", "type": "", "weight": 0.55, "mergedInto": null, "createdAt": before});
        assert_eq!((&entity["entity"], &entity["names"], &entity["moves"]), (&redis, &json!(["Redis"]), &json!([moved])));

        let found = graph.post("/search", json!({"query": "who owns checkout", "limit": 1})).await;
        assert_eq!((found["hits"].as_array().unwrap().len(), &found["truncated"]), (1, &json!(false)));
        let hit = &found["hits"][0];
        assert_eq!((members(hit), sentence(&hit["triplet"])), (vec!["score", "triplet"], "checkout owned_by team blue".to_owned()));
        assert!((0.0..=1.0).contains(&hit["score"].as_f64().unwrap()));
        let then = graph.post("/search", json!({"query": "who owns checkout", "limit": 1, "depth": 0, "asOf": before})).await;
        assert_eq!(sentence(&then["hits"][0]["triplet"]), "checkout owned_by team red");
        assert!(tenant.trail("").await.iter().all(|event| !text(&event["eventType"]).starts_with("graph.")), "reading is not recorded");
    }

    async fn pages_hold_every_triplet_and_entity_once(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let graph = Graph { tenant: &tenant };
        let session = tenant.session().await;
        for number in 0..3 {
            let facts: Vec<Value> = (0..3).map(|other| fact(&format!("s{number}"), "knows", &format!("t{number}{other}"))).collect();
            state(&session, json!(facts)).await;
        }
        for (list, rows) in [("triplets", 9), ("entities", 12)] {
            let ids = |page: &Value| page[list].as_array().unwrap().iter().map(|row| text(&row["id"])).collect::<Vec<_>>();
            let whole = graph.get(&format!("/{list}")).await;
            let all = ids(&whole);
            assert_eq!((all.len(), &whole["nextCursor"]), (rows, &json!(null)));
            for limit in [1, 4, rows] {
                let (mut seen, mut cursor) = (Vec::new(), String::new());
                loop {
                    let page = graph.get(&format!("/{list}?limit={limit}{cursor}")).await;
                    seen.extend(ids(&page));
                    match page["nextCursor"].as_str() {
                        Some(next) => cursor = format!("&cursor={next}"),
                        None => break,
                    }
                    assert_eq!(ids(&page).len(), limit, "{list}: every page but the last is full");
                }
                assert_eq!(seen, all, "{list} by {limit}");
            }
            let nowhere = graph.get(&format!("/{list}?cursor=0000000000000001-x")).await;
            assert_eq!(nowhere, json!({list: [], "nextCursor": null}));
            for bad in ["limit=0", "limit=201", "limit=x", "cursor=nonsense", "page=2"] {
                refused(&tenant.get(&graph.path(&format!("/{list}?{bad}"))).await, 400, "invalid_params");
            }
        }
        assert_eq!(text(&graph.get("/entities?limit=1").await["entities"][0]["name"]), "t22", "newest first");
    }

    async fn entities_are_merged_and_split_on_the_record(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let graph = Graph { tenant: &tenant };
        let service = |name: &str, on: &str| json!({"source": {"name": name, "type": "service"}, "relationship": "runs on", "target": {"name": on}});
        let (one, other) = ("payment reconciliation service", "payment-reconciliation-services");
        let session = tenant.session().await;
        state(&session, json!([service(one, "host-1"), service(other, "host-2"), fact("warehouse", "near", "harbour")])).await;
        let (into, from) = (graph.entity(one).await, graph.entity(other).await);

        let suggested = graph.get("/suggestions").await["suggestions"].clone();
        assert_eq!(suggested.as_array().unwrap().len(), 1);
        assert_eq!((&suggested[0]["into"]["id"], &suggested[0]["from"]["id"]), (&json!(into), &json!(from)));
        assert!(suggested[0]["similarity"].as_f64().unwrap() > 0.9);

        let merge = graph.path(&format!("/entities/{from}/merge"));
        let would = graph.post(&format!("/entities/{from}/merge"), json!({"into": into, "dryRun": true})).await;
        assert_eq!((&would["dryRun"], &would["from"]["mergedInto"], &would["into"]["name"]), (&json!(true), &json!(null), &json!(one)));
        assert!(tenant.trail("eventType=graph.merged").await.is_empty(), "a dry run is not recorded");
        assert_eq!(graph.sentences("").await[1], format!("{other} runs_on host-2"));

        let merged = graph.post(&format!("/entities/{from}/merge"), json!({"into": into})).await;
        assert_eq!((&merged["dryRun"], &merged["from"]["mergedInto"], &merged["into"]["id"]), (&json!(false), &json!(into), &json!(into)));
        assert_eq!(graph.sentences("").await[1], format!("{one} runs_on host-2"), "facts of both are facts of one entity");
        let shown = graph.get(&format!("/entities/{from}")).await;
        assert_eq!((&shown["entity"]["mergedInto"], &shown["names"]), (&json!(into), &json!([other])));
        let listed = graph.get("/entities").await["entities"].as_array().unwrap().iter().filter(|entity| entity["mergedInto"] == json!(into)).count();
        assert_eq!(listed, 1);
        assert_eq!(graph.get("").await["entities"], 5);
        assert_eq!(graph.get("/suggestions").await, json!({"suggestions": []}));
        let entries = tenant.trail("eventType=graph.merged").await;
        assert_eq!((entries.len(), &entries[0]["entityId"], &entries[0]["payload"]["into"]), (1, &json!(from), &json!(into)));
        assert_eq!(entries[0]["payload"]["projectId"], tenant.project);

        // A merged entity cannot merge again, nothing merges into itself, and an unmerged entity cannot split.
        refused(&tenant.post(&merge, json!({"into": graph.entity("harbour").await})).await, 409, "conflict");
        refused(&tenant.post(&graph.path(&format!("/entities/{into}/merge")), json!({"into": from})).await, 409, "conflict");
        refused(&graph.split(&into).await, 409, "conflict");

        let split = graph.split(&from).await.expect(200);
        assert_eq!((&split["from"]["id"], &split["from"]["mergedInto"], &split["into"]["id"]), (&json!(from), &json!(null), &json!(into)));
        assert_eq!(graph.sentences("").await[1], format!("{other} runs_on host-2"));
        assert_eq!(tenant.trail("eventType=graph.split").await[0]["entityId"], from);
        refused(&graph.split(&from).await, 409, "conflict");
        assert_eq!(tenant.trail("eventType=graph.split").await.len(), 1, "a refused split is not recorded");
    }

    async fn longest_agent_label_works_as_a_filter(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let label = "l".repeat(120);
        let session = tenant.session_with(json!({"agentLabel": label})).await;
        state(&session, json!([fact("shop", "uses", "redis")])).await;
        let graph = Graph { tenant: &tenant };
        assert_eq!(graph.sentences(&format!("?agentId=label:{label}")).await, ["shop uses redis"]);
        assert_eq!(graph.sentences("?agentId=label:other").await, Vec::<String>::new());
    }

    async fn rollback_retracts_facts_of_one_agent(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let graph = Graph { tenant: &tenant };
        let good = tenant.session_with(json!({"agentLabel": "good"})).await;
        let bad = tenant.session_with(json!({"agentLabel": "bad"})).await;
        let owner = |team: &str| {
            let mut owner = fact("shop", "owned by", team);
            owner["functional"] = json!(true);
            owner
        };
        state(&good, json!([owner("red"), fact("shop", "uses", "redis")])).await;
        clock.advance_ms(1_000);
        state(&bad, json!([fact("shop", "uses", "redis"), fact("shop", "uses", "mongo")])).await;
        clock.advance_ms(1_000);
        let since = clock.now().rfc3339();
        state(&bad, json!([owner("blue")])).await;
        clock.advance_ms(1_000);

        let rollback = graph.path("/rollback");
        for body in [json!({}), json!({"since": since}), json!({"agentId": ""}), json!({"agentId": "a", "all": true}), json!({"agentId": "a", "since": "then"})] {
            refused(&tenant.post(&rollback, body).await, 400, "invalid_params");
        }
        let none = graph.post("/rollback", json!({"agentId": "label:nobody"})).await;
        assert_eq!(none, json!({"retracted": 0, "restored": 0, "split": 0}));
        assert!(tenant.trail("eventType=graph.rolled_back").await.is_empty());

        let gone = graph.post("/rollback", json!({"agentId": "label:bad", "sessionId": bad.id, "since": since})).await;
        assert_eq!(gone, json!({"retracted": 1, "restored": 1, "split": 0}));
        assert_eq!(graph.sentences("").await, ["shop owned_by red", "shop uses mongo", "shop uses redis"]);
        let gone = graph.post("/rollback", json!({"sessionId": bad.id})).await;
        assert_eq!(gone, json!({"retracted": 1, "restored": 0, "split": 0}));
        assert_eq!(graph.sentences("").await, ["shop owned_by red", "shop uses redis"], "facts that another agent stated first remain");
        assert_eq!(graph.sentences("?all=true").await.len(), 5, "nothing is deleted");
        let entries = tenant.trail("eventType=graph.rolled_back").await;
        let (target, agent) = (&entries[1]["entityId"], &entries[1]["payload"]["agentId"]);
        assert_eq!((entries.len(), target, agent), (2, &json!(tenant.project), &json!("label:bad")));
        assert_eq!(entries[0]["payload"]["sessionId"], bad.id);
    }

    async fn rollback_retracts_at_most_five_hundred_at_once(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let graph = Graph { tenant: &tenant };
        let session = tenant.session_with(json!({"agentLabel": "bulk"})).await;
        for hundred in 0..6 {
            let facts: Vec<Value> = (0..100).map(|number| fact("hub", "knows", &format!("n{hundred}x{number}"))).collect();
            state(&session, json!(facts)).await;
        }
        let mut retracted = Vec::new();
        loop {
            match graph.post("/rollback", json!({"agentId": "label:bulk"})).await["retracted"].as_u64().unwrap() {
                0 => break,
                some => retracted.push(some),
            }
        }
        assert_eq!(retracted, [500, 100]);
        assert_eq!(graph.get("").await["standing"], 0);
    }

    async fn foreign_ids_and_bad_requests_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let graph = Graph { tenant: &tenant };
        let triplet = state(&session, json!([fact("shop", "uses", "redis")])).await.remove(0);
        let (shop, redis) = (graph.entity("shop").await, graph.entity("redis").await);

        // Ids of another project, malformed ids and unknown ids get the same answer.
        let second = text(&tenant.post("projects", json!({"name": "second", "graph_enabled": true})).await.expect(201)["project"]["id"]);
        let elsewhere = |rest: &str| format!("projects/{second}/graph{rest}");
        for path in [
            elsewhere(&format!("/triplets/{triplet}")),
            elsewhere(&format!("/entities/{shop}")),
            graph.path(&format!("/triplets/tri_{NOWHERE}")),
            graph.path(&format!("/entities/ent_{NOWHERE}")),
            graph.path("/triplets/x"),
            graph.path(&format!("/entities/{triplet}")),
            format!("projects/prj_{NOWHERE}/graph"),
        ] {
            refused(&tenant.get(&path).await, 404, "not_found");
        }
        let merge = |id: &str| format!("/entities/{id}/merge");
        for (path, body) in [
            (elsewhere(&merge(&shop)), json!({"into": redis})),
            (graph.path(&merge(&shop)), json!({"into": format!("ent_{NOWHERE}")})),
            (graph.path(&merge(&format!("ent_{NOWHERE}"))), json!({"into": shop})),
        ] {
            refused(&tenant.post(&path, body).await, 404, "not_found");
        }
        for (path, body) in [
            (merge(&shop), json!({})),
            (merge(&shop), json!({"into": "redis"})),
            (merge(&shop), json!({"into": redis, "dryRun": "yes"})),
            ("/search".to_owned(), json!({})),
            ("/search".to_owned(), json!({"query": ""})),
            ("/search".to_owned(), json!({"query": "q", "limit": 101})),
            ("/search".to_owned(), json!({"query": "q", "depth": 5})),
            ("/search".to_owned(), json!({"query": "q", "asOf": "then"})),
        ] {
            refused(&tenant.post(&graph.path(&path), body).await, 400, "invalid_params");
        }
        for bad in ["all=yes", "asOf=then", "agentId=", "type=x"] {
            refused(&tenant.get(&graph.path(&format!("/triplets?{bad}"))).await, 400, "invalid_params");
        }

        // A key for one project sees only that project's graph. The switch affects agents, not people.
        let key = json!({"name": "k", "projects": [second], "scopes": ["graph:read"]});
        let key = text(&tenant.post("keys", key).await.expect(201)["key"]["fullKey"]);
        let asked = async |path: &str| crib.api(Method::GET, &format!("/api/org/{}/{path}", tenant.org), &key, None).await.status;
        assert_eq!((asked(&elsewhere("")).await, asked(&graph.path("")).await), (200, 403));
        tenant.api(Method::PATCH, &format!("projects/{}", tenant.project), Some(json!({"graph_enabled": false}))).await.expect(200);
        assert_eq!(graph.get("").await["standing"], 1);
    }
}
