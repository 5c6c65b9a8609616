//! Opening and ending sessions, as every command does that goes through the session door.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::client::{ApiError, encode};
use crate::duration::parse_seconds;
use crate::workplace::Workplace;

/// How a session is opened.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Session")]
pub(crate) struct SessionArgs {
    /// Kind of work: bug_fix, refactor, feature, chore, or your own word
    #[arg(long, value_name = "TYPE")]
    pub(crate) work_type: Option<String>,

    /// Your word for the agent that runs in the session
    #[arg(long, value_name = "LABEL")]
    pub(crate) agent_label: Option<String>,

    /// Registered agent that runs in the session, by id or name
    #[arg(long = "agent", value_name = "AGENT")]
    pub(crate) agent_id: Option<String>,

    /// Limit the session to this tool (repeatable) [default: all that the key may use]
    #[arg(long = "tool", value_name = "TOOL")]
    pub(crate) tools: Vec<String>,

    /// How tools are listed: safe is for clients that break on names with a dot [default: safe for connect, run and stdio]
    #[arg(long, value_name = "NAMES")]
    pub(crate) tool_names: Option<ToolNames>,

    /// How long the session lives: 900, 15m, 8h, 30d [default: the server's, a day]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    pub(crate) ttl: Option<u64>,
}

/// How tools are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolNames {
    /// As they are documented (`bricks.list`)
    Canonical,
    /// Letters, digits, `_` and `-` only (`bricks_list`)
    Safe,
}

/// How the work of a session turned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Outcome {
    /// The work was taken: what was recalled for it gains weight
    Accepted,
    /// The work has to be done again: what was recalled for it loses weight
    Rework,
    /// The work was thrown away: what was recalled for it loses weight
    Rejected,
}

impl Outcome {
    /// The word in requests.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Outcome::Accepted => "accepted",
            Outcome::Rework => "rework",
            Outcome::Rejected => "rejected",
        }
    }
}

/// A session at the moment when its key is known.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    /// Its id.
    pub(crate) id: String,
    /// A key for this session and nothing else.
    pub(crate) key: String,
    /// Where agents reach it.
    pub(crate) mcp_url: String,
    /// When it ends by itself.
    pub(crate) expires_at: String,
    /// What an MCP client needs, ready to be written to a file.
    pub(crate) mcp_config: Value,
    /// The API's whole answer.
    pub(crate) answer: Value,
}

impl SessionArgs {
    /// The same with safe names unless others were asked for: for sessions that an MCP client uses, which may break on a dot.
    pub(crate) fn for_a_client(self) -> Self {
        Self { tool_names: self.tool_names.or(Some(ToolNames::Safe)), ..self }
    }

    /// The request that opens a session in a project. What was not said is left to the server.
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
        Opened::read(answer).context(
            "the server's answer to a new session is not as this release expects it: `toolcrib doctor` compares the versions",
        )
    }

    /// Ends a session. One that has ended or expired already is as ended as can be.
    pub(crate) async fn end_session(&self, id: &str, outcome: Option<Outcome>) -> Result<()> {
        let body = outcome.map_or(json!({}), |outcome| json!({ "outcome": outcome.word() }));
        match self.api.post(&self.path(&format!("/sessions/{}/end", encode(id))), &body).await {
            Ok(_) => Ok(()),
            Err(error) => match error.downcast_ref::<ApiError>().map(|refusal| refusal.status.as_u16()) {
                Some(404 | 409 | 410) => Ok(()),
                _ => Err(error.context(format!("cannot end the session {id}: it ends by itself when its time is over"))),
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
    fn only_what_was_said_is_asked_for() {
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
    fn the_key_is_read_from_the_config() {
        let config =
            json!({"mcpServers": {"toolcrib": {"type": "http", "url": "u", "headers": {"Authorization": "Bearer rsk_live_1"}}}});
        let answer = json!({"sessionId": "ses_1", "mcpUrl": "u", "mcpConfig": config, "expiresAt": "t"});
        let opened = Opened::read(answer).unwrap();
        assert_eq!((opened.id.as_str(), opened.key.as_str()), ("ses_1", "rsk_live_1"));
        assert!(Opened::read(json!({"sessionId": "ses_1"})).is_none());
    }
}
