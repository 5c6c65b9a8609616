//! Logging in at the console: the cookie, the CSRF token, and the limit on guesses.

use base::{Clock, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, Reply, both_engines};

const PASSWORD: &str = "correct horse battery";

async fn log_in(crib: &Crib, body: Value) -> Reply {
    crib.send(crib.http.post(format!("{}/api/console/login", crib.url)).json(&body)).await
}

fn credentials(email: &str, password: &str) -> Value {
    json!({"email": email, "password": password})
}

both_engines! {
    async fn login_cookie_is_hidden_from_scripts_and_other_sites(engine: Engine) {
        for (public_url, secure) in [(None, false), (Some("https://crib.example"), true)] {
            let crib = Crib::start_with(engine, |config| config.public_url = public_url.map(str::to_owned)).await;
            let tenant = crib.tenant().await;
            let person = tenant.person("owner").await;
            let reply = log_in(&crib, credentials(&person.email.to_uppercase(), PASSWORD)).await;
            let body = reply.expect(200);
            let names: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(names, ["user", "csrf"]);
            assert_eq!(body["user"], json!({"id": person.id, "email": person.email, "role": "owner", "orgId": tenant.org}));
            let cookies: Vec<_> = reply.headers.get_all("set-cookie").iter().collect();
            assert_eq!(cookies.len(), 1);
            let parts: Vec<_> = reply.header("set-cookie").unwrap().split("; ").collect();
            assert!(parts[0].starts_with("toolcrib_login=") && parts[0].len() > 40, "{parts:?}");
            for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
                assert!(parts.contains(&flag), "{flag} is not in {parts:?}");
            }
            assert_eq!(parts.contains(&"Secure"), secure);
            assert!(!parts.iter().any(|part| part.to_ascii_lowercase().starts_with("domain")), "{parts:?}");
            assert_ne!(parts[0], person.cookie, "each login has its own cookie");
        }
    }

    async fn login_shows_its_user_and_ends(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let mut person = tenant.person("member").await;
        let me = person.api(Method::GET, "/api/console/me", None).await.expect(200);
        assert_eq!((&me["csrf"], &me["user"]["email"]), (&json!(person.csrf), &json!(person.email)));

        let logout = person.request(Method::POST, "/api/console/logout");
        assert_eq!(crib.send(logout).await.status, 403, "another site cannot log anyone out");
        let out = person.api(Method::POST, "/api/console/logout", None).await;
        out.expect(204);
        let removed = out.header("set-cookie").unwrap();
        assert!(removed.starts_with("toolcrib_login=;") && removed.contains("Max-Age=0"), "{removed}");
        assert_eq!(person.api(Method::GET, "/api/console/me", None).await.status, 401);
        assert_eq!(person.api(Method::POST, "/api/console/logout", None).await.status, 401);

        person.log_in(PASSWORD).await.expect(200);
        clock.advance_ms(12 * 60 * 60 * 1_000 - 1);
        assert_eq!(person.api(Method::GET, "/api/console/me", None).await.status, 200);
        clock.advance_ms(1);
        assert_eq!(person.api(Method::GET, "/api/console/me", None).await.status, 401, "a login expires after twelve hours");
    }

    async fn changes_need_the_csrf_token(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (owner, other) = (tenant.person("owner").await, tenant.person("admin").await);
        let path = format!("/api/org/{}/projects", tenant.org);
        let post = |token: Option<&str>| {
            let request = owner.request(Method::POST, &path).json(&json!({"name": "new"}));
            token.into_iter().fold(request, |request, token| request.header("x-csrf-token", token))
        };
        let (missing, wrong) = ("a login that changes something must send `x-csrf-token`", "does not belong to this login");
        for (token, why) in [(None, missing), (Some(""), wrong), (Some("nonsense"), wrong), (Some(other.csrf.as_str()), wrong)] {
            let reply = crib.send(post(token)).await;
            assert!(reply.status == 403 && reply.text.contains(why), "{token:?}: {}", reply.text);
        }
        let reply = crib.api(Method::GET, &path, &tenant.session().await.key, None).await;
        assert!(reply.status == 403 && reply.text.contains("works only for its own session"), "{}", reply.text);
        assert!(!reply.text.contains("csrf"), "{}", reply.text);
        crib.send(owner.request(Method::GET, &path)).await.expect(200);
        crib.send(post(Some(&owner.csrf))).await.expect(201);
        // A page on another site is refused even with cookie and token.
        let page = post(Some(&owner.csrf)).header("origin", "https://evil.example");
        assert_eq!(crib.send(page).await.status, 403);
        // If a request has a key, its login is ignored.
        for (key, status) in [("nonsense", 401), (tenant.key_with(&["kits:read"]).await.as_str(), 403)] {
            let request = owner.request(Method::GET, &path).bearer_auth(key);
            assert_eq!(crib.send(request).await.status, status);
        }
        for cookie in ["toolcrib_login=", "toolcrib_login=tcl_0", "toolcrib_login", "other=1"] {
            let request = crib.http.get(format!("{}{path}", crib.url)).header("cookie", cookie);
            assert_eq!(crib.send(request).await.status, 401, "{cookie}");
        }
        let among_others = crib.http.get(format!("{}{path}", crib.url)).header("cookie", format!("a=b; {}; c=d", owner.cookie));
        crib.send(among_others).await.expect(200);
    }

    async fn wrong_logins_all_get_the_same_error(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.login_failures_per_minute = 1_000).await;
        let tenant = crib.tenant().await;
        let person = tenant.person("owner").await;
        let disabled = tenant.person("admin").await;
        tenant.as_operator(Method::PATCH, &format!("users/{}", disabled.id), Some(json!({"disabled": true}))).await.expect(200);
        let mut answers = Vec::new();
        for (email, password) in [
            (person.email.as_str(), "wrong"),
            (person.email.as_str(), "Correct horse battery"),
            ("nobody@nowhere.example", PASSWORD),
            ("not an address", PASSWORD),
            (disabled.email.as_str(), PASSWORD),
        ] {
            let reply = log_in(&crib, credentials(email, password)).await;
            assert!(reply.header("set-cookie").is_none());
            answers.push(reply.expect(401));
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
        for bad in [json!({}), json!({"email": person.email}), json!({"password": PASSWORD}), json!({"email": 1, "password": 2})]
        {
            log_in(&crib, bad).await.expect(400);
        }
    }

    async fn passwords_are_stored_as_argon2id(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        tenant.person("member").await;
        let hashes = crib.rows("SELECT password_hash AS value FROM users WHERE org_id = ?1", &tenant.org).await;
        assert!(hashes.len() == 1 && hashes[0].starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hashes:?}");
    }

    async fn ten_wrong_guesses_block_the_account_for_a_minute(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let (mut person, mut other) = (tenant.person("owner").await, tenant.person("admin").await);
        for _ in 0..10 {
            assert_eq!(log_in(&crib, credentials(&person.email, "wrong")).await.status, 401);
        }
        clock.advance_ms(20_000);
        // Even the right password is refused.
        let refused = person.log_in(PASSWORD).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some("40")), "{}", refused.text);
        assert_eq!(other.log_in(PASSWORD).await.status, 200, "guesses at one account do not block another");
        assert_eq!(person.api(Method::GET, "/api/console/me", None).await.status, 200, "existing logins keep working");
        clock.advance_ms(40_000);
        person.log_in(PASSWORD).await.expect(200);
    }
}
