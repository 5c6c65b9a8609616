//! fastmcp's command line: it lists and calls tools, and reads the configuration of a session.

use serde_json::{Value, json};
use testkit::python::PythonPackages;

use super::{LISTED, doors, run, tests_path};
use crate::support::{Crib, Engine, binary};

async fn packages() -> PythonPackages {
    tokio::task::spawn_blocking(|| PythonPackages::install(&tests_path("python/fastmcp.txt"))).await.unwrap()
}

async fn ask(crib: &Crib, packages: &PythonPackages, arguments: &[&str]) -> (bool, String) {
    let mut command = packages.program("fastmcp");
    command.args(arguments).arg("--json").env("FASTMCP_CHECK_FOR_UPDATES", "off");
    let (succeeded, said, complained) = run(crib, command).await;
    (succeeded, if succeeded { said } else { complained + &said })
}

fn names(listed: &str) -> Vec<String> {
    let listed: Value = serde_json::from_str(listed).unwrap_or_else(|error| panic!("{error}: {listed}"));
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn fastmcp_works_at_both_doors() {
    let packages = packages().await;
    let crib = Crib::start(Engine::Sqlite).await;
    let mut tenant = crib.tenant().await;
    for target in doors(&mut tenant).await {
        let (url, auth) = (target.url.as_str(), target.credential.as_str());
        let (listed, said) = ask(&crib, &packages, &["list", url, "--auth", auth]).await;
        assert!(listed, "{}: {said}", target.door);
        assert_eq!(names(&said), LISTED, "{}", target.door);
        let (called, said) = ask(&crib, &packages, &["call", url, "kits.list", "limit=3", "--auth", auth]).await;
        assert!(called, "{}: {said}", target.door);
        let result: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((&result["structured_content"], &result["is_error"]), (&json!({"kits": []}), &json!(false)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fastmcp_reports_refusals() {
    let packages = packages().await;
    let crib = Crib::start(Engine::Sqlite).await;
    let mut tenant = crib.tenant().await;
    let [session, agent] = doors(&mut tenant).await;
    let bad = ["call", &session.url, "kits.list", "limit=0", "--auth", &session.credential];
    let (called, said) = ask(&crib, &packages, &bad).await;
    assert!(!called && said.contains("limit"), "{said}");
    let (listed, said) = ask(&crib, &packages, &["list", &agent.url, "--auth", "nonsense"]).await;
    assert!(!listed, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fastmcp_reads_a_session_config_and_uses_stdio() {
    let packages = packages().await;
    let crib = Crib::start(Engine::Sqlite).await;
    let mut tenant = crib.tenant().await;
    tenant.key = tenant.key_with(&["org:read", "sessions:write", "bricks:read", "kits:read"]).await;
    let opened = tenant.post("sessions", json!({"projectId": tenant.project})).await.expect(201);
    let file = crib.folder.path().join("mcp.json");
    std::fs::write(&file, opened["mcpConfig"].to_string()).unwrap();
    let (listed, said) = ask(&crib, &packages, &["list", file.to_str().unwrap()]).await;
    assert!(listed, "{said}");
    assert_eq!(names(&said), LISTED);

    let (program, url) = (binary().display(), &crib.url);
    let command = format!(
        "{program} stdio --tool-names canonical --url {url} --key {} --org {} --project {}",
        tenant.key, tenant.org, tenant.project
    );
    let (listed, said) = ask(&crib, &packages, &["list", "--command", &command]).await;
    assert!(listed, "{said}");
    assert_eq!(names(&said), LISTED);
}
