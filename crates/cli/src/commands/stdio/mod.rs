//! `toolcrib stdio`: MCP over stdin and stdout. It forwards each line to the session door over HTTP, so that both doors behave the
//! same. Only protocol messages are written to stdout.

mod bridge;
mod events;
mod exchange;
mod headers;
mod id_scan;
mod lines;
mod message;
mod parameters;
mod session;
mod upstream;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use base::limits::Limits;
use clap::Args;
use tokio::io::BufReader;

use crate::client::http_client;
use crate::commands::serve::Signals;
use crate::find::ServerArgs;
use crate::opening::SessionArgs;
use crate::workplace::ProjectArg;
use bridge::Bridge;
use session::Session;
use upstream::Upstream;

/// Size of the read buffer for stdin.
const READ_BYTES: usize = 64 * 1024;

/// Serves MCP over stdio.
#[derive(Args, Debug)]
pub(crate) struct StdioArgs {
    #[command(flatten)]
    server: ServerArgs,

    /// Org, by id or slug [default: the key's org; `default` with the instance admin's key]
    #[arg(long, env = "TOOLCRIB_ORG", value_name = "ORG", help_heading = "Server")]
    org: Option<String>,

    /// Settings file of the embedded server [default: toolcrib.toml in the data folder]
    #[arg(long, env = "TOOLCRIB_CONFIG", value_name = "FILE", help_heading = "Server")]
    config: Option<PathBuf>,

    /// Refuse to start without --key or TOOLCRIB_KEY, instead of using the instance admin's key
    #[arg(long, help_heading = "Server")]
    needs_key: bool,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    how: SessionArgs,
}

pub(crate) async fn run(args: StdioArgs) -> Result<()> {
    if args.needs_key && args.server.key.as_deref().is_none_or(str::is_empty) {
        bail!("no key; set TOOLCRIB_KEY in the environment of the MCP client");
    }
    let mut signals = Signals::listen()?.with_hangup()?;
    let opening = Upstream::open(args.server.clone(), args.config.clone());
    let upstream = tokio::select! {
        opened = opening => Arc::new(opened?),
        () = signals.wait() => return Ok(()),
    };
    let outcome = serve(&args, &upstream, &mut signals).await;
    upstream.close().await;
    outcome
}

async fn serve(args: &StdioArgs, upstream: &Arc<Upstream>, signals: &mut Signals) -> Result<()> {
    let session = Session::open(Arc::clone(upstream), args.org.clone(), &args.project, args.how.clone().for_a_client()).await?;

    // This only bounds memory. The server enforces the actual limit.
    let limits =
        upstream::settings(&args.server, args.config.as_ref()).map_or(Limits::default(), |settings| settings.server().limits);
    let http = http_client(&upstream.current().1.url)?;
    let bridge = Bridge::new(http, Arc::clone(upstream), Arc::clone(&session), Box::new(tokio::io::stdout()));
    let input = BufReader::with_capacity(READ_BYTES, tokio::io::stdin());
    let outcome = tokio::select! {
        outcome = bridge.run(input, limits.body_bytes_max) => outcome,
        () = signals.wait() => Ok(()),
    };
    session.end().await;
    outcome
}
