//! The management API: contract section 12 in JSON. Handlers are thin: `guard` and the domains decide; this module parses requests
//! strictly and formats answers. It reaches rows only through a `guard::Access`.

mod agents;
mod allowlist;
mod around;
mod audit;
mod audit_page;
mod authenticate;
mod body;
mod bricks;
mod client_address;
mod code;
mod console;
mod decisions;
mod document;
mod error;
mod explanation;
mod extract;
mod figures;
mod graph;
mod graph_changes;
mod graph_views;
mod health;
mod in_place;
mod in_project;
mod jwks;
mod keys;
mod kit_views;
mod kits;
mod memory;
mod orgs;
mod page;
mod path;
mod policies;
mod projects;
mod rights;
mod roots;
mod sessions;
mod text;
mod users;
mod visit;
mod webhooks;
mod whoami;
mod wire;
mod words;
mod workshop;

pub(crate) use health::Readiness;

use axum::Router;
use axum::middleware::from_fn_with_state;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Shared;

/// Routes all paths except the doors, which are matched before this router.
pub(crate) fn router(state: Shared) -> Router {
    let (api, _) = described().split_for_parts();
    let api = api.method_not_allowed_fallback(around::no_such_method).layer(from_fn_with_state(state.clone(), around::around));
    Router::new().merge(api).fallback(around::no_such_route).with_state(state)
}

/// The OpenAPI document, as served at `GET /api/openapi.json` and stored in `docs/openapi.json`.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = described().into_openapi();
    document::finish(&mut document);
    document
}

fn described() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(document::start())
        .merge(orgs::routes())
        .merge(whoami::routes())
        .merge(projects::routes())
        .merge(keys::routes())
        .merge(sessions::routes())
        .merge(agents::routes())
        .merge(authenticate::routes())
        .merge(users::routes())
        .merge(console::routes())
        .merge(bricks::routes())
        .merge(kits::routes())
        .merge(policies::routes())
        .merge(audit::routes())
        .merge(jwks::routes())
        .merge(memory::routes())
        .merge(graph::routes())
        .merge(graph_changes::routes())
        .merge(decisions::routes())
        .merge(code::routes())
        .merge(webhooks::routes())
        .merge(figures::routes())
        .merge(health::routes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::openapi;

    fn document() -> Value {
        serde_json::to_value(openapi()).unwrap()
    }

    /// Every operation, with its path and method.
    fn operations(document: &Value) -> Vec<(String, Value)> {
        let paths = document["paths"].as_object().unwrap();
        let of_path = |(path, item): (&String, &Value)| {
            let named = |(method, operation): (&String, &Value)| (format!("{method} {path}"), operation.clone());
            item.as_object().unwrap().iter().map(named).collect::<Vec<_>>()
        };
        paths.iter().flat_map(of_path).collect()
    }

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|member| references(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_resolves_and_every_component_is_used() {
        let document = document();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for reference in &found {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
        for kind in ["schemas", "responses", "headers"] {
            for name in document["components"][kind].as_object().unwrap().keys() {
                assert!(found.contains(&format!("#/components/{kind}/{name}")), "{kind} {name}");
            }
        }
    }

    #[test]
    fn operation_ids_are_unique_and_refusals_are_documented() {
        let document = document();
        let mut names = BTreeSet::new();
        for (place, operation) in operations(&document) {
            assert!(names.insert(operation["operationId"].to_string()), "{place}");
            assert!(operation["summary"].is_string() && operation["tags"].is_array(), "{place}");
            let answers = operation["responses"].as_object().unwrap();
            let open = operation["security"] == serde_json::json!([{}]);
            let needed: &[&str] = if open { &["200"] } else { &["400", "401", "403", "500", "503"] };
            assert!(needed.iter().all(|status| answers.contains_key(*status)), "{place}");
            let takes_body = operation.get("requestBody").is_some();
            assert_eq!(answers.contains_key("413"), takes_body, "{place}");
        }
    }

    #[test]
    fn requests_are_closed_objects() {
        let document = document();
        for (place, operation) in operations(&document) {
            let mut found = BTreeSet::new();
            references(&operation["requestBody"], &mut found);
            while let Some(reference) = found.pop_first() {
                let schema = document.pointer(reference.trim_start_matches('#')).unwrap();
                match schema.get("oneOf") {
                    // Each alternative is a closed object.
                    Some(forms) => references(forms, &mut found),
                    None => assert_eq!(schema["additionalProperties"], Value::Bool(false), "{place}"),
                }
            }
        }
    }
}
