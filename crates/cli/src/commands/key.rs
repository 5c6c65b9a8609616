//! `toolcrib key`: manages the API keys of an org.

use anyhow::{Result, anyhow, bail};
use base::{AgentId, Clock, KeyId, Timestamp};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, request_body};
use crate::client::{ApiError, encode};
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

/// Manages the API keys of an org. Launchers use these keys; agents get a session key instead.
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
    /// Create a key; it is shown only once
    #[command(after_help = "Examples:\n  toolcrib key add ci --scope sessions:write --scope bricks:read --expires 90d\n  \
                            toolcrib key add web-only --cover web\n  \
                            toolcrib key add nightly --scope sessions:write,code:read --agents reviewer")]
    Add {
        /// Name of the key
        name: String,
        /// Scope to grant (repeatable) [default: *]
        #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',')]
        scopes: Vec<String>,
        /// Project to cover, by id or name (repeatable) [default: all]
        #[arg(long = "cover", value_name = "PROJECT")]
        projects: Vec<String>,
        /// Registered agent for which the key can open sessions, by id or name (repeatable), or `all`, or `none` [default: none;
        /// with scope *, every agent that your key allows]
        #[arg(long = "agents", value_name = "AGENT", value_delimiter = ',')]
        agents: Vec<String>,
        /// Expiry: 12h or 90d from now, or an RFC 3339 time [default: never]
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// Revoke a key and end its sessions; lists the keys it created, which stay valid
    Revoke {
        /// Key, by id or name
        #[arg(value_name = "KEY")]
        which: String,
        /// Also revoke every key created with it, directly or indirectly
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
            let body = request_body([
                ("name", Some(json!(name))),
                ("projects", Some(project_ids(&place, projects).await?)),
                ("scopes", (!scopes.is_empty()).then(|| json!(scopes))),
                ("agents", agent_ids(&place, agents).await?),
                ("expiresAt", expires.as_deref().map(expiry).transpose()?),
            ]);
            place.print_once(&place.api.post(&place.path("/keys"), &body).await?, "key")
        }
        Verb::Revoke { which, cascade } => {
            let id = place.id_of("keys", KeyId::PREFIX, "name", &which).await?;
            let path = place.path(&format!("/keys/{}?cascade={cascade}", encode(&id)));
            let mut answer = match place.api.delete(&path).await {
                Err(error) => return Err(revoked_before(&place, &id, &which, error).await),
                answer => answer?,
            };
            let hint = "keys created with it are still valid (`--cascade` revokes them too):";
            let text = with_minted(format!("revoked {id}"), "created with it", hint, &answer);
            if let Some(members) = answer.as_object_mut() {
                members.insert("revoked".to_owned(), json!(id));
            }
            place.print_as(&answer, || text)
        }
    }
}

/// Says since when a key is revoked, if that is why it cannot be revoked. The API answers 404.
async fn revoked_before(place: &Workplace, id: &str, named: &str, error: anyhow::Error) -> anyhow::Error {
    if error.downcast_ref::<ApiError>().is_none_or(|refusal| refusal.status.as_u16() != 404) {
        return error;
    }
    let shown = place.api.get(&place.path(&format!("/keys/{}", encode(id)))).await.unwrap_or_default();
    match shown.pointer("/key/revokedAt").and_then(Value::as_str) {
        Some(time) => anyhow!("the key `{named}` is already revoked, since {time}; `--cascade` revokes the keys created with it"),
        None => error,
    }
}

/// Describes what was done, how many created keys were revoked with it, and which are still valid.
pub(super) fn with_minted(done: String, created: &str, hint: &str, answer: &Value) -> String {
    let mut text = match answer.get("mintedRevoked").and_then(Value::as_u64).unwrap_or_default() {
        0 => done,
        1 => format!("{done} and 1 key {created}"),
        others => format!("{done} and {others} keys {created}"),
    };
    let minted = answer.get("minted").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !minted.is_empty() {
        text.push('\n');
        text.push_str(hint);
        for key in minted {
            let member = |name: &str| key.get(name).and_then(Value::as_str).unwrap_or_default();
            text.push_str(&format!("\n  {}  {}", member("id"), member("name")));
        }
    }
    text
}

/// The agents for which a key can open sessions. `None` leaves the default to the server.
async fn agent_ids(place: &Workplace, agents: Vec<String>) -> Result<Option<Value>> {
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

/// The projects that a key covers.
async fn project_ids(place: &Workplace, projects: Vec<String>) -> Result<Value> {
    if projects.is_empty() || projects == ["all"] {
        return Ok(json!("all"));
    }
    let mut ids = Vec::new();
    for project in projects {
        ids.push(place.project(&ProjectArg { project: Some(project) }).await?.id);
    }
    Ok(json!(ids))
}

/// Parses a future time: a duration from now, or an RFC 3339 time.
fn expiry(text: &str) -> Result<Value> {
    if let Ok(seconds) = parse_seconds(text) {
        let ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        return Ok(json!(Clock::system().now().plus_ms(ms)));
    }
    match Timestamp::parse_rfc3339(text) {
        Some(time) => Ok(json!(time)),
        None => bail!("`{text}` is not a time; write 12h, 90d, or 2027-01-31T12:00:00Z"),
    }
}
