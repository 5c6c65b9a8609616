//! `toolcrib brick` and `toolcrib kit`: reviewed building blocks, read-only here. Publishing is a person's act in the console.

use anyhow::Result;
use clap::{Args, Subcommand};

use super::ListArgs;
use crate::client::encode;
use crate::output::Column;
use crate::workplace::ClientArgs;

const BRICK_COLUMNS: [Column; 5] =
    [("ID", "/brick_id"), ("KEY", "/brick_key"), ("NAME", "/brick_name"), ("STATUS", "/status"), ("UPDATED", "/updated_at")];

const KIT_COLUMNS: [Column; 5] =
    [("ID", "/kit_id"), ("CODE", "/kit_code"), ("NAME", "/name"), ("STATUS", "/status"), ("UPDATED", "/updated_at")];

/// Bricks and kits: reviewed building blocks.
#[derive(Args, Debug)]
pub(crate) struct BrickArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List them, newest first
    List(ListArgs),
    /// Show one in full
    Show {
        /// Its id
        id: String,
    },
}

pub(crate) async fn run_brick(args: BrickArgs) -> Result<()> {
    run(args, "bricks", &BRICK_COLUMNS).await
}

pub(crate) async fn run_kit(args: BrickArgs) -> Result<()> {
    run(args, "kits", &KIT_COLUMNS).await
}

async fn run(args: BrickArgs, member: &str, columns: &[Column]) -> Result<()> {
    let place = args.client.key_workplace().await?;
    match args.verb {
        Verb::List(list) => {
            let answer = place.api.list(&place.query(&format!("/api/{member}")), member, list.limit).await?;
            place.print_list(&answer, member, columns)
        }
        Verb::Show { id } => place.print(&place.api.get(&place.query(&format!("/api/{member}/{}", encode(&id)))).await?),
    }
}
