//! Requests of the 2026-07-28 revision.

use serde_json::json;

use crate::support::{Crib, Engine, both_engines, modern, request};

both_engines! {
    async fn discover_returns_versions_and_capabilities(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let result = session.modern(&modern(1, "server/discover", json!({}))).await.result();
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!(result["cacheScope"], "private");
        assert!(result["ttlMs"].is_u64() && result["capabilities"]["tools"].is_object());
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolcrib");
    }

    async fn lists_and_calls_carry_the_modern_members(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let listed = session.modern(&modern(1, "tools/list", json!({}))).await.result();
        assert_eq!((listed["resultType"].as_str(), listed["cacheScope"].as_str()), (Some("complete"), Some("private")));
        let called = session.modern(&modern(1, "tools/call", json!({"name": "bricks.list", "arguments": {}}))).await.result();
        assert_eq!(called["resultType"], "complete");
        assert_eq!(called["structuredContent"], json!({"bricks": []}));
        assert!(called.get("ttlMs").is_none());
    }

    async fn errors_have_the_right_status_and_code(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        for (message, status, code) in [
            (modern(1, "no/such", json!({})), 404, -32601),
            (modern(1, "initialize", json!({})), 404, -32601),
            (modern(1, "ping", json!({})), 404, -32601),
            (modern(1, "tools/call", json!({"name": "no_such_tool"})), 200, -32602),
            (request(1, "tools/list", json!({})), 400, -32602),
            // The headers alone make a request modern. An unknown method gets 404 before other errors.
            (request(1, "initialize", json!({})), 404, -32601),
            (request(1, "ping", json!({})), 404, -32601),
            (request(1, "no/such", json!({})), 404, -32601),
        ] {
            let reply = session.modern(&message).await;
            assert_eq!((reply.status, reply.error_code()), (status, code), "{message}: {}", reply.text);
        }
        // A call without a tool name is refused and recorded.
        let nameless = modern(1, "tools/call", json!({"arguments": {}}));
        let refused = session.modern(&nameless).await;
        assert_eq!((refused.error_code(), &refused.error()["data"]["parameter"]), (-32602, &json!("name")), "{}", refused.text);
        let entries = tenant.trail(&format!("requestId={}", refused.header("x-request-id").unwrap())).await;
        assert_eq!(entries.iter().map(|event| event["eventType"].as_str().unwrap()).collect::<Vec<_>>(), ["call.refused"]);
        let batch = crib
            .send(session.builder().header("mcp-protocol-version", "2026-07-28").body(json!([modern(1, "tools/list", json!({}))]).to_string()))
            .await;
        assert_eq!((batch.status, batch.error_code()), (400, -32600));
        let unmarked_batch = session.rpc(&json!([modern(1, "tools/list", json!({}))])).await;
        assert_eq!((unmarked_batch.status, unmarked_batch.error_code()), (400, -32600));
    }

    async fn headers_must_match_the_body(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let body = modern(1, "tools/call", json!({"name": "bricks.list", "arguments": {}})).to_string();
        let good = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "bricks.list")];
        let send = async |headers: &[(&str, &str)]| {
            let mut builder = session.builder();
            for (name, value) in headers {
                builder = builder.header(*name, *value);
            }
            crib.send(builder.body(body.clone())).await
        };
        assert_eq!(send(&good).await.status, 200);
        let encoded = [good[0], good[1], ("mcp-name", "=?base64?YnJpY2tzLmxpc3Q=?=")];
        assert_eq!(send(&encoded).await.status, 200);
        for index in 0..good.len() {
            let mut missing = good.to_vec();
            missing.remove(index);
            let mut wrong = good.to_vec();
            wrong[index].1 = "wrong";
            for headers in [missing, wrong] {
                let reply = send(&headers).await;
                assert_eq!((reply.status, reply.error_code()), (400, -32020), "{headers:?}: {}", reply.text);
            }
        }
    }

    async fn unknown_version_gets_the_supported_versions(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let mut message = modern(1, "tools/list", json!({}));
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
        let builder = session.builder().header("mcp-protocol-version", "2030-01-01").header("mcp-method", "tools/list");
        let reply = crib.send(builder.body(message.to_string())).await;
        assert_eq!((reply.status, reply.error_code()), (400, -32022));
        let data = &reply.error()["data"];
        assert_eq!((data["supported"].clone(), data["requested"].clone()), (json!(["2026-07-28"]), json!("2030-01-01")));
    }
}

both_engines! {
    async fn malformed_version_is_refused_with_400(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for version in ["1.0", "latest", "2026-7-28", "v2025-11-25"] {
            let post = session.builder().header("mcp-protocol-version", version);
            let reply = crib.send(post.body(request(1, "ping", json!({})).to_string())).await;
            assert_eq!((reply.status, reply.error_code()), (400, -32022), "{version}: {}", reply.text);
            assert_eq!(reply.error()["data"]["requested"], version);
        }
    }
}
