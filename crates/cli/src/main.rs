//! The `toolcrib` binary: it starts the server, and it is the server's command-line client.
//!
//! `commands` has one module per command. The commands share `config` (settings from flags, environment and file), `find` (finds
//! the server), `workplace` (finds the org and project), `client` (the management API), `door` (the session door) and `output`
//! (tables and JSON). Client commands use only the public API, so any other client can do the same. The exceptions are `serve`,
//! `backup` and `restore`, which work on the data itself.

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
mod refusal;
mod workplace;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;
use tokio::runtime::{Builder, Runtime};

use args::{Cli, Command};
use commands::{
    agent, audit, backup, bench, brick, code, completions, connect, costs, decision, doctor, eval, graph, index, key, login, memory,
    org, policy, project, run, serve, session, stdio, tools, user, webhook,
};
use config::Settings;

/// A call makes about a hundred small allocations. This allocator halves their cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The default log filter of client commands.
const CLIENT_FILTER: &str = "warn";
/// The default log filter of `toolcrib serve`.
const SERVER_FILTER: &str = "info";

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os()) {
        Ok(parsed) => parsed.command,
        Err(error) => return print_usage(&error),
    };
    start(command).unwrap_or_else(|error| report(&error))
}

/// Prints an error. Returns the exit code.
fn report(error: &anyhow::Error) -> ExitCode {
    if output::is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    match error.downcast_ref::<output::ExitWith>() {
        Some(code) => {
            output::tell(&format!("error: {error}"));
            ExitCode::from(code.0)
        }
        None => {
            output::tell(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints a usage error, or the help text that was asked for.
fn print_usage(error: &clap::Error) -> ExitCode {
    let is_value = matches!(error.kind(), clap::error::ErrorKind::InvalidValue | clap::error::ErrorKind::ValueValidation);
    match environment::empty_path().filter(|_| is_value) {
        Some(name) => {
            output::tell(&format!("error: {name} is set but empty; set it to a path or unset it"));
            ExitCode::from(2)
        }
        None => match error.print().and_then(|()| std::io::stdout().flush()) {
            Err(failed) if !error.use_stderr() => report(&anyhow::Error::new(failed).context(output::Unwritable)),
            // Nothing can be reported when stderr is closed.
            _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
        },
    }
}

/// Runs a command on a suitable runtime.
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
            // `toolcrib stdio` may run an embedded server.
            logging::log_panics();
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
        Command::Code(args) => code::run(*args).await.map(success),
        Command::Index(args) => index::run(args).await.map(success),
        Command::Decision(args) => decision::run(*args).await.map(success),
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
    let settings = Settings::from_environment()?;
    logging::start(settings.log.as_deref().unwrap_or(CLIENT_FILTER), settings.log_format.unwrap_or_default())
}

fn threads(workers: usize) -> Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(base::limits::BLOCKING_THREADS_MAX)
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// Runs `work` to completion. Does not wait for a thread that is still blocked on stdin.
fn on<T>(runtime: Runtime, work: impl Future<Output = Result<T>> + 'static) -> Result<T> {
    // Boxed, because the compiler would write everything that is called from here once for each kind of runtime.
    let work: std::pin::Pin<Box<dyn Future<Output = Result<T>>>> = Box::pin(work);
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}
