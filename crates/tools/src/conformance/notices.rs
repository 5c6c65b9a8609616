//! Fixtures that send notifications before they answer, announce a change, or need a client capability.

use mcp::Fault;
use mcp::fault::ClientCapability;
use serde_json::json;

use super::{Fixture, said};
use crate::changes::Change;
use crate::reply::Reply;
use crate::tool::Call;

pub(super) const FIXTURES: &[Fixture] = &[
    Fixture::new("test_tool_with_progress", "Reports progress before it returns.", progress),
    Fixture::new("test_tool_with_logging", "Logs three lines before it returns.", logging),
    Fixture::new("test_logging_tool", "Logs three lines to a client that asks for logging.", logging),
    Fixture::new("test_missing_capability", "Needs a client with the sampling capability.", capability),
    Fixture::new("test_trigger_tool_change", "Announces that the list of tools changed.", tools_change),
    Fixture::new("test_trigger_prompt_change", "Announces that the list of prompts changed.", prompts_change),
];

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
