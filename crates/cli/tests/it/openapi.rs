//! The OpenAPI document is complete, and a fuzzer finds no difference between it and the server.

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

/// The response itself, or the target of its `$ref`.
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
            assert_eq!(operation["security"], serde_json::json!([{}]), "{what} must be public");
        } else {
            for status in ["400", "401", "403", "500"] {
                assert!(documents(status), "{what} does not document {status}");
            }
        }
        // An unknown workspace has an empty key list, not a 404.
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

/// Operations that can answer 409.
const CONFLICTS: [&str; 16] = [
    "addBrickVersion",
    "addKitVersion",
    "changeProject",
    "changeUser",
    "createOrg",
    "createProject",
    "createUser",
    "createWebhook",
    "deleteUser",
    "endSession",
    "mergeEntity",
    "publishBrick",
    "publishKit",
    "restoreFile",
    "revokeAuditKey",
    "splitEntity",
];

#[test]
fn conflicts_are_documented() {
    let document = serde_json::to_value(server::openapi()).unwrap();
    let mut found: Vec<_> = operations(&document)
        .into_iter()
        .filter(|(.., operation)| operation["responses"].get("409").is_some())
        .map(|(.., operation)| operation["operationId"].as_str().unwrap().to_owned())
        .collect();
    found.sort_unstable();
    assert_eq!(found, CONFLICTS);
}

/// The fuzzer's settings. Schemas cannot express that a directory must exist, that a time is in the future or in the past, that a
/// query parameter needs a member of the body, that a path stays below the root, or that parameters exclude each other.
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
    "GET /api/org/{orgId}/projects/{projectId}/code/tree", "GET /api/org/{orgId}/projects/{projectId}/code/file",
    "GET /api/org/{orgId}/projects/{projectId}/code/symbols", "GET /api/org/{orgId}/projects/{projectId}/code/history",
    "GET /api/org/{orgId}/projects/{projectId}/code/blame", "GET /api/org/{orgId}/projects/{projectId}/code/dependencies",
    "POST /api/org/{orgId}/projects/{projectId}/code/restore", "POST /api/org/{orgId}/projects/{projectId}/code/rollback",
    "POST /api/org/{orgId}/projects/{projectId}/memory/import", "PATCH /api/org/{orgId}/users/{userId}",
]
checks.positive_data_acceptance.enabled = false
"#;

/// The fuzzer skips the route of the document itself.
const OPERATIONS: usize = ROUTES.len() - 1;

/// One run of the fuzzer.
struct Run<'a> {
    /// The credentials, by their names in the document.
    credentials: &'a [(&'a str, &'a str, &'a str)],
    /// Things that operations should find.
    things: Option<&'a Things>,
    /// Limits the operations.
    filters: &'a [&'a str],
    operations: usize,
    /// The maximum number of operations that may refuse every request, because such a run proves little.
    closed_max: usize,
}

/// Runs schemathesis with all of its checks. A finding fails the test with its report.
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
    // The fuzzer writes its state into the current directory.
    fuzzer.arg(format!("{}/api/openapi.json", crib.url)).current_dir(crib.folder.path());
    let output = Command::from(fuzzer).kill_on_drop(true).output().await.unwrap();
    let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // A fuzzer that tried nothing would also exit with 0, so check its words too.
    let tried = said.contains(&format!("Selected: {}/{OPERATIONS}\n", run.operations))
        && said.contains(&format!("Tested: {}\n", run.operations));
    assert!(output.status.success() && tried, "{said}");
    let closed = said.split_once("Authentication failed: ").and_then(|(_, rest)| rest.split_once(' '));
    let closed = closed.map_or(0, |(number, _)| number.parse::<usize>().unwrap());
    assert!(closed <= run.closed_max, "{closed} operations refused every request: {said}");
}

/// Fuzzing causes many failed logins. Other tests cover that limit.
fn allow_login_failures(config: &mut Config) {
    config.limits.login_failures_per_minute = 1_000_000;
}

async fn fuzz_everything_with_a_key(engine: Engine, phases: &str) {
    let crib = Crib::start_with(engine, allow_login_failures).await;
    let tenant = crib.tenant().await;
    let credentials = &[("key", "bearer", tenant.key.as_str())];
    let closed =
        ROUTES.iter().filter(|row| matches!(row.need, Need::Login | Need::Human | Need::Owner | Need::InstanceAdmin)).count();
    fuzz(&crib, Run { credentials, things: None, filters: &["--phases", phases], operations: OPERATIONS, closed_max: closed })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fuzzing_with_a_full_key_finds_no_error_on_sqlite() {
    fuzz_everything_with_a_key(Engine::Sqlite, "fuzzing,stateful").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fuzzing_with_a_full_key_finds_no_error_on_postgres() {
    fuzz_everything_with_a_key(Engine::Postgres, "coverage,fuzzing").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fuzzing_without_a_credential_finds_no_error() {
    let crib = Crib::start_with(Engine::Sqlite, allow_login_failures).await;
    fuzz(
        &crib,
        Run { credentials: &[], things: None, filters: &["--phases", "fuzzing"], operations: OPERATIONS, closed_max: OPERATIONS },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fuzzing_bricks_and_kits_as_owner_finds_no_error() {
    let crib = Crib::start_with(Engine::Sqlite, allow_login_failures).await;
    let tenant = crib.tenant().await;
    let (owner, things) = (tenant.person("owner").await, Things::make(&tenant, "things").await);
    let cookie = owner.cookie.strip_prefix("toolcrib_login=").unwrap();
    let credentials = &[("login", "api_key", cookie), ("csrf", "api_key", owner.csrf.as_str())];
    let filters = ["--include-path-regex", "^/api/(bricks|kits|console/me)"];
    fuzz(&crib, Run { credentials, things: Some(&things), filters: &filters, operations: 11, closed_max: 0 }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fuzzing_orgs_as_operator_finds_no_error() {
    let crib = Crib::start_with(Engine::Sqlite, allow_login_failures).await;
    let tenant = crib.tenant().await;
    let things = Things::make(&tenant, "things").await;
    let credentials = &[("key", "bearer", crib.admin_key.as_str())];
    let filters = ["--include-path-regex", "^/api/(orgs|org/[^/]+)$"];
    fuzz(&crib, Run { credentials, things: Some(&things), filters: &filters, operations: 4, closed_max: 0 }).await;
}
