//! `toolcrib org`: manages orgs (tenants).

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{ListArgs, OnOff, request_body};
use crate::client::encode;
use crate::output::Column;
use crate::workplace::{ClientArgs, Workplace};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("SLUG", "/slug"), ("NAME", "/name"), ("GRAPH", "/plan/kg_enabled"), ("CREATED", "/createdAt")];

/// Manages orgs. An org is a tenant with its own projects, keys, sessions, agents and people.
#[derive(Args, Debug)]
pub(crate) struct OrgArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List orgs: all of them with the instance admin's key, else the key's own
    List(ListArgs),
    /// Show an org
    Show {
        /// Org, by id or slug [default: --org]
        #[arg(value_name = "ORG")]
        which: Option<String>,
    },
    /// Create an org; its first key is shown only once (instance admin)
    #[command(after_help = "Example:\n  toolcrib org add \"Acme Inc\" --graph on")]
    Add {
        /// Name of the org
        name: String,
        /// Turn the knowledge graph on or off in the org's plan, for every project
        #[arg(long, value_name = "on|off")]
        graph: Option<OnOff>,
    },
    /// Change an org (instance admin)
    Set {
        /// Org, by id or slug [default: --org]
        #[arg(value_name = "ORG")]
        which: Option<String>,
        /// New name; the slug does not change
        #[arg(long)]
        name: Option<String>,
        /// Turn the knowledge graph on or off in the org's plan, for every project
        #[arg(long, value_name = "on|off")]
        graph: Option<OnOff>,
    },
}

pub(crate) async fn run(args: OrgArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let path = |place: &Workplace, org: Option<&str>| format!("/api/org/{}", encode(org.unwrap_or(&place.org)));
    match args.verb {
        Verb::List(list) => {
            let answer = place.api.list("/api/orgs", "orgs", list.limit).await?;
            place.print_list(&answer, "orgs", &COLUMNS)
        }
        Verb::Show { which } => place.print(&place.api.get(&path(&place, which.as_deref())).await?),
        Verb::Add { name, graph } => {
            let plan = graph.map(|graph| json!({ "kg_enabled": graph.is_on() }));
            let answer = place.api.post("/api/orgs", &request_body([("name", Some(json!(name))), ("plan", plan)])).await?;
            place.print_once(&answer, "key")
        }
        Verb::Set { which, name, graph } => {
            let plan = graph.map(|graph| json!({ "kg_enabled": graph.is_on() }));
            let body = request_body([("name", name.map(|name| json!(name))), ("plan", plan)]);
            place.print(&place.api.patch(&path(&place, which.as_deref()), &body).await?)
        }
    }
}
