//! `toolcrib audit`: the audit trail, from outside the server.

mod verify;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

/// The audit trail.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Verify an exported trail, without a server and without the network
    #[command(after_help = verify::HELP)]
    Verify(verify::VerifyArgs),
}

pub(crate) fn run(args: &AuditArgs) -> Result<ExitCode> {
    match &args.verb {
        Verb::Verify(args) => verify::run(args),
    }
}
