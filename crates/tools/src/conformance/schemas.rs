//! Fixtures that test input schemas: the schema must be listed unchanged and enforced.

use mcp::Fault;
use serde_json::{Value, json};

use super::{Fixture, said};
use crate::reply::Reply;
use crate::tool::Call;

pub(super) const FIXTURES: &[Fixture] = &[
    Fixture::new("test_x_mcp_header", "Has an argument that is also sent as a header.", done).taking(header),
    Fixture::new("json_schema_2020_12_tool", "Has a schema with every modern keyword.", done).taking(modern),
];

fn done(_: Call<'_>) -> Result<Reply, Fault> {
    said("The arguments are valid.")
}

fn header() -> Value {
    json!({
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "additionalProperties": false,
    })
}

fn modern() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
