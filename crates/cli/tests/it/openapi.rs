//! The API's own description: complete, and true of the running server as a fuzzer that reads it finds.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use server::Config;
use testkit::python::PythonPackages;
use tokio::process::Command;

use crate::menu::{Need, ROUTES, Things};
use crate::support::{Crib, Engine};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Every operation: its method, path and description.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        let methods = METHODS.into_iter().filter_map(move |method| item.get(method).map(|operation| (method, operation)));
        methods.map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation))
    });
    operations.collect()
}

/// A response as it stands there or as it is referred to.
fn resolve<'a>(document: &'a Value, response: &'a Value) -> &'a Value {
    match response["$ref"].as_str() {
        Some(reference) => {
            document.pointer(reference.strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("{reference} leads nowhere"))
        }
        None => response,
    }
}

#[test]
fn every_operation_is_described() {
    let document = serde_json::to_value(server::openapi()).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3."), "{}", document["openapi"]);
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let what = format!("{method} {path}");
        let row =
            ROUTES.iter().find(|row| row.method == method && row.path == path).unwrap_or_else(|| panic!("{what} has no row"));
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{what} has no operationId"));
        assert!(ids.insert(id.to_owned()), "two operations are called {id}");
        assert!(operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{what} has no summary");
        let named = path.matches('{').count();
        let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        assert_eq!(parameters.iter().filter(|parameter| parameter["in"] == "path").count(), named, "{what}");
        assert!(
            parameters.iter().all(|parameter| parameter["schema"].is_object() && parameter["description"].is_string()),
            "{what}"
        );
        assert_eq!(operation["requestBody"].is_object(), (row.body)(&Things::nowhere()).is_some(), "{what}");
        let responses = operation["responses"].as_object().unwrap();
        let documents = |status: &str| responses.contains_key(status);
        assert_eq!(responses.keys().filter(|status| status.starts_with('2')).count(), 1, "{what}");
        if row.need == Need::Public {
            assert_eq!(operation["security"], serde_json::json!([{}]), "{what} is for everyone");
        } else {
            for status in ["400", "401", "403", "500"] {
                assert!(documents(status), "{what} does not document {status}");
            }
        }
        // Of a workspace that does not exist the keys are asked too: there are none.
        assert!(!path.contains("Id}") || path.contains("{workspaceId}") || documents("404"), "{what} does not document 404");
        for (status, response) in responses {
            let response = resolve(&document, response);
            assert!(response["description"].is_string(), "{what} {status}");
            assert!(response["headers"]["x-request-id"].is_object(), "{what} {status}");
            assert_eq!(response["content"].is_object(), status != "204" && status != "304", "{what} {status}");
        }
    }
    assert_eq!(ids.len(), ROUTES.len());
}

/// What the fuzzer is told. Schemas cannot say that a directory must exist, or that a time must be to come or have passed.
const SETTINGS: &str = r#"
[generation]
max-examples = 4
deterministic = true
database = "none"

[[operations]]
include-name = [
    "POST /api/org/{orgId}/keys", "POST /api/org/{orgId}/projects", "PATCH /api/org/{orgId}/projects/{projectId}",
    "POST /api/org/{orgId}/webhooks", "PATCH /api/org/{orgId}/webhooks/{webhookId}",
    "PUT /api/org/{orgId}/policies/{policyId}", "POST /api/org/{orgId}/policy/explain", "POST /api/audit/prune",
    "POST /api/org/{orgId}/projects/{projectId}/memory/import",
]
checks.positive_data_acceptance.enabled = false
"#;

/// The fuzzer leaves the document itself alone.
const OPERATIONS: usize = ROUTES.len() - 1;

/// Who fuzzes what.
struct Run<'a> {
    /// Its credentials, by the document's own names for them.
    credentials: &'a [(&'a str, &'a str, &'a str)],
    /// Things that operations should find.
    things: Option<&'a Things>,
    /// Limits the operations.
    filters: &'a [&'a str],
    operations: usize,
    /// How many of them never let it in, at most: a run that nobody lets in proves little.
    closed_max: usize,
}

