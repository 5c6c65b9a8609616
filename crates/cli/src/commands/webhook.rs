//! `toolcrib webhook`: manages the webhooks of an org.

use anyhow::{Result, bail};
use base::WebhookId;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, request_body};
use crate::client::encode;
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, Workplace};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("URL", "/url"), ("EVENTS", "/events"), ("DISABLED", "/disabled"), ("CREATED", "/createdAt")];

const DEAD_COLUMNS: [Column; 4] = [("SEQUENCE", "/sequence"), ("TYPE", "/type"), ("FAILED", "/failedAt"), ("ERROR", "/error")];

/// Manages webhooks, which receive signed messages about calls and changes.
#[derive(Args, Debug)]
pub(crate) struct WebhookArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the org's webhooks
    List(ListArgs),
    /// Show a webhook and its delivery status
    Show {
        /// Webhook, by id or URL
        webhook: String,
    },
    /// Create a webhook; its signing secret is shown only once
    #[command(after_help = ADD)]
    Add {
        /// URL that receives the messages
        #[arg(value_name = "URL")]
        address: String,
        /// Event to send: a call phase, an event type, or a group like `policy.*` (repeatable) [default: the three call phases]
        #[arg(long = "event", value_name = "EVENT", value_delimiter = ',')]
        events: Vec<String>,
    },
    /// Change a webhook and retry waiting messages at once
    Set {
        /// Webhook, by id or URL
        webhook: String,
        /// New URL
        #[arg(long, value_name = "URL")]
        address: Option<String>,
        /// Event to send; replaces all current events (repeatable)
        #[arg(long = "event", value_name = "EVENT", value_delimiter = ',')]
        events: Vec<String>,
        /// Stop sending messages
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// Send messages for new events again
        #[arg(long)]
        enable: bool,
    },
    /// Rotate a webhook's signing secret; the new one is shown only once
    Rotate {
        /// Webhook, by id or URL
        webhook: String,
    },
    /// List messages that could not be delivered
    DeadLetters {
        /// Webhook, by id or URL
        webhook: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Send an event again now; exits with 1 if the receiver refuses it
    Redeliver {
        /// Webhook, by id or URL
        webhook: String,
        /// Sequence number of the event in the audit trail
        sequence: u64,
    },
    /// Remove a webhook and its undelivered messages
    Remove {
        /// Webhook, by id or URL
        webhook: String,
    },
}

const ADD: &str = "\
Examples:
  toolcrib webhook add https://hooks.example/toolcrib
  toolcrib webhook add https://hooks.example/alerts --event verb-error \\
      --event 'policy.*' --event key.minted";

pub(crate) async fn run(args: WebhookArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(list) => {
            let answer = place.api.list(&place.path("/webhooks"), "webhooks", list.limit).await?;
            place.print_list(&answer, "webhooks", &COLUMNS)
        }
        Verb::Show { webhook } => place.print(&place.api.get(&path(&place, &webhook, "").await?).await?),
        Verb::Add { address, events } => {
            let body = request_body([("url", Some(json!(address))), ("events", (!events.is_empty()).then(|| json!(events)))]);
            place.print_once(&place.api.post(&place.path("/webhooks"), &body).await?, "secret")
        }
        Verb::Set { webhook, address, events, disable, enable } => {
            let body = request_body([
                ("url", address.map(|address| json!(address))),
                ("events", (!events.is_empty()).then(|| json!(events))),
                ("disabled", (disable || enable).then(|| json!(disable))),
            ]);
            place.print(&place.api.patch(&path(&place, &webhook, "").await?, &body).await?)
        }
        Verb::Rotate { webhook } => {
            place.print_once(&place.api.post(&path(&place, &webhook, "/rotate").await?, &json!({})).await?, "secret")
        }
        Verb::DeadLetters { webhook, list } => {
            let path = path(&place, &webhook, "/dead-letters").await?;
            let answer = place.api.list(&path, "deadLetters", list.limit).await?;
            let rows = answer.get("deadLetters").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            place.print_as(&answer, || output::table(rows, &DEAD_COLUMNS, "no dead letters"))
        }
        Verb::Redeliver { webhook, sequence } => {
            let path = path(&place, &webhook, "/redeliver").await?;
            let answer = place.api.post(&path, &json!({ "sequence": sequence })).await?;
            let error = answer.get("error").and_then(Value::as_str).map(str::to_owned);
            match error {
                None => place.print(&answer),
                Some(error) => bail!("the receiver refused event {sequence}: {error}"),
            }
        }
        Verb::Remove { webhook } => {
            let id = place.id_of("webhooks", WebhookId::PREFIX, "url", &webhook).await?;
            place.api.delete(&place.path(&format!("/webhooks/{}", encode(&id)))).await?;
            place.print_as(&json!({ "removed": id }), || format!("removed {webhook}"))
        }
    }
}

async fn path(place: &Workplace, webhook: &str, rest: &str) -> Result<String> {
    Ok(place.path_to("webhooks", WebhookId::PREFIX, "url", webhook).await? + rest)
}
