//! Every route × every caller that it refuses, and every caller that it admits.

use reqwest::RequestBuilder;
use serde_json::Value;

use super::all_but;
use crate::menu::{MEMBER, Need, ROUTES, RouteRow, Things, routes_that_differ};
use crate::support::{Crib, Engine, Person, Reply, Tenant, both_engines, with_body};

/// Who calls.
enum Caller<'a> {
    Nobody,
    Bearer(&'a str),
    Person(&'a Person<'a>),
    /// A login whose `x-csrf-token` is missing or wrong.
    Forged(&'a Person<'a>, Option<&'a str>),
}

impl Caller<'_> {
    async fn call(&self, crib: &Crib, row: &RouteRow, things: &Things) -> Reply {
        let (method, path, body) = (row.method(), things.fill(row.path), (row.body)(things));
        let url = format!("{}{path}", crib.url);
        let send = async |request: RequestBuilder| crib.send(with_body(request, body.clone())).await;
        match self {
            Caller::Nobody => send(crib.http.request(method, url)).await,
            Caller::Bearer(secret) => send(crib.http.request(method, url).bearer_auth(secret)).await,
            Caller::Person(person) => person.api(method, &path, body.clone()).await,
            Caller::Forged(person, None) => send(person.request(method, &path)).await,
            Caller::Forged(person, Some(token)) => send(person.request(method, &path).header("x-csrf-token", *token)).await,
        }
    }
}

/// The callers of the tables.
struct Everyone<'c> {
    ours: &'c Tenant<'c>,
    theirs: &'c Tenant<'c>,
    session_key: String,
    token: String,
    owner: Person<'c>,
    admin: Person<'c>,
    member: Person<'c>,
    their_owner: Person<'c>,
}

impl<'c> Everyone<'c> {
    async fn of(ours: &'c Tenant<'c>, theirs: &'c Tenant<'c>) -> Self {
        Self {
            session_key: ours.session().await.key,
            token: ours.agent(&["*"], &[]).await.token,
            owner: ours.person("owner").await,
            admin: ours.person("admin").await,
            member: ours.person("member").await,
            their_owner: theirs.person("owner").await,
            ours,
            theirs,
        }
    }

    /// The callers that `row` refuses, with the status.
    fn refused<'a>(&'a self, row: &RouteRow, lacking: &'a str) -> Vec<(&'static str, Caller<'a>, u16)> {
        use Caller::{Bearer, Forged, Nobody, Person};
        let unknown = "rsk_live_0000000000000000000000000000000000000000000000000000000000000000";
        let mut refused = vec![
            ("nobody", Nobody, 401),
            ("nonsense", Bearer("nonsense"), 401),
            ("an unknown key", Bearer(unknown), 401),
            ("an agent's token", Bearer(&self.token), 401),
        ];
        // A login route takes no key, so every key is an unknown credential there.
        let known = if row.need == Need::Login { 401 } else { 403 };
        refused.push(("a session's key", Bearer(&self.session_key), known));
        if row.changes() && row.need != Need::InstanceAdmin {
            refused.push(("a login without its token", Forged(&self.owner, None), 403));
            refused.push(("a login with another's token", Forged(&self.owner, Some(&self.admin.csrf)), 403));
        }
        let elsewhere = if row.path.contains("{orgId}") || row.path.contains("Id}") { 404 } else { 200 };
        match row.need {
            Need::Public => refused.clear(),
            Need::Known => {}
            Need::Login => refused.push(("a key that may do everything", Bearer(&self.ours.key), 401)),
            Need::InstanceAdmin => {
                refused.push(("a key that may do everything", Bearer(&self.ours.key), 403));
                refused.push(("an owner", Person(&self.owner), 403));
                if elsewhere == 404 {
                    refused.push(("another org's key", Bearer(&self.theirs.key), 404));
                }
            }
            Need::Scope(scope) => {
                refused.push(("a key without the scope", Bearer(lacking), 403));
                if !MEMBER.contains(&scope) {
                    refused.push(("a member", Person(&self.member), 403));
                }
                if elsewhere == 404 {
                    refused.push(("another org's key", Bearer(&self.theirs.key), 404));
                    refused.push(("another org's owner", Person(&self.their_owner), 404));
                }
            }
            Need::Owner => {
                refused.push(("a key that may do everything", Bearer(&self.ours.key), 403));
                refused.push(("a member", Person(&self.member), 403));
                refused.push(("an admin", Person(&self.admin), 403));
            }
            Need::Human => {
                refused.push(("a key that may do everything", Bearer(&self.ours.key), 403));
                refused.push(("another org's key", Bearer(&self.theirs.key), 403));
                refused.push(("a member", Person(&self.member), 403));
                refused.push(("another org's owner", Person(&self.their_owner), 404));
            }
        }
        refused
    }
}

