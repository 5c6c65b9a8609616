//! `toolcrib webhook`: where an org's events are sent.

use anyhow::{Result, bail};
use base::WebhookId;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, said};
use crate::client::encode;
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, Workplace};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("URL", "/url"), ("EVENTS", "/events"), ("DISABLED", "/disabled"), ("CREATED", "/createdAt")];

const DEAD_COLUMNS: [Column; 4] = [("SEQUENCE", "/sequence"), ("TYPE", "/type"), ("FAILED", "/failedAt"), ("ERROR", "/error")];

/// Webhooks: signed messages about calls and changes, to an address of yours.
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
    /// Show a webhook, and how it does
    Show {
        /// Webhook, by id or address
        webhook: String,
    },
    /// Add a webhook; its signing secret is shown once
    #[command(after_help = ADD)]
    Add {
        /// Where messages are sent
        address: String,
        /// What it gets (repeatable): a phase of calls, an event's type, or a family of types [default: the three phases]
        #[arg(long = "event", value_name = "EVENT", value_delimiter = ',')]
        events: Vec<String>,
    },
    /// Change a webhook; what waits for it is tried again at once
    Set {
        /// Webhook, by id or address
        webhook: String,
        /// Where messages are sent from now on
        #[arg(long, value_name = "URL")]
        address: Option<String>,
        /// What it gets from now on (repeatable)
        #[arg(long = "event", value_name = "EVENT", value_delimiter = ',')]
        events: Vec<String>,
        /// Send nothing
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// Send what happens from now on
        #[arg(long)]
        enable: bool,
    },
    /// Give a webhook a new signing secret, shown once
    Rotate {
        /// Webhook, by id or address
        webhook: String,
    },
    /// List messages that were given up
    DeadLetters {
        /// Webhook, by id or address
        webhook: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Send an event once more, now; exits with 1 when the receiver does not take it
    Redeliver {
        /// Webhook, by id or address
        webhook: String,
        /// The event's number in the audit trail
        sequence: u64,
    },
    /// Remove a webhook, and what it could not deliver
    Remove {
        /// Webhook, by id or address
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
            let body = said([("url", Some(json!(address))), ("events", (!events.is_empty()).then(|| json!(events)))]);
            print_secret(&place, &place.api.post(&place.path("/webhooks"), &body).await?)
        }
        Verb::Set { webhook, address, events, disable, enable } => {
            let body = said([
                ("url", address.map(|address| json!(address))),
                ("events", (!events.is_empty()).then(|| json!(events))),
                ("disabled", (disable || enable).then(|| json!(disable))),
            ]);
            place.print(&place.api.patch(&path(&place, &webhook, "").await?, &body).await?)
        }
        Verb::Rotate { webhook } => {
            print_secret(&place, &place.api.post(&path(&place, &webhook, "/rotate").await?, &json!({})).await?)
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
                Some(error) => bail!("event {sequence} was not taken: {error}"),
            }
        }
        Verb::Remove { webhook } => {
            let id = id_of(&place, &webhook).await?;
            place.api.delete(&place.path(&format!("/webhooks/{}", encode(&id)))).await?;
            place.print_as(&json!({ "removed": id }), || format!("removed {webhook}"))
        }
    }
}

fn print_secret(place: &Workplace, answer: &Value) -> Result<()> {
    place.print(answer)?;
    eprintln!("The secret is shown this once: keep it now.");
    Ok(())
}

async fn id_of(place: &Workplace, webhook: &str) -> Result<String> {
    place.id_of("webhooks", WebhookId::PREFIX, "url", webhook).await
}

async fn path(place: &Workplace, webhook: &str, rest: &str) -> Result<String> {
    let id = id_of(place, webhook).await?;
    Ok(place.path(&format!("/webhooks/{}{rest}", encode(&id))))
}
