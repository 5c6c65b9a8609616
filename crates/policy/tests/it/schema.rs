//! The schema text.

use std::collections::BTreeMap;

use expect_test::expect;
use policy::{ActionKind, ActionSpec, Model};
use serde_json::{Value, json};

use crate::support::{actions, model};

/// The part of the schema text for one action.
fn about<'a>(text: &'a str, action: &str) -> &'a str {
    text.split("\n\n").find(|part| part.contains(&format!("action \"{action}\""))).unwrap()
}

#[test]
fn an_action_has_the_types_of_its_tool() {
    expect![[r#"
        // Not visible here: input.anything; it has no type.
        // Not visible here: input.flags.extra; it is an object with arbitrary members.
        // Not visible here: input.free; it is an object with arbitrary members.
        // Not visible here: input.mixed; it can have several types.
        action "notes.write" in ["tool_call"] appliesTo {
          principal: [Session, Agent],
          resource: [Tool],
          context: {
            call: Call,
            input: {
              flags: {
                level?: Long,
                urgent: Bool,
              },
              "größe"?: String,
              n: Long,
              points?: Set<{
                x: decimal,
              }>,
              ratio?: decimal,
              tags: Set<String>,
              title: String,
              "with space"?: String,
            },
          },
        };"#]]
    .assert_eq(about(model().schema_text(), "notes.write"));
}

#[test]
fn the_order_of_tools_does_not_matter() {
    let mut reversed = actions();
    reversed.reverse();
    assert_eq!(Model::build(reversed).unwrap().schema_text(), model().schema_text());
}

#[test]
fn cedar_accepts_the_schema_without_warnings() {
    let (_, warnings) = cedar_policy::SchemaFragment::from_cedarschema_str(model().schema_text()).unwrap();
    assert_eq!(warnings.map(|warning| warning.to_string()).collect::<Vec<_>>(), Vec::<String>::new());
    assert!(Model::build([]).is_ok(), "a server without tools has a schema too");
}

/// The Cedar type of each kind of JSON Schema.
#[test]
fn json_schemas_become_types() {
    let cases: BTreeMap<&str, (Value, &str)> = [
        ("string", (json!({"type": "string", "maxLength": 3}), "String")),
        ("integer", (json!({"type": "integer"}), "Long")),
        ("number", (json!({"type": "number"}), "decimal")),
        ("boolean", (json!({"type": "boolean"}), "Bool")),
        ("enum", (json!({"enum": ["a", "b", null]}), "String")),
        ("numbers", (json!({"enum": [1, 2]}), "Long")),
        ("constant", (json!({"const": true}), "Bool")),
        ("nullable", (json!({"type": ["null", "integer"]}), "Long")),
        ("either_null", (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "String")),
        ("one_null", (json!({"oneOf": [{"type": "null"}, {"type": "boolean"}]}), "Bool")),
        ("sets", (json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}), "Set<Set<Long>>")),
        ("narrowed", (json!({"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}]}), "{}")),
        ("mixed_enum", (json!({"enum": ["a", 1]}), "")),
        ("float_enum", (json!({"enum": [1.5]}), "")),
        ("only_null", (json!({"type": "null"}), "")),
        ("union", (json!({"type": ["string", "integer"]}), "")),
        ("union_of", (json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), "")),
        ("reference", (json!({"$ref": "#/$defs/x"}), "")),
        ("free_object", (json!({"type": "object"}), "")),
        ("free_items", (json!({"type": "array"}), "")),
        ("any_items", (json!({"type": "array", "items": true}), "")),
        ("null_items", (json!({"type": "array", "items": {"type": ["string", "null"]}}), "")),
        ("tuple", (json!({"type": "array", "prefixItems": [{"type": "string"}]}), "")),
        ("odd", (json!({"type": "strange"}), "")),
        ("nothing", (json!({}), "")),
        ("everything", (json!(true), "")),
        ("no_schema", (json!(7), "")),
    ]
    .into();
    let properties: serde_json::Map<String, Value> =
        cases.iter().map(|(name, (schema, _))| ((*name).to_owned(), schema.clone())).collect();
    let schema = json!({"type": "object", "properties": properties, "required": properties.keys().collect::<Vec<_>>()});
    let tool = ActionSpec { name: "t", kind: ActionKind::Tool { read_only: true, destructive: false }, input_schema: &schema };
    let model = Model::build([tool]).unwrap();
    let text = about(model.schema_text(), "t");
    for (name, (schema, kind)) in &cases {
        let optional = matches!(*name, "enum" | "nullable" | "either_null" | "one_null");
        let line = format!("      {name}{}: {kind},\n", if optional { "?" } else { "" });
        let left_out = format!("// Not visible here: input.{name}; ");
        assert_eq!(text.contains(&line), !kind.is_empty(), "{name}: {schema}\n{text}");
        assert_eq!(text.contains(&left_out), kind.is_empty(), "{name}: {schema}\n{text}");
    }
}

#[test]
fn huge_schemas_are_cut() {
    let mut deep = json!({"type": "string"});
    for _ in 0..120 {
        deep = json!({"type": "object", "properties": {"x": deep}});
    }
    let wide: serde_json::Map<String, Value> =
        (0..5_000).map(|number| (format!("m{number}"), json!({"type": "string"}))).collect();
    let wide = json!({"type": "object", "properties": wide});
    for schema in [&deep, &wide, &json!(null), &json!({"properties": []}), &json!([])] {
        let tool = ActionSpec { name: "t", kind: ActionKind::Tool { read_only: true, destructive: false }, input_schema: schema };
        assert!(Model::build([tool]).unwrap().schema_text().len() < 10_000);
    }
}
