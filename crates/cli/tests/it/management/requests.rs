//! Rules for every request: ids, methods, bodies, hosts, and the paths outside the API.

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{members, refused};
use crate::menu::{Need, ROUTES, Things};
use crate::support::{Crib, Engine, Reply, both_engines};

#[track_caller]
fn check_id(what: &str, reply: &Reply) {
    let id = reply.header("x-request-id").unwrap_or_else(|| panic!("{what} has no x-request-id"));
    assert!(id.starts_with("req_") && id.len() == 30, "{what}: {id}");
}

/// A simple client that writes everything before it reads.
async fn send_all_then_read(crib: &Crib, head: &str, body: &[u8]) -> String {
    let mut stream = tokio::net::TcpStream::connect(crib.url.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    if head.contains("chunked") {
        stream.write_all(format!("{:x}\r\n", body.len()).as_bytes()).await.expect("the server reads to the end");
    }
    stream.write_all(body).await.expect("the server reads to the end");
    if head.contains("chunked") {
        stream.write_all(b"\r\n0\r\n\r\n").await.expect("the server reads to the end");
    }
    let mut answer = vec![0; 1_024];
    let bytes = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..bytes]).into_owned()
}

both_engines! {
    async fn every_answer_has_a_unique_request_id(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let things = Things::make(&tenant, "things").await;
        let mut ids = std::collections::BTreeSet::new();
        for row in ROUTES {
            for key in [tenant.key.as_str(), "nonsense"] {
                let request = crib.http.request(row.method(), format!("{}{}", crib.url, things.fill(row.path))).bearer_auth(key);
                // The server ignores an id from the client.
                let reply = crib.send(request.header("x-request-id", "req_mine").body("{")).await;
                check_id(row.path, &reply);
                assert!(ids.insert(reply.header("x-request-id").unwrap().to_owned()), "{}", row.path);
                if row.path.starts_with("/api/") {
                    assert_eq!(reply.header("cache-control"), Some("no-store"), "{}", row.path);
                }
                assert!(reply.status < 500, "{} {}: {}", row.method, row.path, reply.text);
            }
        }
    }

    async fn wrong_method_gets_405_with_the_allowed_methods(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let things = Things::make(&tenant, "things").await;
        for path in ROUTES.iter().map(|row| row.path) {
            let has: Vec<_> = ROUTES.iter().filter(|row| row.path == path).map(|row| row.method).collect();
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE"].into_iter().filter(|method| !has.contains(method)) {
                let reply = crib.api(method.parse().unwrap(), &things.fill(path), &tenant.key, None).await;
                refused(&reply, 405, "method_not_allowed");
                let allow = reply.header("allow").unwrap_or_else(|| panic!("{method} {path}"));
                let allow: Vec<_> = allow.split(',').map(str::trim).collect();
                assert!(
                    has.iter().all(|method| allow.contains(method)) && !allow.contains(&method),
                    "{method} {path}: {allow:?}"
                );
                check_id(path, &reply);
            }
        }
    }

    async fn body_must_be_a_json_object_with_known_members(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.login_failures_per_minute = 10_000).await;
        let tenant = crib.tenant().await;
        let owner = tenant.person("owner").await;
        let things = Things::make(&tenant, "things").await;
        let mut tried = 0;
        for row in ROUTES.iter().filter(|row| (row.body)(&things).is_some()) {
            let url = format!("{}{}", crib.url, things.fill(row.path));
            let send = async |body: String| {
                let request = match row.need {
                    Need::Human | Need::Owner => owner.request(row.method(), &things.fill(row.path)).header("x-csrf-token", &owner.csrf),
                    Need::InstanceAdmin => crib.http.request(row.method(), &url).bearer_auth(&crib.admin_key),
                    _ => crib.http.request(row.method(), &url).bearer_auth(&tenant.key),
                };
                crib.send(request.body(body)).await
            };
            let mut unknown = (row.body)(&things).unwrap();
            unknown["no_such_member"] = json!(1);
            let twice = format!("{{\"name\": 1, {}", &(row.body)(&things).unwrap().to_string()[1..]);
            let deep = format!("{{\"name\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
            for bad in ["{", "[]", "[1]", "1", "\"x\"", "{} {}", "\u{feff}{}", "nonsense", &unknown.to_string(), &twice, &deep] {
                let reply = send(bad.to_owned()).await;
                assert_eq!(reply.status, 400, "{} {} {bad:.60}: {}", row.method, row.path, reply.text);
                refused(&reply, 400, "invalid_params");
                tried += 1;
            }
        }
        assert!(tried > 100, "{tried}");
        // The content type does not matter, as at the doors.
        for kind in ["text/plain", "application/x-www-form-urlencoded", "nonsense"] {
            let request = crib.http.post(format!("{}/api/org/{}/projects", crib.url, tenant.org)).bearer_auth(&tenant.key);
            let name = json!({"name": kind}).to_string();
            crib.send(request.header("content-type", kind).body(name)).await.expect(201);
        }
    }

    async fn oversized_body_is_refused_after_the_credential_check(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.body_bytes_max = 20_000).await;
        let tenant = crib.tenant().await;
        let big = json!({"name": "x".repeat(30_000)}).to_string();
        let url = format!("{}/api/org/{}/projects", crib.url, tenant.org);
        let post = |key: &str| crib.http.post(&url).bearer_auth(key).body(big.clone());
        refused(&crib.send(post(&tenant.key)).await, 413, "too_large");
        refused(&crib.send(post("nonsense")).await, 401, "unauthorized");
        // Unauthenticated routes have a lower limit.
        let login = json!({"email": "a@b.example", "password": "x".repeat(17_000)}).to_string();
        refused(&crib.send(crib.http.post(format!("{}/api/console/login", crib.url)).body(login)).await, 413, "too_large");
    }

    async fn client_that_sends_too_much_still_gets_the_error(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.body_bytes_max = 100_000).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let (door, projects) = (format!("/api/mcp/{}", session.id), format!("/api/org/{}/projects", tenant.org));
        // The body is larger than the kernel's buffers.
        let body = vec![b' '; 12 * 1024 * 1024];
        for (method, path, key, status) in [
            ("POST", door.as_str(), session.key.as_str(), 413),
            ("POST", &door, "nonsense", 401),
            ("PUT", &door, &session.key, 405),
            ("POST", "/api/mcp/ses_00000000000000000000000000", &tenant.key, 404),
            ("POST", &projects, &tenant.key, 413),
            ("POST", &projects, "nonsense", 401),
            ("POST", "/api/nothing", "nonsense", 404),
            ("POST", "/api/console/login", "nonsense", 413),
        ] {
            for length in ["content-length: 12582912", "transfer-encoding: chunked"] {
                let head =
                    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n{length}\r\n\r\n");
                let answer = send_all_then_read(&crib, &head, &body).await;
                assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path} {length}: {answer}");
            }
        }
        // With `expect: 100-continue`, the refusal comes before the body.
        let head = format!(
            "POST {projects} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer nonsense\r\nexpect: 100-continue\r\n\
             content-length: 12582912\r\n\r\n"
        );
        let answer = send_all_then_read(&crib, &head, &[]).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }

    async fn foreign_host_or_origin_is_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for (name, value, status) in [
            ("host", "evil.example", 403),
            ("origin", "http://evil.example", 403),
            ("origin", "null", 403),
            ("origin", "http://localhost:5173", 200),
        ] {
            let request = crib.http.get(format!("{}/api/bricks", crib.url)).bearer_auth(&tenant.key).header(name, value);
            assert_eq!(crib.send(request).await.status, status, "{name}: {value}");
        }
        // Load balancer probes send any host name.
        let probe = crib.http.get(format!("{}/healthz", crib.url)).header("host", "10.0.0.1");
        crib.send(probe).await.expect(200);
    }

    async fn unknown_paths_get_a_json_404(engine: Engine) {
        let crib = Crib::start(engine).await;
        for path in [
            "/",
            "/nothing",
            "/api",
            "/api/",
            "/api/nothing",
            "/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server/api/mcp",
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/api/mcp/ses_1",
            "/.well-known/openid-configuration",
        ] {
            for method in [Method::GET, Method::POST] {
                let reply = crib.send(crib.http.request(method, format!("{}{path}", crib.url))).await;
                refused(&reply, 404, "not_found");
                assert_eq!(reply.header("content-type"), Some("application/json"));
                check_id(path, &reply);
            }
        }
    }

    async fn health_and_metrics_need_no_key(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        session.call("bricks.list", json!({})).await.result();
        session.call("bricks.list", json!({"limit": 0})).await.error();
        session.call("no_such_tool_of_mine", json!({})).await.error();
        let get = async |path: &str| crib.send(crib.http.get(format!("{}{path}", crib.url))).await;
        assert_eq!(get("/healthz").await.expect(200), json!({"status": "alive"}));
        assert_eq!(get("/readyz").await.expect(200), json!({"status": "ready"}));
        get("/api/bricks").await.expect(401);
        let figures = get("/metrics").await;
        assert!(figures.header("content-type").unwrap().starts_with("application/openmetrics-text"));
        for line in [
            "toolcrib_calls_total{tool=\"bricks.list\",door=\"session\",outcome=\"completed\"} 1",
            "toolcrib_calls_total{tool=\"bricks.list\",door=\"session\",outcome=\"refused\"} 1",
            "toolcrib_calls_total{tool=\"unknown\",door=\"session\",outcome=\"refused\"} 1",
            "toolcrib_door_refusals_total{door=\"api\",status=\"401\"} 1",
            "# EOF",
        ] {
            assert!(figures.text.lines().any(|found| found == line), "{line} is not in {}", figures.text);
        }
        assert!(!figures.text.contains("no_such_tool_of_mine"), "a caller's text must not become a label");
        let document = get("/api/openapi.json").await.expect(200);
        assert_eq!(document, serde_json::to_value(server::openapi()).unwrap());
        assert!(members(&document).contains(&"paths"));
    }
}
