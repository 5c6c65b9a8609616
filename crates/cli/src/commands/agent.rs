//! `toolcrib agent`: manages registered agents, which log in with their own key and secret.

use std::io::{IsTerminal, Read};

use anyhow::{Context, Result, bail};
use base::AgentId;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, request_body};
use crate::client::{encode, post_public};
use crate::environment;
use crate::opening::ToolNames;
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

/// Maximum input size for an agent's key and secret.
const CREDENTIAL_BYTES_MAX: u64 = 64 * 1024;

const COLUMNS: [Column; 6] = [
    ("ID", "/agent_id"),
    ("NAME", "/name"),
    ("KEY", "/agent_key"),
    ("SCOPES", "/scopes"),
    ("TOOLS", "/tools"),
    ("DISABLED", "/disabled"),
];

/// Manages registered agents: machine identities with a key, a secret, scopes and a list of tools.
#[derive(Args, Debug)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the org's agents
    List(ListArgs),
    /// Show an agent
    Show {
        /// Agent, by id or name
        agent: String,
    },
    /// Register an agent; its secret is shown once
    #[command(after_help = "Example:\n  toolcrib agent add reviewer --scope bricks:read --tool bricks.list")]
    Add {
        /// Name of the agent
        name: String,
        /// Project, by id or name; without one the agent has no project tools
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// Scope to grant (repeatable)
        #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', required = true)]
        scopes: Vec<String>,
        /// Tool to allow (repeatable)
        #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',', required = true)]
        tools: Vec<String>,
        /// How tool names are spelled; `safe` is for clients that reject dots
        #[arg(long, value_name = "NAMES")]
        tool_names: Option<ToolNames>,
        /// Maximum calls per minute [default: the server's limit]
        #[arg(long, value_name = "N")]
        per_minute: Option<u32>,
    },
    /// Change an agent, effective on its next request
    Set {
        /// Agent, by id or name
        agent: String,
        /// Scope to grant; replaces all current scopes (repeatable)
        #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',')]
        scopes: Vec<String>,
        /// Tool to allow; replaces all current tools (repeatable)
        #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',')]
        tools: Vec<String>,
        /// Disable the agent and revoke its tokens
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// Enable the agent again
        #[arg(long)]
        enable: bool,
        /// Maximum calls per minute
        #[arg(long, value_name = "N")]
        per_minute: Option<u32>,
    },
    /// Rotate an agent's secret; the old secret and its tokens stop working at once
    Rotate {
        /// Agent, by id or name
        agent: String,
    },
    /// Exchange an agent's key and secret for a 15-minute access token
    #[command(after_help = TOKEN)]
    Token,
    /// Remove an agent and its tokens
    Remove {
        /// Agent, by id or name
        agent: String,
    },
}

const TOKEN: &str = "\
Examples:
  toolcrib agent token
  cat agent.json | toolcrib agent token --url https://crib.example

