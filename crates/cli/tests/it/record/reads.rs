//! Audit entries for reads of agent data and for refused management calls.

use base::{Clock, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use store::Faults;

use crate::menu::{Need, ROUTES, Things};
use crate::support::{Crib, Engine, Reply, Tenant, both_engines, call};

/// The audit entries of a request.
async fn entries_of(tenant: &Tenant<'_>, reply: &Reply) -> Vec<Value> {
    tenant.trail(&format!("requestId={}", reply.header("x-request-id").unwrap())).await
}

both_engines! {
    async fn reads_of_agent_data_are_recorded(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (member, owner) = (tenant.person("member").await, tenant.person("owner").await);
        let things = Things::make(&tenant, "reads").await;
        let mut routes = 0;
        let is_read = |need: Need| matches!(need, Need::Scope("memory:read" | "graph:read" | "code:read"));
        // The state of the index has only counts.
        for row in ROUTES.iter().filter(|row| is_read(row.need) && !row.path.ends_with("/code/index")) {
            let Need::Scope(scope) = row.need else { continue };
            let reader = if scope == "code:read" { &owner } else { &member };
            let reply = reader.api(row.method(), &things.fill(row.path), (row.body)(&things)).await;
            assert_eq!(reply.status, 200, "{} {}: {}", row.method, row.path, reply.text);
            let found = entries_of(&tenant, &reply).await;
            assert_eq!(found.len(), 1, "{} {}: {found:?}", row.method, row.path);
            let what = scope.strip_suffix(":read").unwrap();
            let event = &found[0];
            assert_eq!((&event["eventType"], &event["entityType"]), (&json!("data.read"), &json!(what)), "{event}");
            assert!([&things.project, &tenant.project].iter().any(|project| event["entityId"] == json!(project)), "{event}");
            assert_eq!((&event["actorType"], &event["actorId"]), (&json!("user"), &json!(reader.id)));
            assert_eq!(event["payload"]["route"], format!("{} {}", row.method, row.path));
            routes += 1;
        }
        assert!(routes > 16, "{routes}");
        // A dry run of a merge shows entities, so it is a read.
        let path = format!("projects/{}/graph/entities/{}/merge", things.project, things.entity);
        let dry = tenant.post(&path, json!({"into": things.merged, "dryRun": true})).await;
        dry.expect(200);
        assert_eq!(entries_of(&tenant, &dry).await[0]["eventType"], "data.read", "{}", dry.text);
        // The entry does not hold the words of the query.
        let path = format!("projects/{}/memory/search", tenant.project);
        let asked = tenant.post(&path, json!({"query": "a question in confidence"})).await;
        assert!(!entries_of(&tenant, &asked).await[0].to_string().contains("confidence"));
        // A 404 read nothing, so it has no entry.
        let missing = tenant.get(&format!("projects/{}/memory/obs_{}", tenant.project, "0".repeat(26))).await;
        assert_eq!((missing.status, entries_of(&tenant, &missing).await.len()), (404, 0));
        assert!(tenant.trail("eventType=data.read").await.iter().all(|event| event["workspaceId"] == json!(tenant.org)));
    }

    async fn read_fails_if_it_cannot_be_recorded(engine: Engine) {
        let faults = Faults::on_demand();
        let crib = Crib::start_with(engine, |config| config.faults = faults.clone()).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        session.call("af_memory_remember", json!({"content": "the build needs two cores"})).await.result();
        let path = format!("projects/{}/memory", tenant.project);
        let mut failed = 0;
        for step in 1..=100 {
            faults.fail(step);
            let reply = tenant.get(&path).await;
            let happened = faults.calm();
            let is_recorded = !entries_of(&tenant, &reply).await.is_empty();
            assert_eq!(reply.status == 200, reply.text.contains("two cores"), "{}", reply.text);
            assert!(reply.status != 200 || is_recorded, "step {step}: the read was answered and not recorded");
            failed += u32::from(reply.status != 200);
            if !happened {
                break;
            }
        }
        assert!(failed > 1, "{failed}");
    }

    async fn refused_management_calls_are_recorded(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let (reader, session, owner) = (tenant.key_with(&["org:read"]).await, tenant.session().await, tenant.person("owner").await);
        let writer = tenant.key_with(&["projects:write"]).await;
        let keys = format!("/api/org/{}/keys", tenant.org);
        let body = json!({"name": "k", "projects": "all"});
        let elsewhere = other.trail("").await.len();
        for (reply, route, actor) in [
            (crib.api(Method::POST, &keys, &reader, Some(body.clone())).await, "POST /api/org/{orgId}/keys", "key"),
            (crib.api(Method::GET, "/api/audit", &reader, None).await, "GET /api/audit", "key"),
            (crib.api(Method::GET, &keys, &session.key, None).await, "GET /api/org/{orgId}/keys", "key"),
            (crib.api(Method::GET, "/api/whoami", &session.key, None).await, "GET /api/whoami", "key"),
            (crib.api(Method::GET, "/api/orgs", &writer, None).await, "GET /api/orgs", "key"),
            (crib.send(owner.request(Method::POST, "/api/console/logout")).await, "POST /api/console/logout", "user"),
            (crib.api(Method::POST, "/api/orgs", &tenant.key, Some(json!({"name": "x"}))).await, "POST /api/orgs", "key"),
            (crib.send(owner.request(Method::POST, &keys).json(&body)).await, "POST /api/org/{orgId}/keys", "user"),
            (
                crib.api(Method::POST, &format!("/api/bricks/brk_{}/publish?org={}", "0".repeat(26), tenant.org), &crib.admin_key, None).await,
                "POST /api/bricks/{brickId}/publish",
                "instance_admin",
            ),
        ] {
            assert_eq!(reply.status, 403, "{route}: {}", reply.text);
            let found = entries_of(&tenant, &reply).await;
            assert_eq!(found.len(), 1, "{route}: {found:?}");
            let event = &found[0];
            assert_eq!((&event["eventType"], &event["entityId"]), (&json!("api.forbidden"), &json!(route)), "{event}");
            assert_eq!(event["actorType"], actor, "{event}");
            assert!(!event["payload"]["reason"].as_str().unwrap().is_empty(), "{event}");
        }
        let before = tenant.trail("").await.len();
        assert_eq!(crib.api(Method::GET, &keys, "rsk_live_nonsense", None).await.status, 401);
        assert_eq!(crib.api(Method::GET, &keys, &other.key, None).await.status, 404);
        assert_eq!((tenant.trail("").await.len(), other.trail("").await.len()), (before, elsewhere));
    }

    async fn flood_of_refusals_is_only_counted(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let (reader, session) = (tenant.key_with(&["org:read"]).await, tenant.session().await);
        for _ in 0..25 {
            assert_eq!(crib.api(Method::GET, "/api/audit", &reader, None).await.status, 403);
            let post = crib.http.post(&session.url).bearer_auth(&other.key).json(&call(1, "bricks.list", json!({})));
            assert_eq!(crib.send(post).await.status, 403);
        }
        let count = async |event: &str| tenant.trail(&format!("eventType={event}")).await.len();
        assert_eq!((count("api.forbidden").await, count("door.forbidden").await), (10, 10));
        assert_eq!(count("refusals.counted").await, 0);
        clock.advance_ms(60_000);
        crib.sweep().await;
        let counted = tenant.trail("eventType=refusals.counted").await;
        assert_eq!(counted.iter().map(|event| event["payload"]["count"].as_u64().unwrap()).collect::<Vec<_>>(), [15, 15]);
        assert!(counted.iter().all(|event| event["actorType"] == "key" && event["entityType"] == "key"), "{counted:?}");
        assert_eq!(crib.api(Method::GET, "/api/audit", &reader, None).await.status, 403);
        assert_eq!(count("api.forbidden").await, 11, "a new minute allows new entries");
    }
}
