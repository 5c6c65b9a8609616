//! `toolcrib project`: what agents work in.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, OnOff, said};
use crate::output::Column;
use crate::workplace::{ClientArgs, ProjectArg, Workplace, is_forbidden};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("NAME", "/name"), ("MEMORY", "/memory_enabled"), ("GRAPH", "/graph_enabled"), ("ROOT", "/root")];

/// Projects: a name, perhaps a directory of code on the server's machine, and switches.
#[derive(Args, Debug)]
pub(crate) struct ProjectArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the org's projects
    List(ListArgs),
    /// Show a project
    Show {
        /// Project, by id or name [default: the one whose root holds the current directory, else `default`]
        project: Option<String>,
    },
    /// Add a project
    #[command(after_help = "Example:\n  toolcrib project add web --root . --graph on")]
    Add {
        /// Its name, unique in the org
        name: String,
        /// Its directory of code, on the server's machine
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// Whether agents remember and recall [default: on]
        #[arg(long, value_name = "on|off")]
        memory: Option<OnOff>,
        /// Whether agents have the knowledge graph [default: off]
        #[arg(long, value_name = "on|off")]
        graph: Option<OnOff>,
    },
    /// Change a project; its sessions see it on their next request
    Set {
        /// Project, by id or name [default: the one whose root holds the current directory, else `default`]
        project: Option<String>,
        /// A new name
        #[arg(long)]
        name: Option<String>,
        /// A new directory of code
        #[arg(long, value_name = "DIR", conflicts_with = "no_root")]
        root: Option<PathBuf>,
        /// No directory of code any more
        #[arg(long)]
        no_root: bool,
        /// Whether agents remember and recall
        #[arg(long, value_name = "on|off")]
        memory: Option<OnOff>,
        /// Whether agents have the knowledge graph
        #[arg(long, value_name = "on|off")]
        graph: Option<OnOff>,
    },
}

pub(crate) async fn run(args: ProjectArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(list) => {
            let answer = match place.api.list(&place.path("/projects"), "projects", list.limit).await {
                // A key that may not read the org still has projects: with their ids, names and roots.
                Err(error) if is_forbidden(&error) => place.api.list(&place.query("/api/whoami"), "projects", list.limit).await?,
                answer => answer?,
            };
            place.print_list(&answer, "projects", &COLUMNS)
        }
        Verb::Show { project } => {
            let path = path(&place, project).await?;
            place.print(&place.api.get(&path).await?)
        }
        Verb::Add { name, root, memory, graph } => {
            let body = said([
                ("name", Some(json!(name))),
                ("root", root.as_deref().map(absolute).transpose()?),
                ("memory_enabled", memory.map(|memory| json!(memory.is_on()))),
                ("graph_enabled", graph.map(|graph| json!(graph.is_on()))),
            ]);
            place.print(&place.api.post(&place.path("/projects"), &body).await?)
        }
        Verb::Set { project, name, root, no_root, memory, graph } => {
            let root = root.as_deref().map(absolute).transpose()?;
            let body = said([
                ("name", name.map(|name| json!(name))),
                ("root", if no_root { Some(Value::Null) } else { root }),
                ("memory_enabled", memory.map(|memory| json!(memory.is_on()))),
                ("graph_enabled", graph.map(|graph| json!(graph.is_on()))),
            ]);
            let path = path(&place, project).await?;
            place.print(&place.api.patch(&path, &body).await?)
        }
    }
}

async fn path(place: &Workplace, named: Option<String>) -> Result<String> {
    let id = place.project(&ProjectArg { project: named }).await?.id;
    Ok(place.path(&format!("/projects/{}", crate::client::encode(&id))))
}

/// A directory as the server needs it. Whether it is there is for the server to say: it may run on another machine.
fn absolute(path: &Path) -> Result<Value> {
    let whole = path.canonicalize().or_else(|_| std::path::absolute(path));
    let whole = whole.with_context(|| format!("`{}` is no path", path.display()))?;
    Ok(json!(whole.to_str().with_context(|| format!("the path {} is not in UTF-8", whole.display()))?))
}
