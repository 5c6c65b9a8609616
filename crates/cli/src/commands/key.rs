//! `toolcrib key`: an org's API keys.

use anyhow::{Result, bail};
use base::{AgentId, Clock, KeyId, Timestamp};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, said};
use crate::client::encode;
use crate::duration::parse_seconds;
use crate::output::Column;
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

const COLUMNS: [Column; 7] = [
    ("ID", "/id"),
    ("NAME", "/name"),
    ("PREFIX", "/keyPrefix"),
    ("SCOPES", "/scopes"),
    ("PROJECTS", "/projectIds"),
    ("EXPIRES", "/expiresAt"),
    ("REVOKED", "/revokedAt"),
];

/// API keys of an org. Launchers hold them; agents never do: they get a key of their session.
#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the org's keys, without their secrets
    List(ListArgs),
    /// Show a key, without its secret
    Show {
        /// Key, by id or name
        #[arg(value_name = "KEY")]
        which: String,
    },
    /// Add a key; it is shown once
    #[command(after_help = "Examples:\n  toolcrib key add ci --scope sessions:write --scope bricks:read --expires 90d\n  \
                            toolcrib key add web-only --cover web\n  \
                            toolcrib key add nightly --scope sessions:write,code:read --agents reviewer")]
    Add {
        /// Its name
        name: String,
        /// What it may do (repeatable) [default: *]
        #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',')]
        scopes: Vec<String>,
        /// Project that it covers, by id or name (repeatable) [default: all]
        #[arg(long = "cover", value_name = "PROJECT")]
        projects: Vec<String>,
        /// Registered agent that it may open sessions for, by id or name (repeatable), or all, or none [default: none; for the
        /// scope *, all that your key has]
        #[arg(long = "agents", value_name = "AGENT", value_delimiter = ',')]
        agents: Vec<String>,
        /// When it stops working: 12h, 90d, or a time in RFC 3339
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// Revoke a key and the sessions that it opened; keys that it made live on and are listed
    Revoke {
        /// Key, by id or name
        #[arg(value_name = "KEY")]
        which: String,
        /// Also revoke the keys that it made, those that these made, and so on
        #[arg(long)]
        cascade: bool,
    },
}

pub(crate) async fn run(args: KeyArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(list) => {
            let answer = place.api.list(&place.path("/keys"), "keys", list.limit).await?;
            place.print_list(&answer, "keys", &COLUMNS)
        }
        Verb::Show { which } => {
            let id = place.id_of("keys", KeyId::PREFIX, "name", &which).await?;
            place.print(&place.api.get(&place.path(&format!("/keys/{}", encode(&id)))).await?)
        }
        Verb::Add { name, scopes, projects, agents, expires } => {
            let body = said([
                ("name", Some(json!(name))),
                ("projects", Some(cover(&place, projects).await?)),
                ("scopes", (!scopes.is_empty()).then(|| json!(scopes))),
                ("agents", speaks_for(&place, agents).await?),
                ("expiresAt", expires.as_deref().map(expiry).transpose()?),
            ]);
            place.print(&place.api.post(&place.path("/keys"), &body).await?)?;
            eprintln!("The key is shown this once: keep it now.");
            Ok(())
        }
        Verb::Revoke { which, cascade } => {
            let id = place.id_of("keys", KeyId::PREFIX, "name", &which).await?;
            let path = place.path(&format!("/keys/{}?cascade={cascade}", encode(&id)));
            let mut answer = place.api.delete(&path).await?;
            let text = revoked(&id, &answer);
            if let Some(members) = answer.as_object_mut() {
                members.insert("revoked".to_owned(), json!(id));
            }
            place.print_as(&answer, || text)
        }
    }
}

/// What revoking the key `id` came to, and what lives on.
fn revoked(id: &str, answer: &Value) -> String {
    let mut text = match answer.get("mintedRevoked").and_then(Value::as_u64).unwrap_or_default() {
        0 => format!("revoked {id}"),
        1 => format!("revoked {id} and 1 key that it made"),
        others => format!("revoked {id} and {others} keys that it made"),
    };
    let minted = answer.get("minted").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !minted.is_empty() {
        text.push_str("\nkeys that it made live on (`--cascade` revokes them too):");
        for key in minted {
            let member = |name: &str| key.get(name).and_then(Value::as_str).unwrap_or_default();
            text.push_str(&format!("\n  {}  {}", member("id"), member("name")));
        }
    }
    text
}

/// The agents that a key may open sessions for; nothing is said where none were named.
async fn speaks_for(place: &Workplace, agents: Vec<String>) -> Result<Option<Value>> {
    match agents.as_slice() {
        [] => return Ok(None),
        [word] if word == "all" => return Ok(Some(json!("all"))),
        [word] if word == "none" => return Ok(Some(json!([]))),
        _ => {}
    }
    let mut ids = Vec::new();
    for agent in agents {
        ids.push(place.id_of("agents", AgentId::PREFIX, "name", &agent).await?);
    }
    Ok(Some(json!(ids)))
}

async fn cover(place: &Workplace, projects: Vec<String>) -> Result<Value> {
    if projects.is_empty() || projects == ["all"] {
        return Ok(json!("all"));
    }
    let mut ids = Vec::new();
    for project in projects {
        ids.push(place.project(&ProjectArg { project: Some(project) }).await?.id);
    }
    Ok(json!(ids))
}

/// A time to come: a span from now, or the time itself.
fn expiry(text: &str) -> Result<Value> {
    if let Ok(seconds) = parse_seconds(text) {
        let ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        return Ok(json!(Clock::system().now().plus_ms(ms)));
    }
    match Timestamp::parse_rfc3339(text) {
        Some(time) => Ok(json!(time)),
        None => bail!("`{text}` is no time: write 12h, 90d, or 2027-01-31T12:00:00Z"),
    }
}
