//! Opens and ends sessions, for every command that needs one.

use anyhow::{Context, Result};
use base::limits::SESSION_TTL_SECONDS_MAX;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::client::{ApiError, encode};
use crate::duration::parse_seconds;
use crate::workplace::Workplace;

/// Options of a new session.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Session")]
pub(crate) struct SessionArgs {
    /// Kind of work: bug_fix, refactor, feature, chore, or any other word
    #[arg(long, value_name = "TYPE")]
    pub(crate) work_type: Option<String>,

    /// Label for the agent in the session
    #[arg(long, value_name = "LABEL")]
    pub(crate) agent_label: Option<String>,

    /// Registered agent of the session, by id or name
    #[arg(long = "agent", value_name = "AGENT")]
    pub(crate) agent_id: Option<String>,

    /// Limit the session to this tool (repeatable) [default: every tool that the key allows]
    #[arg(long = "tool", value_name = "TOOL")]
    pub(crate) tools: Vec<String>,

    /// How tool names are spelled; `safe` is for clients that reject dots [default: safe for connect, run and stdio]
    #[arg(long, value_name = "NAMES")]
    pub(crate) tool_names: Option<ToolNames>,

    /// Lifetime of the session, such as 900, 15m or 8h; at most 30d [default: 1h for call and tools, else the server's default of 24h]
    #[arg(long, value_name = "TIME", value_parser = parse_ttl)]
    pub(crate) ttl: Option<u64>,
}

/// How tool names are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolNames {
    /// As documented (`bricks.list`)
    Canonical,
    /// Only letters, digits, `_` and `-` (`bricks_list`)
    Safe,
}

/// The outcome of a session's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomeWord {
    /// The work was accepted; the memories it recalled gain weight
    Accepted,
    /// The work must be redone; the memories it recalled lose weight
    Rework,
    /// The work was discarded; the memories it recalled lose weight
    Rejected,
}

impl OutcomeWord {
    /// Its name in API requests.
    pub(crate) fn word(self) -> &'static str {
        match self {
            OutcomeWord::Accepted => "accepted",
            OutcomeWord::Rework => "rework",
            OutcomeWord::Rejected => "rejected",
        }
    }
}

/// A new session, with its key.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    /// Its id.
    pub(crate) id: String,
    /// A key that works only for this session.
    pub(crate) key: String,
    /// The URL that agents use.
    pub(crate) mcp_url: String,
    /// When it expires.
    pub(crate) expires_at: String,
    /// The config for an MCP client.
    pub(crate) mcp_config: Value,
    /// The API's full response.
    pub(crate) answer: Value,
}

/// Parses the lifetime of a session.
fn parse_ttl(text: &str) -> Result<u64, String> {
    let seconds = parse_seconds(text)?;
    let days = SESSION_TTL_SECONDS_MAX / (24 * 60 * 60);
    if seconds > SESSION_TTL_SECONDS_MAX {
        Err(format!("a session lasts at most {days} days; write {days}d or less"))
    } else {
        Ok(seconds)
    }
}

impl SessionArgs {
    /// Defaults to safe tool names, for MCP clients that reject dots.
    pub(crate) fn for_a_client(self) -> Self {
        Self { tool_names: self.tool_names.or(Some(ToolNames::Safe)), ..self }
    }

    /// The request that opens a session in a project. The server decides every option that is not set.
    pub(crate) fn request(&self, project: &str) -> Value {
        let mut request = json!({ "projectId": project });
        let mut say = |member: &str, value: Value| {
            if let Some(members) = request.as_object_mut() {
                members.insert(member.to_owned(), value);
            }
        };
        let texts = [("agentId", &self.agent_id), ("agentLabel", &self.agent_label), ("workType", &self.work_type)];
        for (member, text) in texts {
            if let Some(text) = text {
                say(member, json!(text));
            }
        }
        if !self.tools.is_empty() {
            say("tools", json!(self.tools));
        }
        if let Some(names) = self.tool_names {
            say("tool_names", json!(if names == ToolNames::Safe { "safe" } else { "canonical" }));
        }
        if let Some(ttl) = self.ttl {
            say("ttlSeconds", json!(ttl));
        }
        request
    }
}

impl Workplace {
    /// Opens a session.
    pub(crate) async fn open_session(&self, project: &str, how: &SessionArgs) -> Result<Opened> {
        let mut how = how.clone();
        if let Some(named) = &how.agent_id {
            how.agent_id = Some(self.agent(named).await?);
        }
        let answer = self.api.post(&self.path("/sessions"), &how.request(project)).await.context("cannot open a session")?;
        Opened::read(answer).context("unexpected server response to a new session; run `toolcrib doctor` to compare versions")
    }

    /// Ends a session. Succeeds if it has already ended or expired.
    pub(crate) async fn end_session(&self, id: &str, outcome: Option<OutcomeWord>) -> Result<()> {
        let body = outcome.map_or(json!({}), |outcome| json!({ "outcome": outcome.word() }));
        match self.api.post(&self.path(&format!("/sessions/{}/end", encode(id))), &body).await {
            Ok(_) => Ok(()),
            Err(error) => match error.downcast_ref::<ApiError>().map(|refusal| refusal.status.as_u16()) {
                Some(404 | 409 | 410) => Ok(()),
                _ => Err(error.context(format!("cannot end session {id}; it ends when it expires"))),
            },
        }
    }
}

impl Opened {
    fn read(answer: Value) -> Option<Self> {
        let text = |member: &str| answer.get(member).and_then(Value::as_str).map(str::to_owned);
        let entry = answer.pointer("/mcpConfig/mcpServers")?.as_object()?.values().next()?;
        let key = entry.pointer("/headers/Authorization")?.as_str()?.strip_prefix("Bearer ")?.to_owned();
        let (id, mcp_url, expires_at) = (text("sessionId")?, text("mcpUrl")?, text("expiresAt")?);
        Some(Self { id, mcp_url, expires_at, mcp_config: answer.get("mcpConfig")?.clone(), key, answer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_has_only_the_options_that_are_set() {
        assert_eq!(SessionArgs::default().request("prj_1"), json!({"projectId": "prj_1"}));
        let how = SessionArgs {
            work_type: Some("bug_fix".into()),
            tools: vec!["kits.list".into()],
            tool_names: Some(ToolNames::Safe),
            ttl: Some(60),
            ..SessionArgs::default()
        };
        let asked =
            json!({"projectId": "p", "workType": "bug_fix", "tools": ["kits.list"], "tool_names": "safe", "ttlSeconds": 60});
        assert_eq!(how.request("p"), asked);
    }

    #[test]
    fn ttl_above_the_maximum_is_refused() {
        assert_eq!((parse_ttl("30d"), parse_ttl("8h")), (Ok(2_592_000), Ok(28_800)));
        assert!(parse_ttl("31d").unwrap_err().contains("at most 30 days"));
    }

    #[test]
    fn key_is_read_from_the_mcp_config() {
        let config =
            json!({"mcpServers": {"toolcrib": {"type": "http", "url": "u", "headers": {"Authorization": "Bearer rsk_live_1"}}}});
        let answer = json!({"sessionId": "ses_1", "mcpUrl": "u", "mcpConfig": config, "expiresAt": "t"});
        let opened = Opened::read(answer).unwrap();
        assert_eq!((opened.id.as_str(), opened.key.as_str()), ("ses_1", "rsk_live_1"));
        assert!(Opened::read(json!({"sessionId": "ses_1"})).is_none());
    }
}
