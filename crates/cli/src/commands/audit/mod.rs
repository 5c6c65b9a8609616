//! `toolcrib audit`: the audit trail, from outside the server.

mod actor;
mod filter;
mod follow;
mod prune;
mod trail;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::said;
use crate::client::{ApiError, encode};
use crate::output::Column;
use crate::workplace::{ClientArgs, Workplace};

const KEY_COLUMNS: [Column; 5] = [
    ("KID", "/kid"),
    ("CREATED", "/createdAt"),
    ("RETIRED", "/retiredAt"),
    ("REVOKED", "/revokedAt"),
    ("REASON", "/revokedReason"),
];

/// The audit trail of an org: every call, refusal and change, chained and signed.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List what happened, newest first
    #[command(after_help = trail::LIST)]
    List(filter::FilterArgs),
    /// Write the whole trail as JSON lines
    #[command(after_help = trail::EXPORT)]
    Export {
        /// File to write [default: stdout]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Get a signed statement of how long the trail is and where it ends
    #[command(after_help = trail::CHECKPOINT)]
    Checkpoint {
        /// File to write [default: stdout]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Verify an export without a server, or have the server verify the trail
    #[command(after_help = verify::HELP)]
    Verify(verify::VerifyArgs),
    /// List the signing keys, oldest first; the last one signs
    Keys,
    /// Get the public keys, former ones too: what verifying needs
    Jwks {
        /// File to write [default: stdout]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Remove the oldest entries for good
    #[command(after_help = prune::HELP)]
    Prune(prune::PruneArgs),
    /// Put a new signing key in the active one's place, which signs it in
    Rotate,
    /// Revoke a signing key; the active one is rotated first
    #[command(after_help = REVOKE)]
    Revoke {
        /// Key, by its kid
        kid: String,
        /// Why; it is published with the key
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

const REVOKE: &str = "\
Example:
  toolcrib audit revoke \"$KID\" --reason \"the backup disk was stolen\"

What it signs from now on is invalid. Entries from before stay good; verifying
counts them, because whoever has the key could have made them too. A checkpoint
from before settles it.";

pub(crate) async fn run(args: AuditArgs) -> Result<ExitCode> {
    if let Verb::Verify(verify) = &args.verb {
        // It may need no server.
        return verify::run(&args.client, verify).await;
    }
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(filter) => trail::list(&place, &filter, args.client.json).await?,
        Verb::Export { out } => trail::export(&place, out.as_deref(), args.client.json).await?,
        Verb::Checkpoint { out } => trail::checkpoint(&place, out.as_deref()).await?,
        Verb::Prune(prune) => prune::run(&place, &prune).await?,
        Verb::Keys => {
            let answer = place.api.get(&place.query("/api/audit/keys")).await?;
            place.print_list(&answer, "keys", &KEY_COLUMNS)?;
        }
        Verb::Jwks { out } => trail::document(&place, &jwks(&place).await?, out.as_deref())?,
        Verb::Rotate => {
            let answer = place.api.post(&place.query("/api/audit/keys/rotate"), &json!({})).await?;
            place.print_as(&answer, || format!("rotated: {} signs from now on", kid(&answer)))?;
        }
        Verb::Revoke { kid: which, reason } => {
            let body = said([("reason", reason.map(Value::from))]);
            let path = place.query(&format!("/api/audit/keys/{}/revoke", encode(&which)));
            let answer = place.api.post(&path, &body).await.map_err(|error| unknown(error, &which))?;
            place.print_as(&answer, || format!("revoked {}: `toolcrib audit keys` shows which one signs now", kid(&answer)))?;
        }
        Verb::Verify(_) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// A key that is not there is no API key, whose list would be of no help.
fn unknown(error: anyhow::Error, kid: &str) -> anyhow::Error {
    match error.downcast_ref::<ApiError>() {
        Some(refusal) if refusal.status.as_u16() == 404 => {
            anyhow!("there is no signing key `{kid}` (404): `toolcrib audit keys` lists them")
        }
        _ => error,
    }
}

fn kid(answer: &Value) -> &str {
    answer.pointer("/key/kid").and_then(Value::as_str).unwrap_or_default()
}

/// The public keys of the workspace. They are listed by its id, which a key that may only read the trail learns from a checkpoint.
async fn jwks(place: &Workplace) -> Result<Value> {
    let checkpoint = place.api.get(&place.query("/api/audit/checkpoint")).await?;
    let workspace = checkpoint.get("workspaceId").and_then(Value::as_str);
    let workspace = workspace.context("the server's checkpoint names no workspace: `toolcrib doctor` compares the versions")?;
    place.api.get(&format!("/.well-known/audit-keys/{}", encode(workspace))).await
}
