//! `toolcrib audit`: lists, exports, verifies and prunes the audit trail, and manages its signing keys.

mod filter;
mod follow;
mod prune;
mod trail;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::request_body;
use crate::client::encode;
use crate::output::Column;
use crate::workplace::{ClientArgs, Workplace};

const KEY_COLUMNS: [Column; 5] = [
    ("KID", "/kid"),
    ("CREATED", "/createdAt"),
    ("RETIRED", "/retiredAt"),
    ("REVOKED", "/revokedAt"),
    ("REASON", "/revokedReason"),
];

/// Works with an org's audit trail: every call, refusal and change, chained and signed.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List entries, newest first
    #[command(after_help = trail::LIST)]
    List(filter::FilterArgs),
    /// Export the whole trail as JSONL
    #[command(after_help = trail::EXPORT)]
    Export {
        /// File to write [default: stdout]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Get a checkpoint: the trail's length and last hash, signed
    #[command(after_help = trail::CHECKPOINT)]
    Checkpoint {
        /// File to write [default: stdout]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Verify an export offline, or let the server verify its trail
    #[command(after_help = verify::HELP)]
    Verify(verify::VerifyArgs),
    /// List the signing keys, oldest first; the last one is active
    Keys,
    /// Get the public keys for verification, including old ones
    Jwks {
        /// File to write [default: stdout]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Permanently remove the oldest entries
    #[command(after_help = prune::HELP)]
    Prune(prune::PruneArgs),
    /// Rotate the signing key; the old key signs the change
    Rotate,
    /// Revoke a signing key; the active key is rotated first
    #[command(after_help = REVOKE)]
    Revoke {
        /// Key, by its kid
        // A kid is random base64url, so it can begin with a dash.
        #[arg(allow_hyphen_values = true)]
        kid: String,
        /// Reason, published with the key
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

const REVOKE: &str = "\
Example:
  toolcrib audit revoke \"$KID\" --reason \"the backup disk was stolen\"

Entries that the key signs after this are invalid. Earlier entries stay valid.
`audit verify` counts them, because a thief of the key could have forged them.
A checkpoint from before the theft proves that they are genuine.";

pub(crate) async fn run(args: AuditArgs) -> Result<ExitCode> {
    if let Verb::Verify(verify) = &args.verb {
        // Verifying an export needs no server.
        return verify::run(&args.client, verify).await;
    }
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(filter) => trail::list(&args.client, &place, &filter).await?,
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
            place.print_as(&answer, || format!("rotated; {} is now the signing key", kid(&answer)))?;
        }
        Verb::Revoke { kid: which, reason } => {
            let body = request_body([("reason", reason.map(Value::from))]);
            let path = place.query(&format!("/api/audit/keys/{}/revoke", encode(&which)));
            let answer = place.api.post(&path, &body).await?;
            place.print_as(&answer, || format!("revoked {}; `toolcrib audit keys` shows the active key", kid(&answer)))?;
        }
        Verb::Verify(_) => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn kid(answer: &Value) -> &str {
    answer.pointer("/key/kid").and_then(Value::as_str).unwrap_or_default()
}

/// The public keys of the workspace. The route needs the workspace id, which a key with only `audit:read` gets from a checkpoint.
async fn jwks(place: &Workplace) -> Result<Value> {
    let checkpoint = place.api.get(&place.query("/api/audit/checkpoint")).await?;
    let workspace = checkpoint.get("workspaceId").and_then(Value::as_str);
    let workspace =
        workspace.context("the server's checkpoint has no workspace id; run `toolcrib doctor` to compare versions")?;
    place.api.get(&format!("/.well-known/audit-keys/{}", encode(workspace))).await
}