Prints {\"Authorization\": \"Bearer …\"}, the format that an MCP client's header
helper returns. The key and secret come from TOOLCRIB_AGENT_KEY and
TOOLCRIB_AGENT_SECRET, or from stdin: either the output of
`toolcrib agent add --json`, or the key on one line and the secret on the next.
--json prints the server's full response, with the token's expiry time.";

pub(crate) async fn run(args: AgentArgs) -> Result<()> {
    if matches!(args.verb, Verb::Token) {
        return token(&args.client).await;
    }
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(list) => {
            let answer = place.api.list(&place.path("/agents"), "agents", list.limit).await?;
            place.print_list(&answer, "agents", &COLUMNS)
        }
        Verb::Show { agent } => place.print(&place.api.get(&path(&place, &agent, "").await?).await?),
        Verb::Add { name, project, scopes, tools, tool_names, per_minute } => {
            let project = match project {
                Some(project) => Some(json!(place.project(&ProjectArg { project: Some(project) }).await?.id)),
                None => None,
            };
            let names = tool_names.map(|names| json!(if names == ToolNames::Safe { "safe" } else { "canonical" }));
            let body = request_body([
                ("name", Some(json!(name))),
                ("projectId", project),
                ("scopes", Some(json!(scopes))),
                ("tools", Some(json!(tools))),
                ("tool_names", names),
                ("rate_limit", per_minute.map(rate)),
            ]);
            place.print_once(&place.api.post(&place.path("/agents"), &body).await?, "secret")
        }
        Verb::Set { agent, scopes, tools, disable, enable, per_minute } => {
            let body = request_body([
                ("scopes", (!scopes.is_empty()).then(|| json!(scopes))),
                ("tools", (!tools.is_empty()).then(|| json!(tools))),
                ("disabled", (disable || enable).then(|| json!(disable))),
                ("rate_limit", per_minute.map(rate)),
            ]);
            place.print(&place.api.patch(&path(&place, &agent, "").await?, &body).await?)
        }
        Verb::Rotate { agent } => {
            place.print_once(&place.api.post(&path(&place, &agent, "/rotate").await?, &json!({})).await?, "secret")
        }
        Verb::Remove { agent } => {
            let id = place.id_of("agents", AgentId::PREFIX, "name", &agent).await?;
            place.api.delete(&place.path(&format!("/agents/{}", encode(&id)))).await?;
            place.print_as(&json!({ "removed": id }), || format!("removed {agent}"))
        }
        // Handled above: it uses the agent's own credential.
        Verb::Token => Ok(()),
    }
}

async fn token(client: &ClientArgs) -> Result<()> {
    let url = client.server.find_url()?;
    let (key, secret) = credential(std::io::stdin())?;
    let body = json!({ "agent_key": key, "agent_secret": secret });
    let (answer, _) = post_public(&url, "/api/agents/authenticate", &body).await?;
    if client.json {
        return output::print_json(&answer);
    }
    let token = answer.get("access_token").and_then(Value::as_str);
    let token = token.context("the server's response has no token; run `toolcrib doctor` to compare versions")?;
    output::print(&json!({ "Authorization": format!("Bearer {token}") }).to_string())
}

/// Reads an agent's key and secret from the environment, or else from stdin.
fn credential(input: std::io::Stdin) -> Result<(String, String)> {
    let (key, secret) = (environment::text(environment::AGENT_KEY), environment::text(environment::AGENT_SECRET));
    if let Some(both) = key.zip(secret) {
        return Ok(both);
    }
    let (name, secret) = (environment::AGENT_KEY, environment::AGENT_SECRET);
    if input.is_terminal() {
        bail!("no agent credential; set {name} and {secret}, or write the agent's key and secret to stdin");
    }
    let mut text = String::new();
    input.lock().take(CREDENTIAL_BYTES_MAX).read_to_string(&mut text).context("cannot read the agent's key and secret")?;
    parse_credential(&text).with_context(|| {
        format!("no agent credential on stdin; write the output of `toolcrib agent add --json`, or set {name} and {secret}")
    })
}

/// Parses `{"agent_key": …, "agent_secret": …}`, or the key on one line and the secret on the next.
fn parse_credential(text: &str) -> Option<(String, String)> {
    if let Ok(Value::Object(members)) = serde_json::from_str(text) {
        let member = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
        return member("agent_key").zip(member("agent_secret"));
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
    lines.next().zip(lines.next()).filter(|_| lines.next().is_none())
}

fn rate(per_minute: u32) -> Value {
    json!({ "per_minute": per_minute })
}

async fn path(place: &Workplace, agent: &str, rest: &str) -> Result<String> {
    Ok(place.path_to("agents", AgentId::PREFIX, "name", agent).await? + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credential_is_json_or_two_lines() {
        let both = Some(("k".to_owned(), "s".to_owned()));
        assert_eq!(parse_credential(r#"{"agent_id": "a", "agent_key": "k", "agent_secret": "s"}"#), both);
        assert_eq!(parse_credential("k\r\ns\n"), both);
        for bad in ["", "k", "k\ns\nx", "{}", r#"{"agent_key": "k"}"#] {
            assert_eq!(parse_credential(bad), None, "{bad}");
        }
    }
}
