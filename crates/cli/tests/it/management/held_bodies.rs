//! A caller is admitted, then loses its credential before it sends the body. The change must be refused: the credential is checked
//! again when the change is made.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::text;
use crate::menu::Things;
use crate::support::{Crib, Engine, both_engines};

/// An admitted POST whose body is not sent yet.
struct Held {
    stream: TcpStream,
    body: String,
}

impl Held {
    async fn post(crib: &Crib, path: &str, credential: &str, body: &Value) -> Self {
        let (host, body) = (crib.url.strip_prefix("http://").unwrap(), body.to_string());
        let mut stream = TcpStream::connect(host).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\n{credential}\r\nconnection: close\r\nexpect: 100-continue\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server asks for the body only after it has admitted the caller.
        let mut asked = [0; 25];
        stream.read_exact(&mut asked).await.unwrap();
        assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
        Self { stream, body }
    }

    /// Sends the body and returns the status of the answer.
    async fn send(mut self) -> u16 {
        self.stream.write_all(self.body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).await.unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap_or_else(|_| panic!("{answer}"))
    }
}

both_engines! {
    async fn key_revoked_mid_request_cannot_mint(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let minted = tenant.post("keys", json!({"name": "lost", "projects": "all"})).await.expect(201)["key"].clone();
        let credential = format!("authorization: Bearer {}", text(&minted["fullKey"]));
        let body = json!({"name": "left behind", "projects": "all"});
        let path = format!("/api/org/{}/keys", tenant.org);
        let (in_time, too_late) =
            (Held::post(&crib, &path, &credential, &body).await, Held::post(&crib, &path, &credential, &body).await);
        assert_eq!(in_time.send().await, 201);
        tenant.api(Method::DELETE, &format!("keys/{}", text(&minted["id"])), None).await.expect(200);
        let before = tenant.get("keys?limit=100").await.expect(200);
        assert_eq!(too_late.send().await, 403);
        assert_eq!(tenant.get("keys?limit=100").await.expect(200), before);
    }

    async fn person_changed_mid_request_cannot_write(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let brick = Things::make_without_user(&tenant, "things").await.brick;
        let person = tenant.person("owner").await;
        let credential = format!("cookie: {}\r\nx-csrf-token: {}", person.cookie, person.csrf);
        let sessions = format!("/api/org/{}/sessions", tenant.org);
        let session = Held::post(&crib, &sessions, &credential, &json!({"projectId": tenant.project})).await;
        let versions = format!("/api/bricks/{brick}/versions");
        let version = Held::post(&crib, &versions, &credential, &json!({"evaluation_prompt": "is it otherwise?"})).await;
        let everything = json!({"before": base::Clock::system().now().rfc3339()});
        let pruning = Held::post(&crib, "/api/audit/prune", &credential, &everything).await;
        // A new password ends all logins, as after a theft.
        tenant.as_operator(Method::PATCH, &format!("users/{}", person.id), Some(json!({"password": "quite another password"}))).await.expect(200);
        assert_eq!((session.send().await, version.send().await, pruning.send().await), (403, 403, 403));
        assert_eq!(tenant.trail("eventType=audit.pruned").await.len(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn admin_key_replaced_mid_request_cannot_write_on_another_node() {
    let first = Crib::start(Engine::Postgres).await;
    let second = first.another_node(|_| ()).await;
    let tenant = second.tenant().await;
    let credential = format!("authorization: Bearer {}", first.admin_key);
    let (path, body) = (format!("/api/org/{}/keys", tenant.org), json!({"name": "left behind", "projects": "all"}));
    let (in_time, too_late) =
        (Held::post(&second, &path, &credential, &body).await, Held::post(&second, &path, &credential, &body).await);
    assert_eq!(in_time.send().await, 201);
    let database_url = first.database_url();
    let folder = first.stop_and_keep().await;
    std::fs::remove_file(folder.path().join("data/server.json")).unwrap();
    let _first = Crib::start_in(folder, Engine::Sqlite, |config| config.database_url = database_url).await;
    assert_eq!(too_late.send().await, 403);
}
