//! The session door for legacy clients: handshakes, notifications, ids, listing and calling.

use serde_json::{Value, json};

use crate::support::{Crib, Engine, both_engines, call, request};

both_engines! {
    async fn handshake_works_in_every_version(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for (asked, answered) in [
            (json!("2024-11-05"), "2024-11-05"),
            (json!("2025-03-26"), "2025-03-26"),
            (json!("2025-06-18"), "2025-06-18"),
            (json!("2025-11-25"), "2025-11-25"),
            (json!("1999-01-01"), "2025-11-25"),
            (json!("nonsense"), "2025-11-25"),
        ] {
            let params = json!({"protocolVersion": asked, "clientInfo": {"name": "c", "version": "1"}});
            let result = session.rpc(&request(1, "initialize", params)).await.result();
            assert_eq!(result["protocolVersion"], answered);
            assert_eq!(result["serverInfo"], json!({"name": "toolcrib", "version": env!("CARGO_PKG_VERSION")}));
        }
        // The oldest handshake has exactly these members.
        let oldest = session.rpc(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"})).await.result();
        assert_eq!(oldest["protocolVersion"], "2024-11-05");
        assert_eq!(oldest["capabilities"], json!({"tools": {}}));
        let members: Vec<_> = oldest.as_object().unwrap().keys().cloned().collect();
        assert_eq!(members, ["protocolVersion", "capabilities", "serverInfo", "instructions"]);
    }

    async fn initialize_without_an_id_gets_a_null_id(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let reply = session.rpc(&json!({"jsonrpc": "2.0", "method": "initialize"})).await.expect(200);
        assert_eq!(reply["id"], Value::Null);
        assert_eq!(reply["result"]["protocolVersion"], "2024-11-05");
    }

    async fn notifications_and_responses_get_an_empty_202(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for message in [
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
            json!({"jsonrpc": "2.0", "method": "tools/list"}),
            json!({"jsonrpc": "2.0", "id": 4, "result": {}}),
            json!({"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": "m"}}),
        ] {
            let reply = session.rpc(&message).await;
            assert_eq!((reply.status, reply.text.as_str()), (202, ""), "{message}");
            assert!(reply.header("x-request-id").is_some());
        }
    }

    async fn ids_are_returned_verbatim(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for id in ["1", "\"1\"", "0", "-7", "1.0", "1e3", "12345678901234567890123", "\"\\u00e9\"", "\"\""] {
            let reply = session.raw(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).await;
            assert_eq!(reply.status, 200);
            assert_eq!(reply.text, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }

    async fn invalid_messages_get_a_json_rpc_error(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let deep_params = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{deep}}}}}"#);
        for (body, code) in [
            ("", -32700),
            ("{", -32700),
            ("nonsense", -32700),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} trailing", -32700),
            (deep.as_str(), -32700),
            (deep_params.as_str(), -32700),
            ("1", -32600),
            ("null", -32600),
            ("\"text\"", -32600),
            ("{}", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
            (r#"{"id":1,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601),
            (r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, -32601),
        ] {
            let reply = session.raw(body.to_owned()).await;
            assert_eq!(reply.status, 200, "{body:.80}");
            assert_eq!(reply.error_code(), code, "{body:.80}: {}", reply.text);
            assert_eq!(reply.error()["data"]["request_id"], reply.header("x-request-id").unwrap());
        }
        let invalid_utf8 = session.raw(vec![b'{', 0xff, 0xfe, b'}']).await;
        assert_eq!((invalid_utf8.status, invalid_utf8.error_code()), (200, -32700));
    }

    async fn unknown_members_and_headers_are_ignored(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping","extra":[1],"trace":{}}"#;
        for (name, value) in [
            ("accept", "text/html"),
            ("content-type", "text/plain"),
            ("content-type", "application/x-www-form-urlencoded"),
            ("mcp-session-id", "abc"),
            ("cookie", "toolcrib_login=abc"),
        ] {
            let reply = crib.send(session.builder().header(name, value).body(body)).await;
            assert_eq!(reply.text, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "{name}: {value}");
            assert!(reply.header("mcp-session-id").is_none());
        }
    }

    async fn tools_are_listed_with_all_members(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let listed = session.rpc(&request("l", "tools/list", json!({}))).await.result();
        let tools = listed["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        let drafts = ["bricks.create_draft", "bricks.list", "kits.create_draft", "kits.list", "kits.get"];
        let memory = ["af_memory_remember", "af_memory_recall"];
        let graph = ["graph_query", "graph_neighbors", "graph_path", "graph_ingest", "graph_improve"];
        let code = ["write_code", "query_history", "get_context", "record_decision", "get_performance_metrics"];
        assert_eq!(names, [&drafts[..], &memory, &graph, &code].concat());
        for tool in tools {
            for member in ["title", "description", "inputSchema", "outputSchema", "annotations"] {
                assert!(!tool[member].is_null(), "{} has no {member}", tool["name"]);
            }
            assert_eq!(tool["inputSchema"]["type"], "object");
        }
        assert!(listed.get("nextCursor").is_none() && listed.get("resultType").is_none());
        let nowhere = session.rpc(&request(1, "tools/list", json!({"cursor": "nowhere"}))).await;
        assert_eq!(nowhere.error_code(), -32602);
    }

    async fn tool_annotations_match_their_effects(engine: Engine) {
        let crib = Crib::start(engine).await;
        let listed = crib.tenant().await.session().await.rpc(&request(1, "tools/list", json!({}))).await.result();
        let changing = [
            "af_memory_remember", "bricks.create_draft", "graph_improve", "graph_ingest", "kits.create_draft", "record_decision", "write_code",
        ];
        let adds_each_time = ["bricks.create_draft", "kits.create_draft", "record_decision", "write_code"];
        for tool in listed["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let (reads, repeats) = (!changing.contains(&name), !adds_each_time.contains(&name));
            let hints = json!({"readOnlyHint": reads, "destructiveHint": name == "write_code", "idempotentHint": repeats, "openWorldHint": false});
            assert_eq!(tool["annotations"], hints, "{}", tool["name"]);
        }
    }

    async fn safe_names_are_listed_and_both_spellings_work(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session_with(json!({"tool_names": "safe"})).await;
        let listed = session.rpc(&request(1, "tools/list", json!({}))).await.result();
        assert_eq!(listed["tools"][1]["name"], "bricks_list");
        for name in ["bricks_list", "bricks.list"] {
            assert_eq!(session.call(name, json!({})).await.result()["structuredContent"], json!({"bricks": []}));
        }
    }

    async fn other_lists_are_empty_and_small_methods_work(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for (method, params, result) in [
            ("ping", json!({}), json!({})),
            ("resources/list", json!({}), json!({"resources": []})),
            ("resources/templates/list", json!({}), json!({"resourceTemplates": []})),
            ("prompts/list", json!({}), json!({"prompts": []})),
            ("logging/setLevel", json!({"level": "debug"}), json!({})),
            ("resources/subscribe", json!({"uri": "a:b"}), json!({})),
            ("resources/unsubscribe", json!({"uri": "a:b"}), json!({})),
        ] {
            assert_eq!(session.rpc(&request(1, method, params)).await.result(), result, "{method}");
        }
        for (method, params) in [
            ("resources/read", json!({"uri": "a:b"})),
            ("prompts/get", json!({"name": "p"})),
            ("logging/setLevel", json!({"level": "loud"})),
            ("completion/complete", json!({})),
        ] {
            assert_eq!(session.rpc(&request(1, method, params)).await.error_code(), -32602, "{method}");
        }
    }

    async fn bad_calls_name_the_problem(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for (message, code, parameter) in [
            (request(1, "tools/call", json!({})), -32602, Some("name")),
            (request(1, "tools/call", json!({"name": 5})), -32602, Some("name")),
            (request(1, "tools/call", json!({"name": "no_such_tool"})), -32601, None),
            (request(1, "tools/call", json!({"name": "bricks.list", "arguments": []})), -32602, Some("arguments")),
            (call(1, "bricks.list", json!({"limit": 0})), -32602, Some("limit")),
            (call(1, "bricks.list", json!({"limit": 101})), -32602, Some("limit")),
            (call(1, "bricks.list", json!({"limit": "20"})), -32602, Some("limit")),
            (call(1, "bricks.list", json!({"status": "lost"})), -32602, Some("status")),
            (call(1, "bricks.list", json!({"workspace_id": "org_1"})), -32602, Some("workspace_id")),
            (call(1, "bricks.create_draft", json!({"name": "n", "type": "boolean"})), -32602, Some("evaluation_prompt")),
            (call(1, "kits.get", json!({"kit_id": "kit_unknown"})), -32602, Some("kit_id")),
            (call(1, "kits.get", json!({"kit_id": "a\0b"})), -32602, Some("kit_id")),
            (call(1, "af_memory_remember", json!({"content": "  "})), -32602, Some("content")),
            (call(1, "graph_improve", json!({"triplets": ["tri_1"], "outcome": "accepted", "score": 1})), -32602, Some("outcome")),
            (call(1, "graph_neighbors", json!({"entity": "nobody"})), -32602, Some("entity")),
        ] {
            let error = session.rpc(&message).await.error();
            if let (Some(parameter), Some(tool)) = (parameter, message["params"]["name"].as_str()) {
                assert_eq!(error["data"]["tool"], tool, "{message}: {error}");
                let violation = &error["data"]["violations"][0];
                let expected = (&json!(parameter), &error["message"]);
                assert_eq!((&violation["parameter"], &violation["message"]), expected, "{message}: {error}");
                assert!(error["data"]["details"].as_str().unwrap().starts_with(error["message"].as_str().unwrap()), "{error}");
            }
            assert_eq!(error["code"], code, "{message}: {error}");
            assert_eq!(error["data"]["parameter"].as_str(), parameter, "{message}: {error}");
            assert!(error["data"]["kind"].is_string() && error["data"]["retryable"] == false, "{error}");
        }
        // In JSON, these are the integers one and ten.
        for body in [r#"{"limit": 1.0}"#, r#"{"limit": 1e1}"#] {
            let message = format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "bricks.list", "arguments": {body}}}}}"#);
            session.raw(message).await.result();
        }
    }
}
