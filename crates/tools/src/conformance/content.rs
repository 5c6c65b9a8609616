//! Fixtures that return every kind of content.

use mcp::Fault;
use mcp::model::{CallResult, Content, ResourceContents};

use super::{Fixture, PNG, said};
use crate::reply::Reply;
use crate::tool::Call;

/// A WAV file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

pub(super) const FIXTURES: &[Fixture] = &[
    Fixture::new("test_simple_text", "Returns text.", text),
    Fixture::new("test_image_content", "Returns an image.", image),
    Fixture::new("test_audio_content", "Returns audio.", audio),
    Fixture::new("test_embedded_resource", "Returns an embedded resource.", embedded_resource),
    Fixture::new("test_multiple_content_types", "Returns several kinds of content.", several),
    Fixture::new("test_error_handling", "Returns an error.", failure),
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
