//! The users of an org, and who may manage them.

use reqwest::Method;
use serde_json::{Value, json};

use super::{members, refused, text};
use crate::support::{Crib, Engine, both_engines};

const PASSWORD: &str = "correct horse battery";

fn person(email: &str, role: &str) -> Value {
    json!({"email": email, "role": role, "password": PASSWORD})
}

both_engines! {
    async fn email_address_is_unique(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let added = ours.post("users", person("Ann@Example.com", "member")).await.expect(201);
        let user = &added["user"];
        assert_eq!(members(user), ["createdAt", "disabled", "email", "id", "orgId", "role"]);
        assert_eq!(
            (&user["email"], &user["role"], &user["disabled"]),
            (&json!("ann@example.com"), &json!("member"), &json!(false))
        );
        assert_eq!(user["orgId"], json!(ours.org));
        let path = format!("users/{}", text(&user["id"]));
        assert_eq!(ours.get(&path).await.expect(200), added);
        assert_eq!(ours.get("users").await.expect(200), json!({"users": [user], "nextCursor": null}));
        for tenant in [&ours, &theirs] {
            refused(&tenant.post("users", person("ANN@example.com", "member")).await, 409, "conflict");
        }
        for bad in [
            json!({"email": "a@b.example", "role": "member"}),
            json!({"email": "a@b.example", "password": PASSWORD}),
            person("nobody", "member"),
            person("a b@c.example", "member"),
            person("a@b.example", "king"),
            json!({"email": "a@b.example", "role": "member", "password": "elevenchars"}),
            json!({"email": "a@b.example", "role": "member", "password": "x".repeat(1_001)}),
            json!({"email": "a@b.example", "role": "member", "password": PASSWORD, "orgId": theirs.org}),
        ] {
            refused(&ours.post("users", bad).await, 400, "invalid_params");
        }
        let removed = ours.api(Method::DELETE, &path, None).await.expect(200);
        assert_eq!(removed, json!({"user": user, "mintedRevoked": 0, "minted": []}));
        refused(&ours.get(&path).await, 404, "not_found");
        theirs.post("users", person("ann@example.com", "member")).await.expect(201);
    }

    async fn only_owner_and_operator_manage_owners_and_admins(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (owner, admin, member) = (tenant.person("owner").await, tenant.person("admin").await, tenant.person("member").await);
        let users = format!("/api/org/{}/users", tenant.org);
        let target = |id: &str| format!("{users}/{id}");
        let refusals = [
            (Method::POST, users.clone(), Some(person("x@y.example", "owner"))),
            (Method::POST, users.clone(), Some(person("x@y.example", "admin"))),
            (Method::PATCH, target(&owner.id), Some(json!({"role": "member"}))),
            (Method::PATCH, target(&owner.id), Some(json!({"password": "another one entirely"}))),
            (Method::PATCH, target(&owner.id), Some(json!({"disabled": true}))),
            (Method::PATCH, target(&admin.id), Some(json!({"role": "owner"}))),
            (Method::PATCH, target(&admin.id), Some(json!({"role": "member"}))),
            (Method::PATCH, target(&admin.id), Some(json!({"password": "another one entirely"}))),
            (Method::PATCH, target(&member.id), Some(json!({"role": "owner"}))),
            (Method::PATCH, target(&member.id), Some(json!({"role": "admin"}))),
            (Method::DELETE, target(&owner.id), None),
            (Method::DELETE, target(&admin.id), None),
        ];
        for (method, path, body) in refusals {
            // No key and no other login may do this.
            for reply in [
                crib.api(method.clone(), &path, &tenant.key, body.clone()).await,
                admin.api(method.clone(), &path, body.clone()).await,
                member.api(method.clone(), &path, body.clone()).await,
            ] {
                refused(&reply, 403, "not_permitted");
            }
        }
        refused(&member.api(Method::POST, &users, Some(person("x@y.example", "member"))).await, 403, "not_permitted");
        member.api(Method::GET, &users, None).await.expect(200);
        // Keys and admins may manage members.
        let by_key = tenant.post("users", person("k@y.example", "member")).await.expect(201);
        let by_key = format!("users/{}", text(&by_key["user"]["id"]));
        tenant.api(Method::PATCH, &by_key, Some(json!({"password": "another one entirely"}))).await.expect(200);
        tenant.api(Method::DELETE, &by_key, None).await.expect(200);
        let by_admin = admin.api(Method::POST, &users, Some(person("a@y.example", "member"))).await.expect(201);
        let by_admin = target(&text(&by_admin["user"]["id"]));
        admin.api(Method::PATCH, &by_admin, Some(json!({"disabled": true}))).await.expect(200);
        admin.api(Method::DELETE, &by_admin, None).await.expect(200);
        // An owner and the instance admin manage everyone.
        owner.api(Method::POST, &users, Some(person("x@y.example", "owner"))).await.expect(201);
        let promoted = owner.api(Method::PATCH, &target(&member.id), Some(json!({"role": "admin"}))).await.expect(200);
        assert_eq!(promoted["user"]["role"], "admin");
        owner.api(Method::DELETE, &target(&admin.id), None).await.expect(200);
        let path = format!("users/{}", owner.id);
        tenant.as_operator(Method::PATCH, &path, Some(json!({"password": "another one entirely"}))).await.expect(200);
        tenant.as_operator(Method::DELETE, &path, None).await.expect(200);
    }

    async fn last_owner_cannot_be_removed(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (tenant, elsewhere) = (crib.tenant().await, crib.tenant().await);
        elsewhere.as_operator(Method::POST, "users", Some(person("owner@elsewhere.example", "owner"))).await.expect(201);
        let add = async |email: &str| {
            let added = tenant.as_operator(Method::POST, "users", Some(person(email, "owner"))).await.expect(201);
            text(&added["user"]["id"])
        };
        let (one, two) = (add("one@example.com").await, add("two@example.com").await);
        let change = async |id: &str, body: Value| tenant.as_operator(Method::PATCH, &format!("users/{id}"), Some(body)).await;
        change(&two, json!({"disabled": true})).await.expect(200);
        for body in [json!({"role": "admin"}), json!({"disabled": true}), json!({"role": "member", "disabled": false})] {
            let reply = change(&one, body).await;
            refused(&reply, 409, "conflict");
            assert!(reply.text.contains("last owner"), "{}", reply.text);
        }
        refused(&tenant.as_operator(Method::DELETE, &format!("users/{one}"), None).await, 409, "conflict");
        assert_eq!(tenant.get(&format!("users/{one}")).await.expect(200)["user"]["role"], "owner", "a refused change changed something");
        change(&one, json!({"password": "another one entirely"})).await.expect(200);
        tenant.as_operator(Method::DELETE, &format!("users/{two}"), None).await.expect(200);
        let three = add("three@example.com").await;
        // Of two concurrent demotions, one fails.
        let (first, second) = tokio::join!(change(&one, json!({"role": "member"})), change(&three, json!({"role": "member"})));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
    }

    async fn changing_a_person_ends_their_logins(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let mut person = tenant.person("admin").await;
        let path = format!("users/{}", person.id);
        let me = async |person: &crate::support::Person<'_>| person.api(Method::GET, "/api/console/me", None).await.status;
        assert_eq!(me(&person).await, 200);
        for (change, password, login) in [
            (json!({"role": "member"}), PASSWORD, 200),
            (json!({"password": "quite another password"}), PASSWORD, 401),
            (json!({"disabled": false}), "quite another password", 200),
            (json!({"disabled": true}), "quite another password", 401),
            (json!({"disabled": false}), "quite another password", 200),
        ] {
            tenant.as_operator(Method::PATCH, &path, Some(change.clone())).await.expect(200);
            assert_eq!(me(&person).await, 401, "{change} ends existing logins");
            assert_eq!(person.log_in(password).await.status, login, "{change}");
        }
        assert_eq!(person.api(Method::GET, "/api/console/me", None).await.expect(200)["user"]["role"], "member");
        tenant.api(Method::DELETE, &path, None).await.expect(200);
        assert_eq!((me(&person).await, person.log_in("quite another password").await.status), (401, 401));
    }

    async fn concurrent_changes_are_all_kept(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let user = text(&tenant.post("users", person("ann@example.com", "member")).await.expect(201)["user"]["id"]);
        let path = format!("users/{user}");
        tenant.as_operator(Method::POST, "users", Some(person("other@example.com", "owner"))).await.expect(201);
        for (role, disabled) in [("admin", true), ("member", false), ("admin", true), ("owner", false), ("member", true)] {
            let change = |body: Value| tenant.as_operator(Method::PATCH, &path, Some(body));
            let (one, two) = tokio::join!(change(json!({"role": role})), change(json!({"disabled": disabled})));
            assert_eq!((one.status, two.status), (200, 200));
            let shown = tenant.get(&path).await.expect(200);
            assert_eq!((&shown["user"]["role"], &shown["user"]["disabled"]), (&json!(role), &json!(disabled)));
        }
    }
}