/// Runs schemathesis with all of its checks. What it finds fails the test with all that it said.
async fn fuzz(crib: &Crib, run: Run<'_>) {
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/schemathesis.txt");
    let packages = tokio::task::spawn_blocking(move || PythonPackages::install(&requirements)).await.unwrap();
    let mut settings = SETTINGS.to_owned();
    if let Some(things) = run.things {
        let parameters = [("orgId", &things.org), ("brickId", &things.brick), ("kitId", &things.kit)];
        settings += "\n[parameters]\n";
        settings.extend(parameters.map(|(name, id)| format!("\"path.{name}\" = \"{id}\"\n")));
    }
    for (scheme, kind, value) in run.credentials {
        settings += &format!("\n[auth.openapi.{scheme}]\n{kind} = \"{value}\"\n");
    }
    let file = crib.folder.path().join("schemathesis.toml");
    std::fs::write(&file, settings).unwrap();
    let mut fuzzer = packages.program("schemathesis");
    fuzzer.arg("--config-file").arg(&file).args(["run", "--no-color", "--output-truncate", "false"]).args(run.filters);
    // What it keeps between runs lies where it is started.
    fuzzer.arg(format!("{}/api/openapi.json", crib.url)).current_dir(crib.folder.path());
    let output = Command::from(fuzzer).kill_on_drop(true).output().await.unwrap();
    let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // The words too: a fuzzer that tried nothing would also end well.
    let tried = said.contains(&format!("Selected: {}/{OPERATIONS}\n", run.operations))
        && said.contains(&format!("Tested: {}\n", run.operations));
    assert!(output.status.success() && tried, "{said}");
    let closed = said.split_once("Authentication failed: ").and_then(|(_, rest)| rest.split_once(' '));
    let closed = closed.map_or(0, |(number, _)| number.parse::<usize>().unwrap());
    assert!(closed <= run.closed_max, "{closed} operations were closed to it: {said}");
}

/// Fuzzing asks often and badly; how often one may is tested elsewhere.
fn patient(config: &mut Config) {
    config.limits.login_failures_per_minute = 1_000_000;
}

async fn everything_with_a_key(engine: Engine, phases: &str) {
    let crib = Crib::start_with(engine, patient).await;
    let tenant = crib.tenant().await;
    let credentials = &[("key", "bearer", tenant.key.as_str())];
    let closed =
        ROUTES.iter().filter(|row| matches!(row.need, Need::Login | Need::Human | Need::Owner | Need::InstanceAdmin)).count();
    fuzz(&crib, Run { credentials, things: None, filters: &["--phases", phases], operations: OPERATIONS, closed_max: closed })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_may_do_everything_finds_no_lie_on_sqlite() {
    everything_with_a_key(Engine::Sqlite, "fuzzing,stateful").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_may_do_everything_finds_no_lie_on_postgres() {
    everything_with_a_key(Engine::Postgres, "coverage,fuzzing").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_finds_no_lie() {
    let crib = Crib::start_with(Engine::Sqlite, patient).await;
    fuzz(
        &crib,
        Run { credentials: &[], things: None, filters: &["--phases", "fuzzing"], operations: OPERATIONS, closed_max: OPERATIONS },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_finds_no_lie_about_bricks_and_kits() {
    let crib = Crib::start_with(Engine::Sqlite, patient).await;
    let tenant = crib.tenant().await;
    let (owner, things) = (tenant.person("owner").await, Things::make(&tenant, "things").await);
    let cookie = owner.cookie.strip_prefix("toolcrib_login=").unwrap();
    let credentials = &[("login", "api_key", cookie), ("csrf", "api_key", owner.csrf.as_str())];
    let filters = ["--include-path-regex", "^/api/(bricks|kits|console/me)"];
    fuzz(&crib, Run { credentials, things: Some(&things), filters: &filters, operations: 11, closed_max: 0 }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_finds_no_lie_about_orgs() {
    let crib = Crib::start_with(Engine::Sqlite, patient).await;
    let tenant = crib.tenant().await;
    let things = Things::make(&tenant, "things").await;
    let credentials = &[("key", "bearer", crib.admin_key.as_str())];
    let filters = ["--include-path-regex", "^/api/(orgs|org/[^/]+)$"];
    fuzz(&crib, Run { credentials, things: Some(&things), filters: &filters, operations: 4, closed_max: 0 }).await;
}
