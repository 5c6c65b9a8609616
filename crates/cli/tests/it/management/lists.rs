//! Lists page by `limit` and `cursor`, newest first, every row once.

use reqwest::Method;
use serde_json::{Value, json};

use super::{refused, text};
use crate::menu::Things;
use crate::support::{Crib, Engine, both_engines};

/// Every list: its path, the member with the rows, and the member with their ids.
const LISTS: &[(&str, &str, &str)] = &[
    ("/api/orgs", "orgs", "id"),
    ("/api/org/{orgId}/projects", "projects", "id"),
    ("/api/org/{orgId}/keys", "keys", "id"),
    ("/api/org/{orgId}/sessions", "sessions", "sessionId"),
    ("/api/org/{orgId}/agents", "agents", "agent_id"),
    ("/api/org/{orgId}/users", "users", "id"),
    ("/api/bricks", "bricks", "brick_id"),
    ("/api/kits", "kits", "kit_id"),
    ("/api/audit", "events", "id"),
    ("/api/org/{orgId}/webhooks", "webhooks", "id"),
    ("/api/org/{orgId}/tasks", "tasks", "requestId"),
];

#[test]
fn every_list_route_is_tested() {
    let lists = crate::menu::lists();
    let mut known: Vec<_> = LISTS.iter().map(|(path, _, _)| *path).collect();
    let mut served: Vec<_> = lists.map(|row| row.path).collect();
    known.sort_unstable();
    served.sort_unstable();
    assert_eq!(served, known);
}

both_engines! {
    async fn pages_hold_every_row_once_newest_first(engine: Engine) {
        // Rows of the same millisecond differ only in their ids.
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        for number in 0..4 {
            Things::make(&tenant, &format!("number{number}")).await;
            crib.tenant().await;
            clock.advance_ms(number / 2);
        }
        for (path, noun, id) in LISTS {
            let path = path.replace("{orgId}", &tenant.org);
            let key = if *noun == "orgs" { &crib.admin_key } else { &tenant.key };
            let page = async |query: &str| crib.api(Method::GET, &format!("{path}?{query}"), key, None).await;
            let whole = page("limit=200").await.expect(200);
            let all: Vec<_> = whole[noun].as_array().unwrap().iter().map(|row| text(&row[id])).collect();
            assert!(all.len() >= 4 && whole["nextCursor"].is_null(), "{path}: {whole}");
            let created: Vec<_> = whole[noun]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| text(["createdAt", "created_at", "occurredAt", "endedAt"].iter().find_map(|name| row.get(name)).unwrap()))
                .collect();
            assert!(created.is_sorted_by(|newer, older| newer >= older), "{path}: {created:?}");
            for limit in [1, 2, 3] {
                let (mut seen, mut cursor) = (Vec::new(), String::new());
                loop {
                    let found = page(&format!("limit={limit}{cursor}")).await.expect(200);
                    let rows = found[noun].as_array().unwrap();
                    assert!(rows.len() <= limit, "{path}");
                    seen.extend(rows.iter().map(|row| text(&row[id])));
                    match found["nextCursor"].as_str() {
                        Some(next) => cursor = format!("&cursor={next}"),
                        None => break,
                    }
                    assert_eq!(rows.len(), limit, "{path}: every page but the last is full");
                }
                assert_eq!(seen, all, "{path} by {limit}");
            }
            for bad in [
                "limit=0",
                "limit=201",
                "limit=-1",
                "limit=x",
                "limit=",
                "limit=1&limit=2",
                "cursor=",
                "cursor=nonsense",
                "page=2",
                "offset=1",
            ] {
                refused(&page(bad).await, 400, "invalid_params");
            }
            // A cursor is a position, not a row, so it may name a row that never existed.
            let nowhere = page("cursor=0000000000000001-x").await.expect(200);
            assert_eq!(nowhere, json!({*noun: [], "nextCursor": null}), "{path}");
        }
    }

    async fn key_for_some_projects_lists_only_their_rows(engine: Engine) {
        let crib = Crib::start(engine).await;
        let mut tenant = crib.tenant().await;
        let (mut covered, mut sessions, mut agents) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..6 {
            let made = tenant.post("projects", json!({"name": format!("project {number}")})).await.expect(201);
            tenant.project = text(&made["project"]["id"]);
            let session = tenant.session().await;
            let agent = json!({"name": "a", "projectId": tenant.project, "scopes": [], "tools": []});
            let agent = text(&tenant.post("agents", agent).await.expect(201)["agent_id"]);
            if number % 3 == 0 {
                covered.insert(0, tenant.project.clone());
                sessions.insert(0, session.id);
                agents.insert(0, agent);
            }
        }
        tenant.post("agents", json!({"name": "of no project", "scopes": [], "tools": []})).await.expect(201);
        let mint = async |projects: Value| tenant.post("keys", json!({"name": "k", "projects": projects})).await.expect(201);
        let minted = mint(json!(covered)).await;
        let key = text(&minted["key"]["fullKey"]);
        let mut keys = vec![text(&minted["key"]["id"])];
        for projects in [json!("all"), json!([tenant.project]), json!([]), json!([covered[0], tenant.project]), json!([covered[1]])] {
            let made = mint(projects.clone()).await;
            if projects == json!([]) || projects == json!([covered[1]]) {
                keys.insert(0, text(&made["key"]["id"]));
            }
        }
        let lists =
            [("projects", "id", &covered), ("sessions", "sessionId", &sessions), ("agents", "agent_id", &agents), ("keys", "id", &keys)];
        for (noun, id, expected) in lists {
            for limit in [1, 2, 200] {
                let (mut seen, mut cursor) = (Vec::new(), String::new());
                loop {
                    let path = format!("/api/org/{}/{noun}?limit={limit}{cursor}", tenant.org);
                    let found = crib.api(Method::GET, &path, &key, None).await.expect(200);
                    let rows = found[noun].as_array().unwrap();
                    seen.extend(rows.iter().map(|row| text(&row[id])));
                    match found["nextCursor"].as_str() {
                        Some(next) => cursor = format!("&cursor={next}"),
                        None => break,
                    }
                    assert_eq!(rows.len(), limit, "{noun}: every page but the last is full");
                }
                assert_eq!(&seen, expected, "{noun} by {limit}");
            }
        }
    }
}
