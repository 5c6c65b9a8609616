//! The official inspector's command line in each era, and its lint of the schemas.

use serde_json::{Value, json};
use testkit::node::NodePackages;

use super::{LISTED, Target, doors, names, run, tests_path};
use crate::support::{Crib, Engine};

const INSPECTOR: &str = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
/// The oldest Node that it runs on.
const NODE_MAJOR_MIN: u32 = 22;

async fn packages() -> NodePackages {
    tokio::task::spawn_blocking(|| NodePackages::install(&tests_path("node/inspector"), NODE_MAJOR_MIN)).await.unwrap()
}

async fn ask(crib: &Crib, packages: &NodePackages, target: &Target, era: &str, arguments: &[&str]) -> (bool, String) {
    let mut command = packages.script(INSPECTOR, &[]);
    command.args(["--cli", "--transport", "http", "--server-url", &target.url, "--protocol-era", era, "--format", "json", "-q"]);
    command.arg("--header").arg(format!("Authorization: Bearer {}", target.credential)).args(arguments);
    let (succeeded, said, complained) = run(crib, command).await;
    (succeeded, if succeeded { said } else { complained + &said })
}

fn result(said: &str) -> Value {
    let answer: Value = serde_json::from_str(said).unwrap_or_else(|error| panic!("{error}: {said}"));
    answer["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn inspector_works_at_both_doors_in_each_era() {
    let packages = packages().await;
    let crib = Crib::start(Engine::Sqlite).await;
    let mut tenant = crib.tenant().await;
    for target in doors(&mut tenant).await {
        for era in ["legacy", "modern", "auto"] {
            let (listed, said) = ask(&crib, &packages, &target, era, &["--method", "tools/list", "--strict"]).await;
            assert!(listed, "{} {era}: {said}", target.door);
            let tools = result(&said)["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
            assert_eq!(json!(tools), json!(LISTED), "{} {era}", target.door);
            let call = ["--method", "tools/call", "--tool-name", "kits.list", "--tool-args-json", r#"{"limit": 3}"#];
            let (called, said) = ask(&crib, &packages, &target, era, &call).await;
            assert!(called, "{} {era}: {said}", target.door);
            assert_eq!(result(&said)["structuredContent"], json!({"kits": []}), "{} {era}", target.door);
        }
        let stranger = Target { credential: "nonsense".to_owned(), ..target };
        let (listed, said) = ask(&crib, &packages, &stranger, "auto", &["--method", "tools/list"]).await;
        assert!(!listed, "{said}");
    }
}

/// With `--strict`, the inspector also warns about schemas that some clients do not understand. A warning does not change its exit
/// code, so the test checks the findings.
#[tokio::test(flavor = "multi_thread")]
async fn inspector_finds_no_schema_problem() {
    let packages = packages().await;
    let crib = Crib::start(Engine::Sqlite).await;
    let session = crib.tenant().await.session().await;
    // Some tools are listed only where there is code.
    session.call("write_code", json!({"path": "a.py", "content": "a = 1\n", "reason": "code"})).await.result();
    let target = Target { door: "session", url: session.url, credential: session.key, refusal: -32003 };
    for era in ["legacy", "modern"] {
        let (listed, said) = ask(&crib, &packages, &target, era, &["--method", "tools/list", "--strict"]).await;
        assert!(listed, "{era}: {said}");
        let tools = result(&said)["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
        assert_eq!(json!(tools), json!(names()), "{era}: every tool is checked");
        let answer: Value = serde_json::from_str(&said).unwrap();
        assert!(answer.get("schemaFindings").is_none(), "{era}: {}", answer["schemaFindings"]);
    }
}

/// The model sees the reason in each era, as an error or as a result with `isError`.
#[tokio::test(flavor = "multi_thread")]
async fn inspector_reports_bad_arguments() {
    let packages = packages().await;
    let crib = Crib::start(Engine::Sqlite).await;
    let session = crib.tenant().await.session().await;
    let target = Target { door: "session", url: session.url, credential: session.key, refusal: -32003 };
    for era in ["legacy", "modern"] {
        let call = ["--method", "tools/call", "--tool-name", "kits.list", "--tool-args-json", r#"{"limit": 0}"#];
        let (called, said) = ask(&crib, &packages, &target, era, &call).await;
        assert!(!called && said.contains("less than the minimum of 1"), "{era}: {said}");
    }
}
