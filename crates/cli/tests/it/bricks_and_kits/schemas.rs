//! The tools' schemas.

use serde_json::{Value, json};

use super::sorted;
use crate::menu::{TOOLS, Things};
use crate::support::{Crib, Engine, both_engines, request};

/// The seed's input schemas: tool, then parameter.
fn inputs() -> Value {
    let name = json!({"type": "string", "minLength": 1, "maxLength": 120});
    let short = json!({"type": "string", "maxLength": 500});
    let status = json!({"type": "string", "enum": ["draft", "published", "deprecated"]});
    let limit = json!({"type": "integer", "minimum": 1, "maximum": 100});
    let list = json!({"status": status, "limit": limit});
    json!({
        "bricks.create_draft": {
            "name": name,
            "description": short,
            "type": {"type": "string", "enum": ["boolean", "score"]},
            "evaluation_prompt": {"type": "string", "maxLength": 10_000},
        },
        "bricks.list": list,
        "kits.create_draft": {
            "name": name,
            "description": short,
            "notes": short,
            "brick_ids": {"type": "array", "minItems": 1, "maxItems": 500, "uniqueItems": true, "items": {"type": "string"}},
        },
        "kits.list": list,
        "kits.get": {
            "kit_id": {"type": "string"},
            "include_bricks": {"type": "boolean"},
            "include_publish_readiness": {"type": "boolean"},
        },
    })
}

fn required(tool: &str) -> Vec<&'static str> {
    match tool {
        "bricks.create_draft" => sorted(["name", "type", "evaluation_prompt"]),
        "kits.create_draft" => sorted(["name", "brick_ids"]),
        "kits.get" => vec!["kit_id"],
        _ => Vec::new(),
    }
}

/// The schema's validation keywords, without its descriptions.
fn validation_keywords(schema: &Value) -> Value {
    let keywords =
        ["type", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "items"];
    let kept = schema.as_object().unwrap().iter().filter(|(keyword, _)| keywords.contains(&keyword.as_str()));
    kept.map(|(keyword, value)| (keyword.clone(), value.clone())).collect::<serde_json::Map<_, _>>().into()
}

both_engines! {
    async fn input_schemas_match_the_seed(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let listed = session.rpc(&request(1, "tools/list", json!({}))).await.result();
        let expected = inputs();
        let mut seen = 0;
        for tool in listed["tools"].as_array().unwrap() {
            let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
            let Some(expected) = expected.get(name) else { continue };
            let properties = schema["properties"].as_object().unwrap();
            let found = properties.iter().map(|(name, schema)| (name.clone(), validation_keywords(schema)));
            let found: serde_json::Map<_, _> = found.collect();
            assert_eq!(&Value::from(found), expected, "{name}");
            let mut needed: Vec<_> =
                schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
            needed.sort_unstable();
            assert_eq!(needed, required(name), "{name}");
            assert_eq!(schema["additionalProperties"], false, "{name}");
            seen += 1;
        }
        assert_eq!(seen, expected.as_object().unwrap().len());
    }

    async fn answers_match_the_listed_output_schemas(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (things, session) = (Things::make_without_user(&tenant, "things").await, tenant.session().await);
        let listed = session.rpc(&request(1, "tools/list", json!({}))).await.result();
        let schema = |name: &str| {
            let tool = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
            jsonschema::validator_for(&tool["outputSchema"]).unwrap()
        };
        let flags = [(false, false), (true, false), (false, true), (true, true)];
        let gets = flags.map(|(bricks, readiness)| {
            ("kits.get", json!({"kit_id": things.kit, "include_bricks": bricks, "include_publish_readiness": readiness}))
        });
        let calls = TOOLS.iter().map(|row| (row.name, (row.arguments)(&things))).chain(gets);
        for (name, arguments) in calls {
            let payload = session.call(name, arguments.clone()).await.result()["structuredContent"].clone();
            let complaints: Vec<_> = schema(name).iter_errors(&payload).map(|error| error.to_string()).collect();
            assert!(complaints.is_empty(), "{name} {arguments}: {complaints:?}");
        }
    }

    async fn no_tool_publishes_deletes_or_changes(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for verb in ["publish", "deprecate", "delete", "archive", "update", "new_version"] {
            for noun in ["bricks", "kits"] {
                for name in [format!("{noun}.{verb}"), format!("{noun}_{verb}")] {
                    assert_eq!(session.call(&name, json!({})).await.error_code(), -32601, "{name}");
                }
            }
        }
    }
}
