//! `toolcrib`, the one binary: it starts the server, and is a client of it.
//!
//! Commands live in `commands`, one file each. What they share: `config` (settings from flags, environment and file), `find`
//! (which server), `workplace` (which org and project), `client` (the API), `door` (the session door), `output` (tables and
//! JSON). Nothing here reaches past the API: what the command line can do, any client can. The exceptions are `serve`, and `backup`
//! and `restore`, which work on the data itself.

mod args;
mod client;
mod commands;
mod config;
mod door;
mod duration;
mod environment;
mod files;
mod find;
mod help;
mod logging;
mod opening;
mod output;
mod person;
mod prompt;
mod refusal;
mod workplace;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};
use tokio::runtime::{Builder, Runtime};

use args::{Cli, Command};
use commands::{
    agent, audit, backup, bench, brick, completions, connect, costs, doctor, eval, graph, key, login, memory, org, policy,
    project, run, serve, session, stdio, tools, user, webhook,
};
use config::Settings;

/// A call makes some hundred small allocations; this allocator halves what they cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What is logged by a command that is over in a moment.
const CLIENT_FILTER: &str = "warn";
/// Threads for work that blocks. Each kind of such work has a smaller limit of its own; this one holds for all of them together.
const BLOCKING_THREADS_MAX: usize = 96;
/// What is logged by a server.
const SERVER_FILTER: &str = "info";

fn main() -> ExitCode {
    match start(Cli::parse().command) {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs a command on the runtime that suits it.
fn start(command: Command) -> Result<ExitCode> {
    match command {
        Command::Watch => run::watch().map(|()| ExitCode::SUCCESS),
        Command::Completions(args) => completions::run(&args, &Cli::command()).map(|()| ExitCode::SUCCESS),
        Command::Serve(args) => {
            let settings = args.resolve()?;
            let (filter, format) = settings.logging(SERVER_FILTER);
            let _logging = logging::start(filter, format)?;
            logging::log_panics();
            let workers = settings.workers();
            on(threads(workers)?, serve::run(settings)).map(|()| ExitCode::SUCCESS)
        }
        Command::Eval(args) => {
            let _logging = start_client_log()?;
            on(threads(2)?, eval::run(args)).map(|()| ExitCode::SUCCESS)
        }
        Command::Bench(args) => {
            let _logging = start_client_log()?;
            let good = on(threads(2)?, bench::run(args))?;
            Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Command::Backup(args) => {
            let _logging = start_client_log()?;
            let good = on(threads(2)?, backup::run(*args))?;
            Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Command::Restore(args) => {
            let _logging = start_client_log()?;
            on(threads(2)?, backup::run_restore(*args)).map(|()| ExitCode::SUCCESS)
        }
        Command::Stdio(args) => {
            let _logging = start_client_log()?;
            // It may have a server inside.
            on(threads(2)?, stdio::run(*args)).map(|()| ExitCode::SUCCESS)
        }
        other => {
            let _logging = start_client_log()?;
            let runtime = Builder::new_current_thread().enable_all().build().context("cannot start the runtime")?;
            on(runtime, client(other))
        }
    }
}

async fn client(command: Command) -> Result<ExitCode> {
    let success = |()| ExitCode::SUCCESS;
    let verdict = |good: bool| if good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    match command {
        Command::Connect(args) => connect::run(*args).await.map(success),
        Command::Run(args) => run::run(*args).await.map(ExitCode::from),
        Command::Tools(args) => tools::run_tools(*args).await.map(success),
        Command::Call(args) => tools::run_call(*args).await.map(verdict),
        Command::Login(args) => login::log_in(args).await.map(success),
        Command::Logout(args) => login::log_out(args).await.map(success),
        Command::Doctor(args) => doctor::run(args).await.map(verdict),
        Command::Org(args) => org::run(args).await.map(success),
        Command::Project(args) => project::run(args).await.map(success),
        Command::Key(args) => key::run(args).await.map(success),
        Command::Session(args) => session::run(*args).await.map(success),
        Command::Agent(args) => agent::run(args).await.map(success),
        Command::User(args) => user::run(args).await.map(success),
        Command::Brick(args) => brick::run_brick(args).await.map(success),
        Command::Kit(args) => brick::run_kit(args).await.map(success),
        Command::Memory(args) => memory::run(*args).await.map(success),
        Command::Graph(args) => graph::run(*args).await.map(success),
        Command::Webhook(args) => webhook::run(args).await.map(success),
        Command::Costs(args) => costs::run(args).await.map(success),
        Command::Audit(args) => audit::run(args).await,
        Command::Policy(args) => policy::run(args).await.map(verdict),
        Command::Backup(_)
        | Command::Restore(_)
        | Command::Bench(_)
        | Command::Eval(_)
        | Command::Serve(_)
        | Command::Stdio(_)
        | Command::Completions(_)
        | Command::Watch => Ok(ExitCode::SUCCESS),
    }
}

fn start_client_log() -> Result<logging::Logging> {
    let said = Settings::from_environment()?;
    logging::start(said.log.as_deref().unwrap_or(CLIENT_FILTER), said.log_format.unwrap_or_default())
}

fn threads(workers: usize) -> Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// Runs `work` to its end. A thread that still waits for stdin is not waited for.
fn on<T>(runtime: Runtime, work: impl Future<Output = Result<T>>) -> Result<T> {
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}
