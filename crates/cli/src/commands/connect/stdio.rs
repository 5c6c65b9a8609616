//! The entry that starts `toolcrib stdio`. A client may pass on no variable of ours, and may start it in another directory: so the
//! entry itself says which server and which project is meant. It may be shared in a repository, so it holds no secret and, where it
//! can, no path of this machine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use super::ConnectArgs;
use super::entry::Entry;
use crate::environment;
use crate::find::ServerArgs;
use crate::workplace::Workplace;

/// The name of this program.
const PROGRAM: &str = "toolcrib";

/// What was said here is said there; the key is not.
pub(super) async fn entry(args: &ConnectArgs) -> Result<Entry> {
    if args.how.ttl.is_some() {
        bail!("--ttl is for --http: `toolcrib stdio` ends its session when the client ends it");
    }
    let mut arguments = vec!["stdio".to_owned()];
    let mut say = |flag: &str, value: Option<&str>| {
        if let Some(value) = value {
            arguments.extend([format!("--{flag}"), value.to_owned()]);
        }
    };
    let server = &args.client.server;
    let (data, config) = (data_to_name(server)?, config_to_name(server)?);
    say("url", server.url.as_deref());
    say("data", data.as_deref());
    say("config", config.as_deref());
    say("org", args.client.org.as_deref());
    say("project", project_name(args).await?.as_deref());
    say("work-type", args.how.work_type.as_deref());
    say("agent-label", args.how.agent_label.as_deref());
    say("agent", args.how.agent_id.as_deref());
    for tool in &args.how.tools {
        say("tool", Some(tool));
    }
    let names = args.how.tool_names.as_ref().and_then(ValueEnum::to_possible_value);
    say("tool-names", names.as_ref().map(clap::builder::PossibleValue::get_name));
    let needs_key = server.key.is_some();
    if needs_key {
        arguments.push("--needs-key".to_owned());
    }
    Ok(Entry::Stdio { program: program()?, arguments, needs_key })
}

/// This program as a client finds it: by its name if that leads to it from the PATH, else by its whole path.
fn program() -> Result<String> {
    let own = std::env::current_exe().context("cannot find this program's own path")?;
    let real = own.canonicalize().unwrap_or_else(|_| own.clone());
    let named = environment::program_folders().into_iter().map(|folder| folder.join(PROGRAM)).find(|path| path.is_file());
    if named.and_then(|path| path.canonicalize().ok()) == Some(real) {
        return Ok(PROGRAM.to_owned());
    }
    text(&own)
}

/// The data folder, where `toolcrib stdio` would look for another one in a client that passes on nothing but `HOME`. A server
/// that is named by its url, with a key, needs none.
fn data_to_name(server: &ServerArgs) -> Result<Option<String>> {
    if server.url.is_some() && server.key.is_some() {
        return Ok(None);
    }
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let data = real(server.data_folder()?);
    if environment::home_data().map(real).as_ref() == Some(&data) {
        return Ok(None);
    }
    text(&data).map(Some)
}

/// The settings file of an embedded server, where the environment names one.
fn config_to_name(server: &ServerArgs) -> Result<Option<String>> {
    match environment::text("TOOLCRIB_CONFIG").filter(|_| server.url.is_none()) {
        Some(path) => text(&std::path::absolute(path)?).map(Some),
        None => Ok(None),
    }
}

fn text(path: &Path) -> Result<String> {
    Ok(path.to_str().with_context(|| format!("the path {} is not in UTF-8", path.display()))?.to_owned())
}

/// The project to name in the entry: the one that was named, or the one whose root holds this directory, because not every
/// client starts its servers here. Otherwise `toolcrib stdio` decides when it starts.
async fn project_name(args: &ConnectArgs) -> Result<Option<String>> {
    let place: Result<Workplace> = args.client.workplace().await;
    match (&args.project.project, place) {
        (Some(named), Ok(place)) => {
            // Only to say now that there is no such project, and not when the client starts.
            place.project(&args.project).await?;
            Ok(Some(named.clone()))
        }
        (None, Ok(place)) => {
            let found = place.project(&args.project).await.ok().filter(|project| project.holds_current_directory);
            Ok(found.map(|project| project.name))
        }
        (named, Err(error)) => {
            eprintln!("warning: the server cannot be asked now ({error}); the entry will work when it runs, or start its own");
            Ok(named.clone())
        }
    }
}
