//! The entry that starts `toolcrib stdio`. A client may pass on no environment variables and may use another working directory, so
//! the entry names the server and the project. It may be committed to a repository, so it holds no secret and, if possible, no
//! local path.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use super::ConnectArgs;
use super::entry::Entry;
use crate::environment;
use crate::find::ServerArgs;
use crate::output;
use crate::workplace::Workplace;

/// The name of this program.
const PROGRAM: &str = "toolcrib";

/// Builds the entry from the flags of this command, without the key.
pub(super) async fn entry(args: &ConnectArgs) -> Result<Entry> {
    if args.how.ttl.is_some() {
        bail!("--ttl needs --http; `toolcrib stdio` ends its session when the client exits");
    }
    let mut arguments = vec!["stdio".to_owned()];
    let mut add = |flag: &str, value: Option<&str>| {
        if let Some(value) = value {
            // As a separate argument, it would be parsed as a flag.
            match value.starts_with('-') {
                true => arguments.push(format!("--{flag}={value}")),
                false => arguments.extend([format!("--{flag}"), value.to_owned()]),
            }
        }
    };
    let server = &args.client.server;
    let (data, config) = (data_to_name(server)?, config_to_name(server)?);
    add("url", server.url.as_deref());
    add("data", data.as_deref());
    add("config", config.as_deref());
    add("org", args.client.org.as_deref());
    add("project", project_name(args).await?.as_deref());
    add("work-type", args.how.work_type.as_deref());
    add("agent-label", args.how.agent_label.as_deref());
    add("agent", args.how.agent_id.as_deref());
    for tool in &args.how.tools {
        add("tool", Some(tool));
    }
    let names = args.how.tool_names.as_ref().and_then(ValueEnum::to_possible_value);
    add("tool-names", names.as_ref().map(clap::builder::PossibleValue::get_name));
    let needs_key = server.key.is_some();
    if needs_key {
        arguments.push("--needs-key".to_owned());
    }
    Ok(Entry::Stdio { program: program()?, arguments, needs_key })
}

/// The program to start: `toolcrib` if the PATH leads to this binary, else its full path.
fn program() -> Result<String> {
    let own = std::env::current_exe().context("cannot find the path of this binary")?;
    let real = own.canonicalize().unwrap_or_else(|_| own.clone());
    let named = environment::program_folders().into_iter().map(|folder| folder.join(PROGRAM)).find(|path| path.is_file());
    if named.and_then(|path| path.canonicalize().ok()) == Some(real) {
        return Ok(PROGRAM.to_owned());
    }
    text(&own)
}

/// The data folder, unless `toolcrib stdio` finds it with only `HOME` set. A server with a URL and a key needs none.
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

/// The settings file of an embedded server, if the environment names one.
fn config_to_name(server: &ServerArgs) -> Result<Option<String>> {
    match environment::text("TOOLCRIB_CONFIG").filter(|_| server.url.is_none()) {
        Some(path) => text(&std::path::absolute(path)?).map(Some),
        None => Ok(None),
    }
}

fn text(path: &Path) -> Result<String> {
    Ok(path.to_str().with_context(|| format!("the path {} is not valid UTF-8", path.display()))?.to_owned())
}

/// The project for the entry: the selected one, or the one whose root contains this directory, because some clients start servers
/// in another directory. Otherwise `toolcrib stdio` decides when it starts.
async fn project_name(args: &ConnectArgs) -> Result<Option<String>> {
    let place: Result<Workplace> = args.client.workplace().await;
    match (&args.project.project, place) {
        (Some(named), Ok(place)) => {
            // Report a missing project now, instead of when the client starts.
            place.project(&args.project).await?;
            Ok(Some(named.clone()))
        }
        (None, Ok(place)) => {
            let found = place.project(&args.project).await.ok();
            if let Some(project) = &found {
                super::tell_default(project, &args.project);
            }
            Ok(found.filter(|project| project.holds_current_directory).map(|project| project.name))
        }
        (named, Err(error)) => {
            output::tell(&format!(
                "warning: cannot reach the server now ({error}); the entry uses it once it runs, or starts an embedded one"
            ));
            Ok(named.clone())
        }
    }
}