/// Everything that an org's key can list.
async fn snapshot(tenant: &Tenant<'_>) -> Vec<Value> {
    let mut seen = Vec::new();
    for list in ["", "/projects", "/keys", "/sessions", "/agents", "/users"] {
        let path = format!("/api/org/{}{list}?limit=200", tenant.org);
        let path = if list.is_empty() { format!("/api/org/{}", tenant.org) } else { path };
        seen.push(tenant.crib.api(reqwest::Method::GET, &path, &tenant.key, None).await.expect(200));
    }
    for list in ["/api/bricks", "/api/kits"] {
        seen.push(tenant.crib.api(reqwest::Method::GET, list, &tenant.key, None).await.expect(200));
    }
    seen
}

#[test]
fn every_route_has_a_row() {
    assert!(routes_that_differ().is_empty(), "{:?}", routes_that_differ());
}

both_engines! {
    async fn every_route_refuses_every_wrong_caller(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let everyone = Everyone::of(&ours, &theirs).await;
        let things = Things::make(&ours, "things").await;
        let mut lacking = std::collections::BTreeMap::new();
        for row in ROUTES {
            if let Need::Scope(scope) = row.need
                && !lacking.contains_key(scope)
            {
                lacking.insert(scope, ours.key_with(&all_but(scope)).await);
            }
        }
        let before = snapshot(&ours).await;
        let mut refusals = 0;
        for row in ROUTES {
            let without = if let Need::Scope(scope) = row.need { lacking[scope].as_str() } else { "" };
            for (name, caller, status) in everyone.refused(row, without) {
                let reply = caller.call(&crib, row, &things).await;
                assert_eq!(reply.status, status, "{} {} by {name}: {}", row.method, row.path, reply.text);
                let body = reply.json();
                assert!(body["error"].is_string() && body["code"].is_string(), "{body}");
                assert_eq!(reply.header("www-authenticate").is_some(), status == 401, "{} {}", row.method, row.path);
                refusals += 1;
            }
        }
        assert!(refusals > 200, "{refusals}");
        assert_eq!(snapshot(&ours).await, before, "a refused call changed something");
    }

    async fn every_route_admits_every_right_caller(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.login_failures_per_minute = 1_000).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let everyone = Everyone::of(&ours, &theirs).await;
        for (index, row) in ROUTES.iter().enumerate() {
            let exact = match row.need {
                // A caller that adds users needs the scopes of their role too.
                Need::Scope("users:write") => ours.key_with(&[&["users:write"], &MEMBER[..]].concat()).await,
                Need::Scope(scope) => ours.key_with(&[scope]).await,
                Need::Known => ours.key_with(&[]).await,
                _ => ours.key.clone(),
            };
            let (exact, admin_key) = (Caller::Bearer(&exact), Caller::Bearer(&crib.admin_key));
            let (owner, admin, member) = (&everyone.owner, &everyone.admin, &everyone.member);
            let (owner, admin, member) = (Caller::Person(owner), Caller::Person(admin), Caller::Person(member));
            let admitted = match row.need {
                Need::Public => vec![Caller::Nobody, Caller::Bearer("nonsense")],
                Need::InstanceAdmin => vec![admin_key],
                Need::Known => vec![exact, admin_key, owner, admin, member],
                Need::Scope(scope) if MEMBER.contains(&scope) => vec![exact, admin_key, owner, admin, member],
                Need::Scope(_) => vec![exact, admin_key, owner, admin],
                Need::Human => vec![owner, admin],
                Need::Owner => vec![owner, admin_key],
                // Logging out ends the login, so these routes come last.
                Need::Login => continue,
            };
            for (number, caller) in admitted.iter().enumerate() {
                let name = format!("t{index}x{number}");
                let about_people = row.path.contains("{userId}");
                let things =
                    if about_people { Things::make(&ours, &name).await } else { Things::make_without_user(&ours, &name).await };
                let mut reply = caller.call(&crib, row, &things).await;
                if matches!(caller, Caller::Bearer(key) if *key == crib.admin_key)
                    && !row.path.contains("{orgId}")
                    && reply.status == 400
                {
                    let path = format!("{}?org={}", things.fill(row.path), things.org);
                    reply = crib.api(row.method(), &path, &crib.admin_key, (row.body)(&things)).await;
                }
                let passed = (200..300).contains(&reply.status);
                // Two public routes expect a credential in the body, which this caller lacks.
                let asks = row.need == Need::Public && row.method == "POST" && reply.status == 401;
                assert!(passed || asks, "{} {} by {number}: {} {}", row.method, row.path, reply.status, reply.text);
            }
        }
        for (path, method) in [("/api/console/me", reqwest::Method::GET), ("/api/console/logout", reqwest::Method::POST)] {
            for person in [&everyone.owner, &everyone.admin, &everyone.member] {
                assert!((200..300).contains(&person.api(method.clone(), path, None).await.status), "{path}");
            }
        }
        assert_eq!(everyone.owner.api(reqwest::Method::GET, "/api/console/me", None).await.status, 401, "logged out");
    }
}
