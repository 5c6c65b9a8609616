//! The knowledge graph at the doors: agents share facts, a disabled graph answers so, and recall returns related facts.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, Session, both_engines, call, request};

fn entity(name: &str) -> Value {
    json!({ "name": name })
}

fn triplet(source: &str, relationship: &str, target: &str) -> Value {
    json!({"source": entity(source), "relationship": relationship, "target": entity(target)})
}

async fn given(session: &Session<'_>, tool: &str, arguments: Value) -> Value {
    session.call(tool, arguments).await.result()["structuredContent"].clone()
}

async fn state(session: &Session<'_>, facts: &[(&str, &str, &str)]) -> Value {
    let triplets: Vec<Value> = facts.iter().map(|(source, relationship, target)| triplet(source, relationship, target)).collect();
    given(session, "graph_ingest", json!({ "triplets": triplets })).await
}

const FACTS: [(&str, &str, &str); 4] = [
    ("checkout-service", "stores carts in", "Redis"),
    ("Redis", "is operated by", "platform team"),
    ("platform team", "is led by", "Noor"),
    ("cafeteria", "serves", "soup"),
];

both_engines! {
    async fn facts_from_one_agent_are_found_by_another(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let writer = tenant.session_with(json!({"agentLabel": "builder"})).await;
        let reader = tenant.session().await;
        let stated = state(&writer, &FACTS).await;
        assert_eq!(
            (&stated["entitiesCreated"], &stated["tripletsCreated"], &stated["tripletsExisting"], &stated["superseded"]),
            (&json!(6), &json!(4), &json!(0), &json!(0))
        );
        let again = state(&reader, &FACTS).await;
        assert_eq!((&again["tripletsCreated"], &again["tripletsExisting"]), (&json!(0), &json!(4)));
        assert_eq!(again["tripletIds"], stated["tripletIds"]);

        let found = given(&reader, "graph_query", json!({"query": "where does checkout-service keep carts", "topK": 1})).await;
        let best = &found["triplets"][0];
        assert_eq!((&best["sourceEntity"], &best["relationship"], &best["targetEntity"]),
            (&json!("checkout-service"), &json!("stores_carts_in"), &json!("Redis")));
        assert_eq!((&best["id"], &best["weight"]), (&stated["tripletIds"][0], &json!(0.5)));
        let score = best["relevanceScore"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score) && score > 0.1, "{best}");
        let from = &best["provenance"];
        assert_eq!((&from["agentId"], &from["sessionId"]), (&json!("label:builder"), &json!(writer.id)));
        assert!(from["timestamp"].is_string() && from.get("observationId").is_none());

        let around = given(&reader, "graph_neighbors", json!({"entity": "redis", "depth": 2})).await;
        assert_eq!(around["entities"], json!([
            {"name": "checkout-service", "type": "", "hops": 1},
            {"name": "platform team", "type": "", "hops": 1},
            {"name": "Noor", "type": "", "hops": 2},
        ]));
        assert_eq!(around["triplets"].as_array().unwrap().len(), 3);
        let out = given(&reader, "graph_neighbors", json!({"entity": "redis", "direction": "out", "limit": 1})).await;
        assert_eq!(out["entities"][0]["name"], "platform team");

        let path = given(&reader, "graph_path", json!({"from": "Checkout Service", "to": "noor"})).await;
        assert_eq!((&path["found"], &path["length"]), (&json!(true), &json!(3)));
        assert_eq!(path["path"][2]["targetEntity"], "Noor");
        let none = given(&reader, "graph_path", json!({"from": "noor", "to": "soup"})).await;
        assert_eq!((&none["found"], &none["path"]), (&json!(false), &json!([])));
        let weighted = given(&reader, "graph_path", json!({"from": "redis", "to": "noor", "weighted": true})).await;
        assert_eq!(weighted["cost"], json!(4.0));
        let directed = given(&reader, "graph_path", json!({"from": "noor", "to": "redis", "directed": true})).await;
        assert_eq!(directed["found"], json!(false));

        let said = reader.call("graph_query", json!({"query": "Noor"})).await.result();
        let text = said["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("> platform team is led by Noor [tri_") && text.contains("by label:builder on "), "{text}");
    }

    async fn facts_are_found_by_meaning_and_weights_change(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        state(&session, &FACTS).await;
        // The query shares no word with the graph.
        for attempt in 0.. {
            let found = given(&session, "graph_query", json!({"query": "lunch menu", "topK": 1, "neighborhoodDepth": 0})).await;
            if found["triplets"][0]["sourceEntity"] == "cafeteria" {
                break;
            }
            assert!(attempt < 600, "{found}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        let fact = json!({"source": "CAFETERIA", "relationship": "Serves", "target": "Soup"});
        let judged = given(&session, "graph_improve", json!({"triplets": [fact], "outcome": "accepted"})).await;
        assert_eq!((&judged["triplets"][0]["oldWeight"], &judged["triplets"][0]["newWeight"]), (&json!(0.5), &json!(0.55)));
        assert_eq!(judged["entities"].as_array().unwrap().len(), 2);
        let again = given(&session, "graph_improve", json!({"triplets": [fact], "score": 0.0})).await;
        assert_eq!((&again["triplets"][0]["newWeight"], &again["triplets"][0]["repeated"]), (&json!(0.55), &json!(true)));
    }

    async fn bad_graph_arguments_are_named_and_change_nothing(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        state(&session, &FACTS).await;
        let with = |member: &str, value: Value| {
            let mut fact = triplet("a", "b", "c");
            fact[member] = value;
            json!({"triplets": [triplet("x", "y", "z"), fact]})
        };
        for (tool, arguments, parameter) in [
            ("graph_ingest", json!({"triplets": []}), "triplets"),
            ("graph_ingest", json!({"triplets": vec![triplet("a", "b", "c"); 101]}), "triplets"),
            ("graph_ingest", with("relationship", json!("→")), "triplets[1].relationship"),
            ("graph_ingest", with("validFrom", json!("yesterday")), "triplets[1].validFrom"),
            ("graph_ingest", with("source", json!({"name": "s".repeat(201)})), "triplets[1].source.name"),
            ("graph_ingest", with("nonsense", json!(1)), "triplets[1].nonsense"),
            ("graph_query", json!({"query": ""}), "query"),
            ("graph_query", json!({"query": "q", "topK": 101}), "topK"),
            ("graph_query", json!({"query": "q", "neighborhoodDepth": 5}), "neighborhoodDepth"),
            ("graph_query", json!({"query": "q", "asOf": "then"}), "asOf"),
            ("graph_neighbors", json!({"entity": "nobody"}), "entity"),
            ("graph_neighbors", json!({"entity": "redis", "depth": 6}), "depth"),
            ("graph_neighbors", json!({"entity": "redis", "direction": "up"}), "direction"),
            ("graph_path", json!({"from": "redis", "to": "nobody"}), "to"),
            ("graph_path", json!({"from": "nobody", "to": "redis"}), "from"),
            ("graph_improve", json!({"triplets": ["tri_nonsense"], "score": 1}), "triplets[0]"),
            ("graph_improve", json!({"triplets": ["x"], "score": 1.5}), "score"),
            ("graph_improve", json!({"triplets": ["x"], "outcome": "fine"}), "outcome"),
            ("graph_improve", json!({"triplets": ["x"]}), "outcome"),
            ("graph_improve", json!({"triplets": ["x"], "outcome": "rework", "score": 1}), "outcome"),
        ] {
            let error = session.call(tool, arguments.clone()).await.error();
            assert_eq!((&error["code"], &error["data"]["parameter"]), (&json!(-32602), &json!(parameter)), "{tool} {arguments}: {error}");
        }
        let unknown = session.call("graph_neighbors", json!({"entity": "checkout"})).await.error();
        let message = unknown["message"].as_str().unwrap();
        assert!(message.contains("`checkout`") && message.contains("`checkout-service`"), "{message}");
        for (tool, arguments) in [
            ("graph_neighbors", json!({"entity": "chekout-service"})),
            ("graph_path", json!({"from": "redis", "to": "chekout-service"})),
            ("graph_improve", json!({"triplets": [{"source": "chekout-service", "relationship": "a", "target": "b"}], "score": 1})),
        ] {
            let error = session.call(tool, arguments).await.error();
            assert_eq!((&error["code"], &error["data"]["suggestions"]), (&json!(-32602), &json!(["checkout-service"])), "{error}");
            assert_eq!(error["data"]["entity"], "chekout-service");
            assert!(error["message"].as_str().unwrap().contains("did you mean `checkout-service`?"), "{error}");
        }
        let nothing = session.call("graph_neighbors", json!({"entity": "x"})).await.error();
        assert_eq!(nothing["code"], -32602, "a refused call stored something");
    }

    async fn disabled_graph_tools_are_unlisted_and_answer_disabled(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let path = format!("projects/{}", tenant.project);
        let listed = async || {
            let tools = session.rpc(&request(1, "tools/list", json!({}))).await.result();
            tools["tools"].as_array().unwrap().iter().filter(|tool| tool["name"].as_str().unwrap().starts_with("graph_")).count()
        };
        assert_eq!(listed().await, 5);
        let nonsense = json!({"nonsense": 1});
        for off in [json!({"graph_enabled": false}), json!({"graph_enabled": true, "memory_enabled": false})] {
            tenant.api(Method::PATCH, &path, Some(off)).await.expect(200);
            assert_eq!(listed().await, 0);
            for tool in ["graph_query", "graph_neighbors", "graph_path", "graph_ingest", "graph_improve"] {
                // This check comes after scope and allowlist, and before the schema.
                let result = session.call(tool, nonsense.clone()).await.result();
                assert_eq!(result["structuredContent"], json!({"disabled": true}), "{tool}");
                assert!(result.get("isError").is_none_or(|failed| failed == false));
                let key = tenant.key_with(&["memory:read"]).await;
                let message = call(1, tool, nonsense.clone()).to_string();
                let refused = crib.send(crib.http.post(&session.url).bearer_auth(&key).body(message)).await.error();
                assert_eq!(refused["code"], -32003, "{tool}");
                let narrow = tenant.session_with(json!({"tools": ["bricks.list"]})).await;
                assert_eq!(narrow.call(tool, nonsense.clone()).await.error_code(), -32003, "{tool}");
            }
        }
        tenant.api(Method::PATCH, &path, Some(json!({"memory_enabled": true}))).await.expect(200);
        assert_eq!(listed().await, 5);
        assert_eq!(session.call("graph_query", nonsense).await.error_code(), -32602);
        // The plan enables the graph, even if the project's switch is off.
        tenant.api(Method::PATCH, &path, Some(json!({"graph_enabled": false}))).await.expect(200);
        assert_eq!(listed().await, 0);
        crib.api(Method::PATCH, &format!("/api/org/{}", tenant.org), &crib.admin_key, Some(json!({"plan": {"kg_enabled": true}}))).await.expect(200);
        assert_eq!(listed().await, 5);
        // An agent without a project has no project tools.
        let body = json!({"name": "roaming", "scopes": ["*"], "tools": ["graph_query"]});
        let agent = tenant.agent_with(body).await;
        assert_eq!(agent.rpc(&call(1, "graph_query", json!({"query": "q"}))).await.error_code(), -32001);
    }

    async fn recall_returns_related_facts_and_notes_add_facts(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        state(&session, &FACTS).await;
        let note = json!({"content": "`checkout-service` depends on `pricing-service` since the spring"});
        let noted = given(&session, "af_memory_remember", note).await;
        let recall = async |work: &str| {
            let arguments = json!({"query": "what does checkout-service need", "workType": work});
            session.call("af_memory_recall", arguments).await.result()
        };
        let recalled = recall("bug_fix").await;
        let triplets = recalled["structuredContent"]["triplets"].as_array().unwrap().clone();
        let from_note = triplets.iter().find(|triplet| triplet["targetEntity"] == "pricing-service").unwrap();
        assert_eq!(from_note["provenance"]["observationId"], noted["id"]);
        assert!(triplets.iter().any(|triplet| triplet["targetEntity"] == "Redis"), "{triplets:?}");
        assert!(recalled["content"][0]["text"].as_str().unwrap().contains("> checkout-service depends on pricing-service"));
        assert_eq!(recall("chore").await["structuredContent"]["triplets"], json!([]));
        tenant.api(Method::PATCH, &format!("projects/{}", tenant.project), Some(json!({"graph_enabled": false}))).await.expect(200);
        assert_eq!(recall("bug_fix").await["structuredContent"]["triplets"], json!([]));
    }

    async fn memory_and_graph_ignore_a_context(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let session = ours.session().await;
        let context = json!({"organizationId": theirs.org, "projectId": theirs.project, "agentId": "someone else"});
        let calls = [
            ("af_memory_remember", json!({"content": "who am I"})),
            ("af_memory_recall", json!({"query": "who", "workType": "chore"})),
            ("graph_ingest", json!({"triplets": [triplet("a", "b", "c")]})),
            ("graph_query", json!({"query": "a"})),
            ("graph_neighbors", json!({"entity": "a"})),
            ("graph_path", json!({"from": "a", "to": "c"})),
            ("graph_improve", json!({"triplets": [{"source": "a", "relationship": "b", "target": "c"}], "score": 1})),
        ];
        for (tool, mut arguments) in calls {
            for anything in [context.clone(), json!(5)] {
                arguments["context"] = anything;
                session.call(tool, arguments.clone()).await.result();
            }
        }
        let foreign = theirs.session().await;
        assert_eq!(given(&foreign, "graph_query", json!({"query": "a b c"})).await["triplets"], json!([]));
        let around = given(&session, "graph_neighbors", json!({"entity": "a"})).await;
        assert_eq!(around["triplets"][0]["provenance"]["sessionId"], json!(session.id));
        // Other tools refuse a context.
        assert_eq!(session.call("bricks.list", json!({"context": {}})).await.error_code(), -32602);
    }

    async fn graph_is_read_as_of_an_earlier_time(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let session = crib.tenant().await.session().await;
        let owner = |name: &str| {
            let mut fact = triplet("shop", "owned by", name);
            fact["functional"] = json!(true);
            json!({"triplets": [fact]})
        };
        given(&session, "graph_ingest", owner("team red")).await;
        let before = clock.now().rfc3339();
        clock.advance_ms(60_000);
        assert_eq!(given(&session, "graph_ingest", owner("team blue")).await["superseded"], json!(1));
        let targets = |answer: &Value, member: &str| {
            let found = answer[member].as_array().unwrap().iter().map(|triplet| triplet["targetEntity"].as_str().unwrap().to_owned());
            found.collect::<Vec<_>>()
        };
        for (as_of, owner) in [(None, "team blue"), (Some(before), "team red")] {
            let asked = |mut arguments: Value| {
                if let Some(as_of) = &as_of {
                    arguments["asOf"] = json!(as_of);
                }
                arguments
            };
            let found = given(&session, "graph_query", asked(json!({"query": "who owns the shop"}))).await;
            assert_eq!(targets(&found, "triplets"), [owner]);
            let around = given(&session, "graph_neighbors", asked(json!({"entity": "shop"}))).await;
            assert_eq!(targets(&around, "triplets"), [owner]);
            let path = given(&session, "graph_path", asked(json!({"from": "shop", "to": owner}))).await;
            assert_eq!(targets(&path, "path"), [owner]);
        }
        let conflicting = json!({"triplets": [triplet("shop", "runs on", "x"), triplet("shop", "runs on", "y")]});
        let ids = given(&session, "graph_ingest", conflicting).await["tripletIds"].clone();
        let around = given(&session, "graph_neighbors", json!({"entity": "shop", "relationship": "runsOn"})).await;
        let flagged: Vec<&Value> = around["triplets"].as_array().unwrap().iter().map(|triplet| &triplet["conflictsWith"][0]).collect();
        assert_eq!(flagged, [&ids[1], &ids[0]]);
    }

    async fn facts_of_the_past_are_read_as_of_their_time(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let mut past = triplet("shop", "run by", "founders");
        past["validFrom"] = json!("2020-01-01T00:00:00Z");
        past["validTo"] = json!("2021-01-01T00:00:00Z");
        given(&session, "graph_ingest", json!({"triplets": [past, triplet("shop", "sells", "bread")]})).await;
        for (as_of, expected) in [
            (Some("2019-12-31T23:59:59Z"), vec![]),
            (Some("2020-01-01T00:00:00Z"), vec!["founders"]),
            (Some("2020-12-31T23:59:59Z"), vec!["founders"]),
            (Some("2021-01-01T00:00:00Z"), vec![]),
            (Some("2100-01-01T00:00:00Z"), vec!["bread"]),
            (None, vec!["bread"]),
        ] {
            let asked = |mut arguments: Value| {
                if let Some(as_of) = as_of {
                    arguments["asOf"] = json!(as_of);
                }
                arguments
            };
            for (tool, arguments) in [
                ("graph_query", json!({"query": "shop run by founders sells bread"})),
                ("graph_neighbors", json!({"entity": "shop"})),
            ] {
                let answer = given(&session, tool, asked(arguments)).await;
                let targets: Vec<&str> =
                    answer["triplets"].as_array().unwrap().iter().map(|triplet| triplet["targetEntity"].as_str().unwrap()).collect();
                assert_eq!(targets, expected, "{tool} as of {as_of:?}");
            }
            let path = given(&session, "graph_path", asked(json!({"from": "shop", "to": "founders"}))).await;
            assert_eq!(path["found"], json!(expected.contains(&"founders")), "as of {as_of:?}");
        }
    }

    async fn graph_tools_list_their_defaults(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let listed = session.rpc(&request(1, "tools/list", json!({}))).await.result();
        let schema = |tool: &str| {
            let tools = listed["tools"].as_array().unwrap();
            tools.iter().find(|listed| listed["name"] == tool).unwrap()["inputSchema"].clone()
        };
        for (tool, parameter, default) in [
            ("graph_query", "topK", json!(10)),
            ("graph_query", "neighborhoodDepth", json!(2)),
            ("graph_neighbors", "depth", json!(1)),
            ("graph_neighbors", "direction", json!("both")),
            ("graph_neighbors", "limit", json!(50)),
            ("graph_path", "maxDepth", json!(6)),
            ("graph_path", "directed", json!(false)),
            ("graph_path", "weighted", json!(false)),
        ] {
            assert_eq!(schema(tool)["properties"][parameter]["default"], default, "{tool} {parameter}");
        }
        let ingest = schema("graph_ingest").to_string();
        for default in ["\"default\":false", "\"default\":[]"] {
            assert!(ingest.contains(default), "{default} in {ingest}");
        }
    }
}
