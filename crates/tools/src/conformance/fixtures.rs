//! Fixtures that return every kind of content, send notifications, announce a change, need a client capability, or test input schemas.

use mcp::Fault;
use mcp::fault::ClientCapability;
use mcp::model::{CallResult, Content, ResourceContents};
use serde_json::{Value, json};

use super::{Fixture, PNG, said};
use crate::changes::Change;
use crate::reply::Reply;
use crate::tool::Call;

/// A WAV file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

pub(super) const CONTENT: &[Fixture] = &[
    Fixture::new("test_simple_text", "Returns text.", text),
    Fixture::new("test_image_content", "Returns an image.", image),
    Fixture::new("test_audio_content", "Returns audio.", audio),
    Fixture::new("test_embedded_resource", "Returns an embedded resource.", embedded_resource),
    Fixture::new("test_multiple_content_types", "Returns several kinds of content.", several),
    Fixture::new("test_error_handling", "Returns an error.", failure),
];

pub(super) const NOTICES: &[Fixture] = &[
    Fixture::new("test_tool_with_progress", "Reports progress before it returns.", progress),
    Fixture::new("test_tool_with_logging", "Logs three lines before it returns.", logging),
    Fixture::new("test_logging_tool", "Logs three lines to a client that asks for logging.", logging),
    Fixture::new("test_missing_capability", "Needs a client with the sampling capability.", capability),
    Fixture::new("test_trigger_tool_change", "Announces that the list of tools changed.", tools_change),
    Fixture::new("test_trigger_prompt_change", "Announces that the list of prompts changed.", prompts_change),
];

/// Their schemas must be listed unchanged and enforced.
pub(super) const SCHEMAS: &[Fixture] = &[
    Fixture::new("test_x_mcp_header", "Has an argument that is also sent as a header.", done).taking(header),
    Fixture::new("json_schema_2020_12_tool", "Has a schema with every modern keyword.", done).taking(modern),
];

fn text(_: Call<'_>) -> Result<Reply, Fault> {
    said("This is a simple text response for testing.")
}

fn image(_: Call<'_>) -> Result<Reply, Fault> {
    answered(vec![picture()])
}

fn audio(_: Call<'_>) -> Result<Reply, Fault> {
    answered(vec![Content::Audio { data: WAV.into(), mime_type: "audio/wav".into() }])
}

fn embedded_resource(_: Call<'_>) -> Result<Reply, Fault> {
    answered(vec![embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
}

fn several(_: Call<'_>) -> Result<Reply, Fault> {
    let resource = embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
    answered(vec![Content::text("Multiple content types test:"), picture(), resource])
}

/// The tool itself reports the failure: in both eras this is a result and not a protocol error.
fn failure(_: Call<'_>) -> Result<Reply, Fault> {
    let said = CallResult::text("This tool intentionally returns an error for testing");
    Ok(Reply::Complete(CallResult { is_error: true, ..said }))
}

fn answered(content: Vec<Content>) -> Result<Reply, Fault> {
    Ok(Reply::Complete(CallResult { content, ..CallResult::default() }))
}

pub(super) fn picture() -> Content {
    Content::Image { data: PNG.into(), mime_type: "image/png".into() }
}

fn embedded(uri: &'static str, mime_type: &'static str, text: &'static str) -> Content {
    Content::Resource {
        resource: ResourceContents::Text { uri: uri.into(), mime_type: Some(mime_type.into()), text: text.into() },
    }
}

fn progress(call: Call<'_>) -> Result<Reply, Fault> {
    for done in [0.0, 50.0, 100.0] {
        call.notify.progress(done, Some(100.0), None);
    }
    said("The work is done.")
}

fn logging(call: Call<'_>) -> Result<Reply, Fault> {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        call.notify.log("info", None, &json!(line));
    }
    said("The lines were logged.")
}

fn capability(call: Call<'_>) -> Result<Reply, Fault> {
    call.exchange.client.require(&[ClientCapability::Sampling])?;
    said("The client can sample.")
}

fn tools_change(call: Call<'_>) -> Result<Reply, Fault> {
    call.services.changes.tell(call.permit.principal().org, Change::Tools);
    said("The change was announced.")
}

fn prompts_change(call: Call<'_>) -> Result<Reply, Fault> {
    call.services.changes.tell(call.permit.principal().org, Change::Prompts);
    said("The change was announced.")
}

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
