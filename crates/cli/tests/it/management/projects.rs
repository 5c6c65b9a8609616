//! Projects and their roots.

use std::os::unix::fs::symlink;

use reqwest::Method;
use serde_json::json;

use super::{members, refused, text};
use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn project_has_a_name_and_switches(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let made = tenant.post("projects", json!({"name": " second "})).await.expect(201);
        let project = &made["project"];
        let expected = ["createdAt", "graph_enabled", "id", "memory_enabled", "name", "orgId", "root", "updatedAt"];
        assert_eq!(members(project), expected);
        assert_eq!((&project["name"], &project["orgId"], &project["root"]), (&json!("second"), &json!(tenant.org), &json!(null)));
        assert_eq!((&project["memory_enabled"], &project["graph_enabled"]), (&json!(true), &json!(false)));
        let path = format!("projects/{}", text(&project["id"]));
        assert_eq!(tenant.get(&path).await.expect(200), made);

        let changed =
            tenant.api(Method::PATCH, &path, Some(json!({"memory_enabled": false, "graph_enabled": true}))).await.expect(200);
        assert_eq!((&changed["project"]["memory_enabled"], &changed["project"]["graph_enabled"]), (&json!(false), &json!(true)));
        assert_eq!(tenant.get(&path).await.expect(200), changed);
        refused(&tenant.post("projects", json!({"name": "second"})).await, 409, "conflict");
        refused(&tenant.api(Method::PATCH, &path, Some(json!({"name": "first"}))).await, 409, "conflict");
        let renamed = tenant.api(Method::PATCH, &path, Some(json!({"name": "second"}))).await.expect(200);
        assert_eq!(renamed["project"]["name"], "second", "a project may keep its name");
        for bad in
            [json!({}), json!({"name": ""}), json!({"name": "x", "id": "prj_1"}), json!({"name": "x", "memory_enabled": 1})]
        {
            refused(&tenant.post("projects", bad).await, 400, "invalid_params");
        }
        for bad in [json!({"name": null}), json!({"memory_enabled": null}), json!({"orgId": "x"})] {
            refused(&tenant.api(Method::PATCH, &path, Some(bad)).await, 400, "invalid_params");
        }
        refused(&tenant.get("projects/prj_00000000000000000000000000").await, 404, "not_found");
        refused(&tenant.get("projects/nonsense").await, 404, "not_found");
    }

    async fn root_is_a_directory_outside_the_data_folder(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let folder = crib.folder.path().canonicalize().unwrap();
        let (code, data) = (folder.join("code"), folder.join("data"));
        std::fs::create_dir(&code).unwrap();
        std::fs::create_dir(data.join("inner")).unwrap();
        std::fs::write(folder.join("file"), "").unwrap();
        symlink(&code, folder.join("to-code")).unwrap();
        symlink(&data, folder.join("to-data")).unwrap();
        let shown = |name: &str| folder.join(name).display().to_string();
        for (number, root) in ["code", "to-code", "code/../code/."].into_iter().enumerate() {
            let body = json!({"name": format!("good {number}"), "root": shown(root)});
            let made = tenant.post("projects", body).await.expect(201);
            assert_eq!(made["project"]["root"], json!(code), "{root} is resolved");
        }
        let bad = ["data", "data/inner", "to-data", "to-data/inner", "missing", "file"].map(shown);
        let bad = bad.iter().map(String::as_str).chain(["code", "", "./code", "/a\0b"]);
        for root in bad {
            refused(&tenant.post("projects", json!({"name": "bad", "root": root})).await, 400, "invalid_params");
        }
        let made = tenant.post("projects", json!({"name": "bad", "root": null})).await.expect(201);
        let path = format!("projects/{}", text(&made["project"]["id"]));
        refused(&tenant.api(Method::PATCH, &path, Some(json!({"root": shown("data")}))).await, 400, "invalid_params");
        let set = tenant.api(Method::PATCH, &path, Some(json!({"root": shown("code")}))).await.expect(200);
        assert_eq!(set["project"]["root"], json!(code));
        let kept = tenant.api(Method::PATCH, &path, Some(json!({"graph_enabled": true}))).await.expect(200);
        assert_eq!(kept["project"]["root"], json!(code));
        let cleared = tenant.api(Method::PATCH, &path, Some(json!({"root": null}))).await.expect(200);
        assert_eq!(cleared["project"]["root"], json!(null));
    }

    async fn roots_must_be_inside_the_allowed_folders(engine: Engine) {
        let elsewhere = tempfile::TempDir::with_prefix("toolcrib-roots-").unwrap();
        let base = elsewhere.path().canonicalize().unwrap();
        for name in ["allowed", "allowed/inner", "allowed-not", "outside"] {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        symlink(base.join("outside"), base.join("allowed/way-out")).unwrap();
        symlink(base.join("allowed"), base.join("way-in")).unwrap();
        let crib = Crib::start_with(engine, |config| config.allow_roots = vec![base.join("way-in")]).await;
        let tenant = crib.tenant().await;
        let make = async |name: &str| tenant.post("projects", json!({"name": name, "root": base.join(name)})).await;
        for good in ["allowed", "allowed/inner", "way-in/inner"] {
            make(good).await.expect(201);
        }
        for bad in ["allowed-not", "outside", "allowed/way-out", "allowed/../outside"] {
            let reply = make(bad).await;
            refused(&reply, 400, "invalid_params");
            assert!(reply.text.contains("--allow-root"), "the error must name the flag: {}", reply.text);
        }
    }

    async fn key_for_some_projects_sees_only_those(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let other = text(&tenant.post("projects", json!({"name": "other"})).await.expect(201)["project"]["id"]);
        let narrow = tenant.post("keys", json!({"name": "narrow", "projects": [other]})).await.expect(201);
        let narrow = text(&narrow["key"]["fullKey"]);
        let api = async |method: Method, path: &str, body| {
            crib.api(method, &format!("/api/org/{}/{path}", tenant.org), &narrow, body).await
        };
        let listed = api(Method::GET, "projects", None).await.expect(200);
        assert_eq!(listed["projects"].as_array().unwrap().len(), 1);
        assert_eq!(listed["projects"][0]["id"], json!(other));
        api(Method::GET, &format!("projects/{other}"), None).await.expect(200);
        refused(&api(Method::GET, &format!("projects/{}", tenant.project), None).await, 403, "not_permitted");
        refused(&api(Method::PATCH, &format!("projects/{}", tenant.project), Some(json!({}))).await, 403, "not_permitted");
        refused(&api(Method::POST, "projects", Some(json!({"name": "new"}))).await, 403, "not_permitted");
        refused(&api(Method::POST, "sessions", Some(json!({"projectId": tenant.project}))).await, 403, "not_permitted");
        let session = tenant.session().await;
        refused(&api(Method::GET, &format!("sessions/{}", session.id), None).await, 403, "not_permitted");
        refused(&api(Method::POST, &format!("sessions/{}/end", session.id), None).await, 403, "not_permitted");
        assert_eq!(api(Method::GET, "sessions", None).await.expect(200)["sessions"], json!([]));
        let agent = tenant.post("agents", json!({"name": "of no project", "scopes": [], "tools": []})).await.expect(201);
        refused(&api(Method::GET, &format!("agents/{}", text(&agent["agent_id"])), None).await, 403, "not_permitted");
        let user = json!({"email": "ann@example.com", "role": "member", "password": "correct horse battery"});
        let user = text(&tenant.post("users", user).await.expect(201)["user"]["id"]);
        for path in ["users".to_owned(), format!("users/{user}"), "users/usr_00000000000000000000000000".to_owned()] {
            refused(&api(Method::GET, &path, None).await, 403, "not_permitted");
        }
        // Another org's project gets the same answer as an unknown one, whatever the key covers.
        let theirs = crib.tenant().await.project;
        for project in [theirs.as_str(), "prj_00000000000000000000000000"] {
            refused(&api(Method::POST, "sessions", Some(json!({"projectId": project}))).await, 404, "not_found");
            let agent = json!({"name": "a", "projectId": project, "scopes": [], "tools": []});
            refused(&api(Method::POST, "agents", Some(agent)).await, 404, "not_found");
            let key = json!({"name": "k", "projects": [other, project]});
            refused(&api(Method::POST, "keys", Some(key)).await, 404, "not_found");
        }
        api(Method::POST, "sessions", Some(json!({"projectId": other}))).await.expect(201);
        assert_eq!(api(Method::GET, "sessions", None).await.expect(200)["sessions"].as_array().unwrap().len(), 1);
    }
}
