//! Edge cases of the server: hosts, roots, file modes, metrics and unknown names.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Crib, Engine, Place, Terminal, both_engines, request};

both_engines! {
    async fn malformed_host_headers_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        for host in ["[::1]evil.test", "[::1]:80@evil.test", "u:p@localhost", "localhost:80x", "localhost:", "localhost/x", "[::1"] {
            let ping = session.builder().header("host", host).body(request(1, "ping", json!({})).to_string());
            assert_eq!(crib.send(ping).await.status, 403, "{host}");
            let api = crib.http.get(format!("{}/api/org/{}", crib.url, tenant.org)).bearer_auth(&tenant.key).header("host", host);
            assert_eq!(crib.send(api).await.status, 403, "{host}");
        }
        let ping = session.builder().header("host", "[::1]:7420").body(request(1, "ping", json!({})).to_string());
        assert_eq!(crib.send(ping).await.status, 200);
    }

    async fn outside_root_gets_the_same_error_whether_it_exists_or_not(engine: Engine) {
        let folder = TempDir::with_prefix("toolcrib-roots-").unwrap();
        let real = folder.path().canonicalize().unwrap();
        for name in ["allowed/code", "outside/there"] {
            fs::create_dir_all(real.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(real.join("outside"), real.join("allowed/link")).unwrap();
        let crib = Crib::start_with(engine, |config| config.allow_roots = vec![real.join("allowed")]).await;
        let tenant = crib.tenant().await;
        let ask = async |path: &str| {
            let path = real.join(path).to_str().unwrap().to_owned();
            let reply = tenant.post("projects", json!({"name": path, "root": path})).await;
            (reply.status, reply.text.replace(&path, "PATH"))
        };
        assert_eq!(ask("allowed/code").await.0, 201);
        let refused = ask("outside/there").await;
        assert!(refused.0 == 400 && refused.1.contains("--allow-root PATH"), "{refused:?}");
        for path in ["outside/missing", "outside", "allowed/link/there", "allowed/link/missing", "allowed/link"] {
            assert_eq!(ask(path).await, refused, "{path}");
        }
    }

    async fn unknown_tool_names_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], &["bricks.list"]).await;
        for name in ["bricks.lst", "vercel_ops.deploy", "a2a_vercel_ops_deploy"] {
            let tools = json!(["bricks_list", name]);
            for refused in [
                tenant.post("sessions", json!({"projectId": tenant.project, "tools": tools})).await,
                tenant.post("agents", json!({"name": "a", "scopes": [], "tools": tools})).await,
                tenant.api(Method::PATCH, &format!("agents/{}", agent.id), Some(json!({"tools": tools}))).await,
            ] {
                assert_eq!(refused.status, 400, "{}", refused.text);
                assert!(refused.text.contains(&format!("`{name}`")), "{}", refused.text);
            }
        }
        for (cedar, name) in [
            (r#"permit (principal, action, resource == Tool::"bricks.lst");"#, "bricks.lst"),
            (r#"forbid (principal, action, resource) when { resource == Tool::"no.such" };"#, "no.such"),
            (r#"permit (principal, action == Action::"bricks.lst", resource);"#, "bricks.lst"),
            (r#"permit (principal, action in [Action::"kits.list", Action::"no.such"], resource);"#, "no.such"),
        ] {
            let refused = tenant.put("policies/p", json!({"cedar": cedar})).await.expect(422);
            assert!(refused["findings"].to_string().contains(name), "{refused}");
            let checked = tenant.post("policy/check", json!({"cedar": cedar})).await.expect(200);
            assert_eq!(checked["findings"], refused["findings"]);
        }
        tenant.put("policies/p", json!({"cedar": r#"permit (principal, action, resource == Tool::"bricks.list");"#})).await.expect(200);
    }

    async fn policy_explain_checks_arguments_like_a_call(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (session, agent) = (tenant.session().await, tenant.agent(&["bricks:read"], &["bricks.list"]).await);
        let ask = async |who: &str, id: &str, tool: &str, arguments: Value| {
            let body = json!({who: id, "tool": tool, "arguments": arguments});
            tenant.post("policy/explain", body).await
        };
        let explained = ask("sessionId", &session.id, "bricks.list", json!({"limit": 5})).await.expect(200);
        assert_eq!((&explained["allowed"], &explained["beforePolicy"]), (&json!(true), &Value::Null));
        for arguments in [json!({"limit": "x"}), json!({"limit": 0}), json!({"no_such": 1})] {
            let called = session.call("bricks.list", arguments.clone()).await.error();
            assert_eq!(called["data"]["kind"], "invalid_params");
            let explained = ask("sessionId", &session.id, "bricks.list", arguments).await.expect(200);
            assert_eq!(explained["allowed"], false, "{explained}");
            assert!(explained["beforePolicy"].is_string(), "{explained}");
        }
        // Memory ignores a `context`, in a call and in an explanation.
        let context = json!({"content": "x", "context": {"org": "another"}});
        assert_eq!(ask("sessionId", &session.id, "af_memory_remember", context).await.expect(200)["allowed"], true);
        // The check order is tool, scope and allowlist, arguments.
        let explained = ask("agentId", &agent.id, "kits.list", json!({"limit": "x"})).await.expect(200);
        assert!(explained["beforePolicy"].as_str().unwrap().contains("scope"), "{explained}");
        assert_eq!(ask("agentId", &agent.id, "no.such", json!({"limit": "x"})).await.status, 404);
    }

    async fn members_do_not_see_webhook_paths(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let made = tenant.post("webhooks", json!({"url": "https://hooks.invalid:8443/T0/secret?k=v"})).await.expect(201);
        let id = made["webhook"]["id"].as_str().unwrap();
        let (list, one) = (format!("/api/org/{}/webhooks", tenant.org), format!("/api/org/{}/webhooks/{id}", tenant.org));
        let (member, owner, admin) = (tenant.person("member").await, tenant.person("owner").await, tenant.person("admin").await);
        let (reader, writer) = (tenant.key_with(&["org:read"]).await, tenant.key_with(&["org:read", "audit:write"]).await);
        for path in [&list, &one] {
            for masked in [member.api(Method::GET, path, None).await, crib.api(Method::GET, path, &reader, None).await] {
                assert_eq!(masked.status, 200);
                assert!(masked.text.contains("\"https://hooks.invalid:8443\"") && !masked.text.contains("secret"), "{}", masked.text);
            }
            for full in [
                owner.api(Method::GET, path, None).await,
                admin.api(Method::GET, path, None).await,
                crib.api(Method::GET, path, &writer, None).await,
                crib.api(Method::GET, path, &crib.admin_key, None).await,
            ] {
                assert!(full.text.contains("https://hooks.invalid:8443/T0/secret?k=v"), "{}", full.text);
            }
        }
    }

    async fn metrics_need_a_local_client_or_the_token(engine: Engine) {
        let get = async |crib: &Crib, headers: &[(&str, &str)]| {
            let mut request = crib.http.get(format!("{}/metrics", crib.url));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            crib.send(request).await
        };
        let crib = Crib::start(engine).await;
        assert_eq!(get(&crib, &[]).await.status, 200);
        for headers in [[("x-forwarded-for", "127.0.0.1")], [("forwarded", "for=203.0.113.9")], [("host", "evil.test")]] {
            let refused = get(&crib, &headers).await;
            assert_eq!(refused.status, 403, "{headers:?}");
            assert!(refused.text.contains("--metrics-token"), "{}", refused.text);
        }
        let proxied = Crib::start_with(engine, |config| config.trust_proxies = vec!["127.0.0.0/8".parse().unwrap()]).await;
        assert_eq!(get(&proxied, &[("x-forwarded-for", "203.0.113.9")]).await.status, 403);
        assert_eq!(get(&proxied, &[("x-forwarded-for", "203.0.113.9, 127.0.0.1")]).await.status, 403);
        assert_eq!(get(&proxied, &[]).await.status, 200);
        let token = "0123456789abcdef";
        let closed = Crib::start_with(engine, |config| config.metrics_token = Some(token.to_owned())).await;
        for headers in [&[][..], &[("authorization", "Bearer 0123456789abcdeg")], &[("authorization", token)]] {
            let refused = get(&closed, headers).await;
            assert_eq!((refused.status, refused.header("www-authenticate").is_some()), (401, true), "{headers:?}");
        }
        let bearer = format!("Bearer {token}");
        let right = get(&closed, &[("authorization", &bearer), ("host", "crib.internal"), ("x-forwarded-for", "203.0.113.9")]).await;
        assert_eq!(right.status, 200, "{}", right.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn open_data_folder_is_closed_or_refused() {
    let crib = Crib::start(Engine::Sqlite).await;
    let folder = crib.stop_and_keep().await;
    let data = folder.path().join("data");
    let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
    for (name, open) in [("", 0o755), ("toolcrib.db", 0o644), ("server.json", 0o644)] {
        fs::set_permissions(data.join(name), Permissions::from_mode(open)).unwrap();
    }
    let crib = Crib::start_in(folder, Engine::Sqlite, |_| ()).await;
    assert_eq!([mode(""), mode("toolcrib.db"), mode("server.json"), mode("master.key")], [0o700, 0o600, 0o600, 0o600]);
    crib.stop().await;

    let place = Place::new(Engine::Sqlite);
    fs::create_dir(place.data()).unwrap();
    fs::write(place.data().join("somebody's"), "").unwrap();
    fs::set_permissions(place.data(), Permissions::from_mode(0o755)).unwrap();
    let said = Terminal::at(&place).run("serve --listen 127.0.0.1:0").await;
    assert!(said.refused(1).contains("chmod 700"), "{said:?}");
}
