//! Checks of the server: liveness, readiness, version, key and project.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;

use super::Check;
use crate::client::{Api, http_client, unreachable_server};
use crate::find::Found;
use crate::output;
use crate::workplace::{ADD_PROJECT, ClientArgs, ProjectArg, Workplace};

/// Timeout of each request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The name of the check that a server runs.
const NAME: &str = "server";

pub(super) async fn checks(args: &ClientArgs, project: &ProjectArg, again: &str) -> Vec<Check> {
    let is_here = args.server.url.is_none();
    let found = match args.server.find() {
        Ok(found) => found,
        Err(error) if is_here => {
            let hint = format!("start the server with {}; only `toolcrib stdio` works without one", args.server.serve());
            return vec![Check::fail(NAME, one_line(&error), hint)];
        }
        Err(error) => return vec![Check::fail(NAME, one_line(&error), "fix --url, and pass --key or set TOOLCRIB_KEY")],
    };
    let mut checks = Vec::new();
    match ask(&found, "/healthz").await {
        Ok(_) => checks.push(embedded(args, &found).unwrap_or_else(|| Check::ok(NAME, format!("answers at {}", found.url)))),
        Err(error) if is_here => {
            let hint = format!("stop the server and start it again with {}", args.server.serve());
            return vec![Check::fail(NAME, one_line(&error), hint)];
        }
        Err(error) => return vec![Check::fail(NAME, one_line(&error), "start the server, or fix --url")],
    }
    checks.push(match ask(&found, "/readyz").await {
        Ok(_) => Check::ok("ready", "the server is ready"),
        Err(error) => Check::fail("ready", one_line(&error), "see the server's log"),
    });
    checks.push(version(&found).await);
    match key(args, found, again).await {
        Ok(place) => {
            checks.push(Check::ok("key", format!("valid for org `{}`", place.org)));
            checks.push(project_root(&place, project, again).await);
        }
        Err(check) => checks.push(check),
    }
    checks
}

/// A warning if the server is embedded in a client, because it stops with that client.
fn embedded(args: &ClientArgs, found: &Found) -> Option<Check> {
    let data = args.server.url.is_none().then(|| args.server.data_folder().ok()).flatten()?;
    let id = server::stdio_process(&data)?;
    let url = &found.url;
    Some(Check::warn(
        NAME,
        format!("answers at {url}, but it is embedded in an MCP client's `toolcrib stdio` (process {id}) and stops with it"),
        format!("to keep a server running, quit that client, run {}, then restart the client", args.server.serve()),
    ))
}

async fn ask(found: &Found, path: &str) -> anyhow::Result<Value> {
    let http = http_client(&found.url)?;
    let asked = http.get(format!("{}{path}", found.url)).timeout(TIMEOUT).send().await;
    let response = asked.map_err(|error| unreachable_server(&found.url, &error))?;
    let status = response.status();
    let text = response.text().await?;
    if !status.is_success() {
        anyhow::bail!("{path} returned {}: {}", status.as_u16(), text.trim());
    }
    Ok(serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

async fn version(found: &Found) -> Check {
    const NAME: &str = "version";
    let ours = env!("CARGO_PKG_VERSION");
    match ask(found, "/api/openapi.json").await {
        Err(error) => Check::warn(NAME, one_line(&error), "check that the URL is a Toolcrib server"),
        Ok(document) => match document.pointer("/info/version").and_then(Value::as_str) {
            Some(theirs) if theirs == ours => Check::ok(NAME, format!("{ours}, same as the server")),
            Some(theirs) => Check::warn(
                NAME,
                format!("this program is {ours}, the server {theirs}"),
                "install the same release on both and restart the server",
            ),
            None => Check::warn(NAME, "the server reports no version", "check that the URL is a Toolcrib server"),
        },
    }
}

async fn key(args: &ClientArgs, found: Found, again: &str) -> Result<Workplace, Check> {
    let refused = |error: anyhow::Error| {
        let org = match &args.org {
            Some(_) => {
                format!("check --org (see `toolcrib org list{}`), ", again.split(" --org").next().unwrap_or_default())
            }
            None => "check ".to_owned(),
        };
        Check::fail("key", one_line(&error), format!("{org}--key and TOOLCRIB_KEY; on the server's machine, omit both"))
    };
    let place = Workplace::at(Api::new(found).map_err(refused)?, args.org.as_deref(), args.json).await.map_err(refused)?;
    place.projects().await.map_err(refused)?;
    Ok(place)
}

async fn project_root(place: &Workplace, argument: &ProjectArg, again: &str) -> Check {
    const NAME: &str = "project";
    let found = async {
        let selected = place.project(argument).await?;
        let covered = place.projects().await?.into_iter().find(|row| row.get("id").is_some_and(|id| *id == selected.id));
        let covered = covered.with_context(|| format!("the key does not cover project `{}`", selected.id))?;
        anyhow::Ok((covered, argument.project.is_none() && !selected.holds_current_directory))
    };
    let (project, is_elsewhere) = match found.await {
        Ok(found) => found,
        Err(error) => {
            let hint = format!("pass another --project; see `toolcrib project list{again}`");
            return Check::fail(NAME, one_line(&error), hint);
        }
    };
    let text = |member: &str| project.get(member).and_then(Value::as_str);
    let name = text("name").unwrap_or("?");
    let check = match text("root") {
        None => Check::ok(NAME, format!("`{name}`, without a root; its files are in the store")),
        Some(root) if Path::new(root).is_dir() => Check::ok(NAME, format!("`{name}`, root {root}")),
        Some(root) if place.api.found().is_admin => Check::fail(
            NAME,
            format!("the root {root} of `{name}` is not a directory"),
            format!("create it, or run `toolcrib project set {} --root DIR{again}`", output::quoted(name)),
        ),
        Some(root) => Check::ok(NAME, format!("`{name}`, root {root} on the server's machine")),
    };
    // This is not an error, but the user may expect another project.
    let hint = is_elsewhere.then(|| format!("no project contains this directory; {ADD_PROJECT}"));
    Check { hint: check.hint.or(hint), name: check.name, status: check.status, detail: check.detail }
}

/// The first line of an error, without its hints. The checks have their own.
fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_owned()
}
