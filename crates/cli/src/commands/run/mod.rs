//! `toolcrib run`: runs an agent in a new session, and always cleans up, even if the agent or this process is killed.

mod agent;
mod config_file;
mod outcome;
mod watch;

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use crate::opening::SessionArgs;
use crate::output;
use crate::workplace::{ClientArgs, ProjectArg};
use agent::Agent;
use config_file::ConfigFile;
use outcome::OutcomeArgs;
pub(crate) use watch::{COMMAND as WATCH_COMMAND, watch};
use watch::{Duty, Watcher};

/// How long to wait for the server to end the session.
const ENDING: Duration = Duration::from_secs(10);

/// The agent to start, and the options of its session.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// Agent command with its arguments; {mcp-config}, {mcp-url} and {session} are replaced
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    how: SessionArgs,
    #[command(flatten)]
    outcome: OutcomeArgs,
}

/// Runs the agent and returns its exit code.
pub(crate) async fn run(args: RunArgs) -> Result<u8> {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    config_file::sweep(&here);
    let place = args.client.workplace().await?;
    let project = place.project(&args.project).await?;
    // Start the watcher before there is anything to clean up.
    let mut watcher = Watcher::start()?;
    let session = place.open_session(&project.id, &args.how.clone().for_a_client()).await?;
    tracing::info!(session = session.id, project = project.name, "session opened");
    let path = config_file::path(&here, &session.id);
    let duty = Duty::new(place.api.found(), place.org.clone(), session.id.clone(), path.clone(), args.outcome.of_none());

    let ended = async {
        watcher.tell(duty)?;
        let file = ConfigFile::write(path, &session.mcp_config)?;
        let agent = Agent::start(&args.command, &file, &session)?;
        watcher.tell_agent(agent.id(), agent.has_own_group())?;
        agent.wait().await
    }
    .await;

    let outcome = ended.as_ref().map_or_else(|_| args.outcome.of_none(), |ended| args.outcome.of(ended));
    // End the session before dismissing the watcher, so that nothing is left to clean up.
    let session_ended = tokio::time::timeout(ENDING, place.end_session(&session.id, outcome)).await;
    watcher.dismiss().await;
    if let Err(error) = session_ended.unwrap_or_else(|_| Err(anyhow::anyhow!("the server did not end the session in time"))) {
        output::tell(&format!("warning: {error:#}"));
    }
    let code = ended.map(|ended| ended.code);
    if args.client.json {
        output::print_json(&serde_json::json!({ "sessionId": session.id, "exitCode": code.as_ref().ok() }))?;
    }
    code
}
