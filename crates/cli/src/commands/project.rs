//! `toolcrib project`: manages projects.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, OnOff, request_body};
use crate::output::{Column, tell};
use crate::workplace::{ClientArgs, ProjectArg, Workplace, is_forbidden};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("NAME", "/name"), ("MEMORY", "/memory_enabled"), ("GRAPH", "/graph_enabled"), ("ROOT", "/root")];

/// What a key without `org:read` sees.
const NARROW_COLUMNS: [Column; 3] = [("ID", "/id"), ("NAME", "/name"), ("ROOT", "/root")];

/// Manages projects. A project has a name, switches, and optionally a code directory on the server's machine.
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
        /// Project, by id or name [default: the one whose root contains the current directory, else `default`]
        project: Option<String>,
    },
    /// Create a project
    #[command(after_help = "Example:\n  toolcrib project add web --root . --graph on")]
    Add {
        /// Name, unique in the org
        name: String,
        /// Code directory on the server's machine
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// Turn memory on or off [default: on]
        #[arg(long, value_name = "on|off")]
        memory: Option<OnOff>,
        /// Turn the knowledge graph on or off [default: off]
        #[arg(long, value_name = "on|off")]
        graph: Option<OnOff>,
    },
    /// Change a project, effective on the next request of its sessions
    Set {
        /// Project, by id or name [default: the one whose root contains the current directory, else `default`]
        project: Option<String>,
        /// New name
        #[arg(long)]
        name: Option<String>,
        /// New code directory
        #[arg(long, value_name = "DIR", conflicts_with = "no_root")]
        root: Option<PathBuf>,
        /// Remove the code directory
        #[arg(long)]
        no_root: bool,
        /// Turn memory on or off
        #[arg(long, value_name = "on|off")]
        memory: Option<OnOff>,
        /// Turn the knowledge graph on or off
        #[arg(long, value_name = "on|off")]
        graph: Option<OnOff>,
    },
}

pub(crate) async fn run(args: ProjectArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(list) => {
            match place.api.list(&place.path("/projects"), "projects", list.limit).await {
                // A key without the scope to list projects still gets the ids, names and roots of the projects that it covers.
                Err(error) if is_forbidden(&error) => {
                    let answer = place.api.list(&place.query("/api/whoami"), "projects", list.limit).await?;
                    place.print_list(&answer, "projects", &NARROW_COLUMNS)?;
                    tell("note: memory and graph settings are not shown, because the key lacks the scope `org:read`");
                    Ok(())
                }
                answer => place.print_list(&answer?, "projects", &COLUMNS),
            }
        }
        Verb::Show { project } => {
            let path = path(&place, project).await?;
            place.print(&place.api.get(&path).await?)
        }
        Verb::Add { name, root, memory, graph } => {
            let body = request_body([
                ("name", Some(json!(name))),
                ("root", root.as_deref().map(absolute).transpose()?),
                ("memory_enabled", memory.map(|memory| json!(memory.is_on()))),
                ("graph_enabled", graph.map(|graph| json!(graph.is_on()))),
            ]);
            place.print(&place.api.post(&place.path("/projects"), &body).await?)
        }
        Verb::Set { project, name, root, no_root, memory, graph } => {
            let root = root.as_deref().map(absolute).transpose()?;
            let body = request_body([
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

/// Makes a path absolute. It may not exist here, because the server may run on another machine.
fn absolute(path: &Path) -> Result<Value> {
    let whole = path.canonicalize().or_else(|_| std::path::absolute(path));
    let whole = whole.with_context(|| format!("`{}` is not a path", path.display()))?;
    Ok(json!(whole.to_str().with_context(|| format!("the path {} is not valid UTF-8", whole.display()))?))
}
