//! What the server says: that it lives, that it is ready, that it is of our release, that the key and the project are good.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;

use super::Check;
use crate::client::{Api, http_client, unreachable_server};
use crate::find::Found;
use crate::output;
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

/// How long each question may take.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn checks(args: &ClientArgs, project: &ProjectArg, again: &str) -> Vec<Check> {
    const NAME: &str = "server";
    let is_here = args.server.url.is_none();
    let found = match args.server.find() {
        Ok(found) => found,
        Err(error) if is_here => {
            let hint = format!("start it with {}; `toolcrib stdio` works without one, the rest needs it", args.server.serve());
            return vec![Check::fail(NAME, one_line(&error), hint)];
        }
        Err(error) => return vec![Check::fail(NAME, one_line(&error), "correct --url, and pass --key or set TOOLCRIB_KEY")],
    };
    let mut checks = Vec::new();
    match ask(&found, "/healthz").await {
        Ok(_) => checks.push(Check::ok(NAME, format!("answers at {}", found.url))),
        Err(error) if is_here => {
            let hint = format!("stop it, and start it again with {}", args.server.serve());
            return vec![Check::fail(NAME, one_line(&error), hint)];
        }
        Err(error) => return vec![Check::fail(NAME, one_line(&error), "start it, or correct --url")],
    }
    checks.push(match ask(&found, "/readyz").await {
        Ok(_) => Check::ok("ready", "the server can do its work"),
        Err(error) => Check::fail("ready", one_line(&error), "the server's log says what it misses"),
    });
    checks.push(version(&found).await);
    match key(args, found, again).await {
        Ok(place) => {
            checks.push(Check::ok("key", format!("good in the org `{}`", place.org)));
            checks.push(project_root(&place, project, again).await);
        }
        Err(check) => checks.push(check),
    }
    checks
}

async fn ask(found: &Found, path: &str) -> anyhow::Result<Value> {
    let http = http_client(&found.url)?;
    let asked = http.get(format!("{}{path}", found.url)).timeout(TIMEOUT).send().await;
    let response = asked.map_err(|error| unreachable_server(&found.url, &error))?;
    let status = response.status();
    let text = response.text().await?;
    if !status.is_success() {
        anyhow::bail!("{path} answers {}: {}", status.as_u16(), text.trim());
    }
    Ok(serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

async fn version(found: &Found) -> Check {
    const NAME: &str = "version";
    let ours = env!("CARGO_PKG_VERSION");
    match ask(found, "/api/openapi.json").await {
        Err(error) => Check::warn(NAME, one_line(&error), "is this a Toolcrib server?"),
        Ok(document) => match document.pointer("/info/version").and_then(Value::as_str) {
            Some(theirs) if theirs == ours => Check::ok(NAME, format!("{ours}, here and there")),
            Some(theirs) => Check::warn(
                NAME,
                format!("this program is {ours}, the server {theirs}"),
                "use the same release for both, restart the server",
            ),
            None => Check::warn(NAME, "the server does not say its version", "is this a Toolcrib server?"),
        },
    }
}

async fn key(args: &ClientArgs, found: Found, again: &str) -> Result<Workplace, Check> {
    let refused = |error: anyhow::Error| {
        let org = match &args.org {
            Some(_) => {
                format!("check --org (`toolcrib org list{}` shows them), ", again.split(" --org").next().unwrap_or_default())
            }
            None => "check ".to_owned(),
        };
        Check::fail("key", one_line(&error), format!("{org}--key and TOOLCRIB_KEY; on the server's machine, leave both out"))
    };
    let place = Workplace::at(Api::new(found).map_err(refused)?, args.org.as_deref(), args.json).await.map_err(refused)?;
    place.projects().await.map_err(refused)?;
    Ok(place)
}

async fn project_root(place: &Workplace, argument: &ProjectArg, again: &str) -> Check {
    const NAME: &str = "project";
    let found = async {
        let meant = place.project(argument).await?;
        let covered = place.projects().await?.into_iter().find(|row| row.get("id").is_some_and(|id| *id == meant.id));
        covered.with_context(|| format!("the key covers no project `{}`", meant.id))
    };
    let project = match found.await {
        Ok(project) => project,
        Err(error) => {
            let hint = format!("pass --project with another one: `toolcrib project list{again}` shows them");
            return Check::fail(NAME, one_line(&error), hint);
        }
    };
    let text = |member: &str| project.get(member).and_then(Value::as_str);
    let name = text("name").unwrap_or("?");
    match text("root") {
        None => Check::ok(NAME, format!("`{name}`, without a root: its files are kept in the store")),
        Some(root) if Path::new(root).is_dir() => Check::ok(NAME, format!("`{name}`, root {root}")),
        Some(root) if place.api.found().is_admin => Check::fail(
            NAME,
            format!("`{name}` has its root at {root}, which is no directory"),
            format!("make it, or `toolcrib project set {} --root DIR{again}`", output::quoted(name)),
        ),
        Some(root) => Check::ok(NAME, format!("`{name}`, root {root} on the server's machine")),
    }
}

/// An error in one line: its hints are told otherwise here.
fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_owned()
}
